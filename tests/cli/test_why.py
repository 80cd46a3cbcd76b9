#!/usr/bin/env python3
"""What `place` and `explain` say about the reasons of a plan.

    test_why.py SITU [NAME...]
"""
import json
import os
import pathlib
import re
import sys

from test_cli import QUICK, SMALL, Skip, main, situ, situ_json

EXACT = ["--granularity", "operator", "--fusion", "none", "--tolerance", "0", "--min-gain", "0", "--steps", "300"]


def test_place_says_where_every_operator_is():
    found = situ_json("place", SMALL, *QUICK)
    assert len(found["placement"]) == found["operators"]
    for d in found["devices"]:
        assert list(found["placement"].values()).count(d["name"]) == d["operators"]
    assert len(found["parts"]) == found["n_parts"]
    assert sum(p["operators"] for p in found["parts"]) == found["operators"]
    assert found["limit"]["kind"] in ("device", "link", "memory", "chain")


def test_explain_tells_parts_path_and_what_ifs():
    placed = situ_json("place", SMALL, *QUICK, "-o", "plan.json")
    text = situ("explain", "plan.json", "--steps", "20")
    for word in ("part", "holds", "best single", "hand-overs", "limited by", "time spent", "what if", "without"):
        assert word in text, text
    assert all(len(line) <= 100 for line in text.splitlines()), text
    output = situ_json("explain", "plan.json", "--steps", "20")
    for field in ("placement", "parts", "n_parts", "n_handovers", "transfer_bytes", "limit", "value_ns"):
        assert output[field] == placed[field], field
    assert sum(share["time_ns"] for share in output["critical_path"]) == placed["value_ns"]
    assert any(w["change"].startswith("without ") for w in output["what_if"])
    assert "what_if" not in situ_json("explain", "plan.json", "--no-what-if")


def test_explain_of_a_proved_plan_says_that_nothing_is_better():
    situ("place", SMALL, "--platform", "cpu+2*v100-16g", "--steps", "300", "-o", "plan.json", out="proved optimal")
    situ("explain", "plan.json", "--no-what-if", out=r"no split is\s+better for\s+these\s+costs")
    situ("place", "builtin:inception-v3", "--platform", "cpu+v100-16g+p100-16g", "--steps", "300", "-o", "open.json")
    assert not re.search(r"no split is\s+better", situ("explain", "open.json", "--no-what-if"))


def test_nothing_is_gained_by_leaving_a_device_out():
    """A plan without the device is one with it too. Here the one found is a split of the kind that was set aside."""
    situ("place", "builtin:inception-v3", "--platform", "cpu+2*v100-16g", "--steps", "300", "-o", "plan.json", out="set aside")
    text = situ("explain", "plan.json", "--steps", "100", out="without gpu0 +[0-9.]+ ms +no loss")
    assert not re.search("without .* shorter", text), text


def test_faster_links_keep_their_routes():
    """The network is as long as the work on d2, to which d1 sends nothing in no time. The shortest route for 1 MiB would
    be over d0 once d1 - d0 is twice as fast, and adds the latency of d0 - d2 to the work on d2."""
    link = lambda a, b, latency, rate: {"from": a, "to": b, "latency_ns": latency, "bytes_per_s": rate, "bidirectional": False}
    names, far = ("d0", "d1", "d2"), 10**6
    pathlib.Path("three.json").write_text(json.dumps({
        "situ_platform": 1,
        "devices": [{"name": d, "class": d, "host": False, "peak_tflops": {"f32": 1}, "memory_gb_per_s": 1} for d in names],
        "links": [link("d1", "d0", 1000, 0.6e9), link("d0", "d2", 3000, 4e17), link("d1", "d2", 0, 1e9),
                  link("d2", "d0", 0, 1e9), link("d0", "d1", 0, 1e9)]}))
    operator = lambda name: {"name": name, "dtype": "f32", "kind": name, "flops": 1000, "moved_bytes": 100}
    pathlib.Path("fork.json").write_text(json.dumps({
        "situ_graph": 1, "operators": [operator(v) for v in "abc"],
        "tensors": [{"name": "t", "from": "a", "to": ["b", "c"], "bytes": 0, "dtype": "f32"}]}))
    times = {"a": {"d0": far, "d1": 10, "d2": far}, "b": {"d0": 10, "d1": far, "d2": far}, "c": {"d0": far, "d1": far, "d2": 5000}}
    pathlib.Path("times.json").write_text(json.dumps({
        "situ_costs": 1, "unit": "ns", "classes": names, "operators": times, "groups": [], "workspace_bytes": {}}))
    placed = situ_json("place", "fork.json", "--platform", "three.json", "--cost-table", "times.json", *EXACT, "-o", "plan.json")
    assert placed["value_ns"] == 5010 and list(placed["placement"].values()) == ["d1", "d0", "d2"], placed
    rows = {w["change"]: w for w in situ_json("explain", "plan.json", "--steps", "100")["what_if"]}
    assert rows["links like d1 - d0 twice as fast"]["value_ns"] == 5010, rows
    assert rows["links like d1 - d0 twice as fast"]["lower_bound_ns"] == 5010, rows


def test_a_split_that_is_sure_but_small_is_set_aside_for_min_gain():
    """The split beats the best single device in every draw, so it is the gain that decides, not the uncertainty."""
    call = ("place", "builtin:bert-base", "--platform", "cpu+2*v100-16g", "--steps", "2000")
    found = situ_json(*call)
    assert found["value_ns"] == found["best_single_ns"] and found["beats_single"] == 1, found
    assert found["best_found_ns"] > 0.95 * found["value_ns"], found
    situ(*call, out=r"a split gains too little(.|\n)*see --min-gain")


def test_milp_says_what_it_did_where_it_did_not_improve():
    try:
        situ("place", "builtin:layered?operators=30", "--platform", "cpu+2*v100-16g", "--solver", "milp", "--steps", "300",
             err="milp: the root of the program takes [0-9]+ steps, more than are left")
    except AssertionError as error:
        if "no engine for mixed-integer programs" in str(error):
            raise Skip("neither HiGHS nor Cbc is here")
        raise


def test_an_engine_of_milp_that_is_not_where_the_user_says_is_an_error():
    os.environ["SITU_HIGHS"] = "/nowhere"
    try:
        situ("place", "builtin:layered?operators=30", "--platform", "cpu+2*v100-16g", "--solver", "milp", code=3,
             err="SITU_HIGHS names this path, but libhighs.so is not there")
    finally:
        del os.environ["SITU_HIGHS"]


if __name__ == "__main__":
    sys.exit(main(globals()))
