#!/usr/bin/env python3
"""What `place` and `explain` say about the reasons of a plan.

    test_why.py SITU [NAME...]
"""
import re
import sys

from test_cli import QUICK, SMALL, Skip, main, situ, situ_json


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
    told = situ_json("explain", "plan.json", "--steps", "20")
    for field in ("placement", "parts", "n_parts", "n_handovers", "transfer_bytes", "limit", "value_ns"):
        assert told[field] == placed[field], field
    assert sum(share["time_ns"] for share in told["critical_path"]) == placed["value_ns"]
    assert any(w["change"].startswith("without ") for w in told["what_if"])
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
        if "situ was built without the library" in str(error):
            raise Skip("a build without Cbc")
        raise


if __name__ == "__main__":
    sys.exit(main(globals()))
