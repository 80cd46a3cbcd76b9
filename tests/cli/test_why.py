#!/usr/bin/env python3
"""What `place` and `explain` say about the reasons of a plan.

    test_why.py SITU [NAME...]
"""
import sys

from test_cli import QUICK, SMALL, main, situ, situ_json


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


if __name__ == "__main__":
    sys.exit(main(globals()))
