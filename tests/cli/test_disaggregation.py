#!/usr/bin/env python3
"""`situ pareto --disaggregate`: prompts on some devices, decoding on others.

    test_disaggregation.py SITU [NAME...]
"""
import itertools
import json
import pathlib
import sys

from test_cli import SMALL, main, situ, situ_json
from test_fit import CELL
from test_language_models import language_model

PROMPT, GENERATE, LINK, LATENCY = 1024, 64, 5e9, 30_000
REQUEST = ["--prompt", str(PROMPT), "--generate", str(GENERATE)]


def machine(*devices):
    """Devices (name, class, count, memory or other members) without a host, with a link from each to each."""
    rows = [{"name": name, "base": base, "count": count, **({"memory_bytes": more} if isinstance(more, int) and more else more or {})}
            for name, base, count, more in devices]
    names = [row["name"] for row in rows]
    links = [{"from": a, "to": b, "gb_per_s": LINK / 1e9, "latency_us": LATENCY / 1e3} for a, b in itertools.combinations_with_replacement(names, 2)
             if a != b or dict(zip(names, (row["count"] for row in rows)))[a] > 1]
    pathlib.Path("m.json").write_text(json.dumps({"situ_platform": 1, "name": "m", "devices": rows, "links": links}))
    return ["--platform", "m.json", "--steps", "60"]


def apart(*call, streams=4, code=0, request=REQUEST):
    return json.loads(situ("pareto", *call, *request, "--streams", str(streams), "--disaggregate", "--json", code=code))


def names_of(devices):
    return {f"{name}{i}" if count > 1 else name for name, _, count, _ in devices for i in range(count)}


def test_sides_have_the_groups_that_are_asked_for():
    """Of four equal devices only two and two can be groups of two. What auto proves is of plans of every size that it tries."""
    path, on = language_model(), machine(("gpu", "rtx3090", 4, 0))
    found = apart(path, *on, "--tensor-parallel", "2", streams=1)
    assert {(row["prefill_devices"], row["decode_devices"]) for row in found["rows"]} == {("gpu0, gpu1", "gpu2, gpu3")}, found["rows"]
    most = apart(path, *on, streams=1)["max_requests_per_second"]
    for size in ("1", "2"):
        assert all(row["requests_per_second"] <= most * (1 + 1e-9) for row in apart(path, *on, "--tensor-parallel", size, streams=1)["rows"])
    situ("pareto", path, *on, *REQUEST, "--streams", "1", "--disaggregate", "--tensor-parallel", "3,1", code=2, err="tensor-parallel states shares")


def test_every_way_is_that_of_its_two_plans():
    """By hand from `situ place`: on each side alone the prompt, and a step behind a full request; the caches cross one link, or as many
    links as the prompt's or the decoding devices are. Equal devices are one, so 2 and 1 of two kinds have 3 x 2 - 2 ways."""
    path, devices = language_model(), [("fast", "rtx4090-24g", 2, 0), ("slow", "gtx1080ti-11g", 1, 0)]
    on, everything = machine(*devices), names_of(devices)
    found = apart(path, *on, "--tensor-parallel", "1")
    ways = {(row["prefill_devices"], row["decode_devices"]) for row in found["rows"]}
    assert len(ways) == 3 * 2 - 2, ways
    for row in found["rows"]:
        first, then = (set(row[side].split(", ")) for side in ("prefill_devices", "decode_devices"))
        assert not first & then and first | then == everything, row
        sides = [[x for name in sorted(everything - side) for x in ("--unused", name)] for side in (first, then)]
        prompt = situ_json("place", path, *on, *sides[0], "--prompt", str(PROMPT), "--tensor-parallel", "1")
        step = situ_json("place", path, *on, *sides[1], "--context", str(PROMPT + GENERATE), "--batch", str(row["streams"]), "--tensor-parallel", "1")
        assert row["prefill_ns"] == row["prefill_plan"]["value_ns"] == prompt["value_ns"], (row, prompt)
        assert row["decode_plan"]["value_ns"] == step["value_ns"], (row, step)
        each = 1e9 / step["value_ns"]
        assert abs(row["stream_tokens_per_second"] / each - 1) < 1e-9, row
        assert row["transfer_bytes"] == PROMPT * CELL, row
        assert LATENCY + PROMPT * CELL / (2 * LINK) * 1e9 - 2 <= row["transfer_ns"] <= LATENCY + PROMPT * CELL / LINK * 1e9 + 2, row
        assert abs(row["request_ns"] - (row["prefill_ns"] + row["transfer_ns"] + GENERATE * step["value_ns"])) < 10, row
        rate = min(1e9 / row["prefill_ns"], 1e9 / row["transfer_ns"], row["streams"] * each / GENERATE)
        assert abs(row["requests_per_second"] / rate - 1) < 1e-9, (row, rate)
        assert row["requests_per_second"] <= row["max_requests_per_second"] * (1 + 1e-9), row
    best = max(found["rows"], key=lambda row: row["requests_per_second"])
    assert best["on_front"] and found["rows"][0]["request_ns"] == min(row["request_ns"] for row in found["rows"])
    assert found["max_requests_per_second"] == max(row["max_requests_per_second"] for row in found["rows"])


def test_what_dominates_is_on_the_front():
    found = apart(language_model(), *machine(("fast", "rtx4090-24g", 2, 0), ("slow", "gtx1080ti-11g", 1, 0)))
    keys = [(row["request_ns"], -row["requests_per_second"]) for row in found["rows"]]
    for row, key in zip(found["rows"], keys):
        dominated = any(other != key and other[0] <= key[0] and other[1] <= key[1] for other in keys)
        assert row["on_front"] != dominated or keys.count(key) > 1, (row, keys)


def test_unlike_devices_win_and_equal_ones_do_not():
    """One device takes a of a prompt and b of its answer: two equal ones that do both finish 2 / (a + b) requests, and apart at most
    min(1 / a, 1 / b), which is less. Beside one that is ten times slower at prompts, and answers as fast as the other takes a prompt
    (a = b = 1), both together finish at most 1 / 2 + 1 / 11, and apart 1."""
    path = language_model()
    equal = apart(path, *machine(("gpu", "rtx4090-24g", 2, 0)), "--tensor-parallel", "1", streams=1)
    assert 0 < max(row["requests_per_second"] for row in equal["rows"]) <= equal["together_requests_per_second"] * (1 + 1e-9), equal
    on = machine(("fast", "rtx4090-24g", 1, 0), ("slow", "rtx4090-24g", 1, {"peak_flops": {"f32": 8e12, "f16": 16e12, "i8": 66e12}}))
    long = 32768
    prompt = situ_json("place", path, *on, "--unused", "slow", "--prompt", str(long))["value_ns"]
    step = situ_json("place", path, *on, "--unused", "fast", "--context", str(long))["value_ns"]
    request = ["--prompt", str(long), "--generate", str(round(prompt / step))]
    unlike = apart(path, *on, streams=1, request=request)
    rows = {row["prefill_devices"]: row["requests_per_second"] for row in unlike["rows"]}
    assert rows["fast"] > 1.3 * unlike["together_requests_per_second"] > 2 * rows["slow"], (rows, unlike["together_requests_per_second"])


def test_what_does_not_fit_twice_has_no_rows():
    """The model needs some 60 MB: two GPUs of 55 MB hold it once, not twice."""
    path = language_model()
    situ("place", path, *machine(("gpu", "rtx4090-24g", 2, 55_000_000)), *REQUEST)
    found = apart(path, *machine(("gpu", "rtx4090-24g", 2, 55_000_000)), code=5)
    assert found["rows"] == [] and found["together_request_ns"] > 0, found


def test_wrong_questions_are_refused():
    path, on = language_model(), machine(("gpu", "rtx4090-24g", 2, 0))
    situ("pareto", path, *on, "--disaggregate", "--prompt", "512", code=2, err="a request needs a prompt and tokens to generate")
    situ("pareto", SMALL, *on, "--disaggregate", *REQUEST, code=2, err="")
    situ("pareto", path, *on, "--disaggregate", *REQUEST, "--svg", "x.svg", code=2, err="leave out --disaggregate")
    many = machine(*((f"g{i}", base, 3, 0) for i, base in enumerate(("rtx4090-24g", "rtx3090-24g", "gtx1080ti-11g", "rtx5090-32g"))))
    situ("pareto", path, *many, "--disaggregate", *REQUEST, code=2, err="more than 128 ways")


if __name__ == "__main__":
    sys.exit(main(globals()))
