#!/usr/bin/env python3
"""`situ pareto --streams`: what a machine serves, from one fast stream to many.

    test_serving.py SITU [NAME...]
"""
import json
import sys

from test_cli import SMALL, main, situ, situ_json
from test_fit import CELL, machine, needs
from test_language_models import language_model

ROOM = 10**12


def served(*call, streams=8, code=0):
    return json.loads(situ("pareto", *call, "--streams", str(streams), "--json", code=code))


def placed(path, on, streams):
    return situ_json("place", path, *on, "--batch", str(streams))


def test_equal_devices_hold_copies():
    """Three GPUs: three copies, each as fast as one alone, whose speed is that of `situ place`."""
    path = language_model()
    found = served(path, *machine(ROOM, 3), "--tensor-parallel", "1")
    assert [row["streams"] for row in found["rows"]] == [3, 6, 12, 24] and all(row["copies"] == 3 for row in found["rows"])
    for row in found["rows"]:
        one = placed(path, machine(ROOM), row["streams"] // 3)
        assert abs(row["tokens_per_second"] / (3 * one["tokens_per_second"]) - 1) < 1e-9, row
        assert abs(row["stream_tokens_per_second"] * row["streams"] / row["tokens_per_second"] - 1) < 1e-9, row
        assert len(row["plans"]) == 3 and {plan["streams"] for plan in row["plans"]} == {row["streams"] // 3}
    devices = {plan["layers"].split()[0] for plan in found["rows"][0]["plans"]}
    assert devices == {"gpu0", "gpu1", "gpu2"}, devices
    assert found["max_stream_tokens_per_second"] >= found["rows"][0]["stream_tokens_per_second"] * (1 - 1e-9)


def test_more_streams_than_memory_holds_are_not_served():
    """One GPU, and room for five caches of 4096 tokens: four is the maximum of 1, 2, 4, 8 streams."""
    path = language_model()
    cache = 4096 * CELL
    one = needs(path, "--batch", "1", "--context", "4096")
    found = served(path, *machine(one + 5 * cache), "--context", "4096")
    assert [row["streams"] for row in found["rows"]] == [1, 2, 4], found["rows"]
    situ("place", path, *machine(one + 5 * cache), "--context", "4096", "--batch", "4")
    situ("place", path, *machine(one + 5 * cache), "--context", "4096", "--batch", "8", code=4)


def test_a_slower_device_gets_fewer_streams_or_a_row_of_its_own():
    path = language_model()
    found = served(path, "--platform", "rtx4090-24g+gtx1080ti-11g", "--steps", "60", streams=64)
    fast = placed(path, ["--platform", "rtx4090-24g", "--steps", "60"], 1)["tokens_per_second"]
    first = found["rows"][0]
    assert found["best_single_device"] == "gpu0" and abs(found["best_single_tokens_per_second"] / fast - 1) < 1e-9, found
    assert first["copies"] == 1 and abs(first["stream_tokens_per_second"] / fast - 1) < 1e-9, first
    both = [row for row in found["rows"] if row["copies"] == 2]
    assert both and any(len({plan["streams"] for plan in row["plans"]}) == 2 for row in both), both
    for row in both:
        each = [plan["tokens_per_second"] / plan["streams"] for plan in row["plans"]]
        assert abs(row["stream_tokens_per_second"] / min(each) - 1) < 1e-9, row
        assert abs(row["tokens_per_second"] / sum(plan["tokens_per_second"] for plan in row["plans"]) - 1) < 1e-9, row


def test_the_front_is_what_no_other_row_beats():
    rows = served(language_model(), *machine(ROOM, 2))["rows"]
    rates = [(row["stream_tokens_per_second"], row["tokens_per_second"]) for row in rows]
    assert rates == sorted(rates, key=lambda rate: -rate[0]) and {row["group"] for row in rows} == {1, 2}
    for row, rate in zip(rows, rates):
        beaten = any(other != rate and other[0] >= rate[0] and other[1] >= rate[1] for other in rates)
        assert row["on_front"] != beaten, (row, rates)
    table = situ("pareto", "m.gguf", *machine(ROOM, 2), "--streams", "8")
    shown = sum(row["on_front"] for row in rows)
    assert f"{len(rows) - shown} dominated configurations are not shown" in table, table


def test_a_group_is_no_single_device():
    """No GPU holds the model alone, both do."""
    path = language_model()
    found = served(path, *machine(needs(path, "--batch", "1") * 3 // 4, 2), streams=1)
    assert {row["group"] for row in found["rows"]} == {1, 2} and found["best_single_device"] is None, found


def test_only_language_models_serve_streams():
    situ("pareto", SMALL, "--streams", "4", code=2, err="is no language model with caches")
    situ("pareto", language_model(), "--streams", "0", code=2, err="--streams")
    situ("pareto", language_model(), *machine(ROOM), "--streams", "4", "--svg", "f.svg", code=2, err="leave out --streams")
    situ("pareto", language_model(), "--streams", "4", "--objective", "throughput", code=2, err="leave out the objective")
    situ("pareto", language_model(), *machine(10**6), "--streams", "4", code=4, out="no plan")


if __name__ == "__main__":
    sys.exit(main(globals()))
