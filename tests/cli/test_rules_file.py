#!/usr/bin/env python3
"""Rules from outside: files, flags, and plans that remember them.

    test_rules_file.py SITU [NAME...]
"""
import json
import pathlib
import sys

from test_cli import QUICK, SMALL, main, situ, situ_json

LLAMA = "builtin:llama?layers=4&hidden=256&heads=4&kv_heads=4&tokens=32&vocab=2000"


def write(**rules):
    pathlib.Path("rules.json").write_text(json.dumps({"situ_rules": 1, **rules}))


def placed(*arguments):
    """{operator: device}"""
    return situ_json("place", *arguments, "-o", "plan.json")["placement"]


def test_a_plan_keeps_to_its_rules_and_remembers_them():
    assert placed(SMALL, *QUICK)["conv1"] == "gpu0"
    write(operators=[{"name": ["conv1", "layer4.*"], "not_on": "gpu0"}], devices={"gpu0": {"reserve": "1 GiB"}})
    found = placed(SMALL, *QUICK, "--rules", "rules.json")
    assert all(device != "gpu0" for name, device in found.items() if name == "conv1" or name.startswith("layer4."))
    plan = json.loads(pathlib.Path("plan.json").read_text())
    assert plan["instance"]["rules"] == [json.loads(pathlib.Path("rules.json").read_text())]
    pathlib.Path("rules.json").unlink()
    assert situ_json("check", "plan.json")["valid"]
    situ("explain", "plan.json", "--steps", "20", out=r"gpu0 must not run \d+ operators")
    for row in plan["operators"]:
        row[1] = "gpu0"
    pathlib.Path("plan.json").write_text(json.dumps(plan))
    situ("check", "plan.json", code=7, out="support.*conv1 is on gpu0, where it cannot run, by a rule")


def test_flags_are_short_rules():
    write(operators=[{"kind": "Conv", "not_on": "gpu"}], devices={"cpu": {"reserve": "1 GB"}})
    by_file = situ_json("place", SMALL, *QUICK, "--rules", "rules.json")
    by_flags = situ_json("place", SMALL, *QUICK, "--not", "Conv=gpu", "--reserve", "cpu=1GB")
    assert by_file["placement"] == by_flags["placement"] and by_file["value_ns"] == by_flags["value_ns"]
    assert by_flags["placement"]["conv1"] == "cpu"
    together = situ_json("place", SMALL, *QUICK, "--not", "Conv=gpu,MaxPool=cpu")["placement"]
    assert together["conv1"] == "cpu" and together["maxpool"] != "cpu"


def test_headroom_is_left_in_every_memory():
    """Of 16 GB 5 % are 0.8 GB, but where a reserve is stated; a host of unknown size stays as it is."""
    limits = lambda *rules: {d["name"]: d["memory_limit_bytes"] for d in situ_json("place", SMALL, *QUICK, *rules)["devices"]}
    free = limits()
    some = limits("--headroom", "5%")
    assert some == {d: n - n // 20 for d, n in free.items()}, some
    assert limits("--headroom", "1GB") == {d: n - 10**9 for d, n in free.items()}
    for order in (["--headroom", "1GB", "--reserve", "gpu0=2GB"], ["--reserve", "gpu0=2GB", "--headroom", "1GB"]):
        assert limits(*order) == {d: n - (2 if d == "gpu0" else 1) * 10**9 for d, n in free.items()}
    write(headroom="5 %")
    by_file = situ_json("place", SMALL, *QUICK, "--rules", "rules.json", "-o", "plan.json")
    assert {d["name"]: d["memory_limit_bytes"] for d in by_file["devices"]} == some
    situ("check", "plan.json")
    assert "free over all memories" in situ("place", SMALL, *QUICK, "--headroom", "5%")
    situ("place", SMALL, *QUICK, "--headroom", "20GB", code=3, err="headroom: is more than the memory of gpu0")
    situ("place", SMALL, *QUICK, "--headroom", "10", code=3, err='headroom: is 10 bytes; give it a unit: "10 %", "10 GB"')
    write(headroom=10)
    situ("place", SMALL, *QUICK, "--rules", "rules.json")
    situ("place", SMALL, *QUICK, "--headroom", "a lot", code=3, err='must be a size such as "1 GiB", a number of bytes, or "5 %"')


def test_reserved_memory_makes_a_model_part():
    """100 MB of weights fit one device of 16 GB until all but 80 MB of each is reserved."""
    whole = placed(SMALL, *QUICK, "--not", "*=cpu")
    assert len(set(whole.values())) == 1
    write(devices={"gpu": {"reserve": 16 * 10**9 - 80 * 10**6}})
    parts = placed(SMALL, *QUICK, "--not", "*=cpu", "--rules", "rules.json")
    assert set(parts.values()) == {"gpu0", "gpu1"}
    assert situ_json("check", "plan.json")["valid"]


def test_cuts_are_only_where_rules_allow_them():
    write(cuts_only_after=["layer3.*"], devices={"gpu": {"reserve": 16 * 10**9 - 80 * 10**6}})
    found = placed(SMALL, *QUICK, "--not", "*=cpu", "--rules", "rules.json")
    assert set(found.values()) == {"gpu0", "gpu1"}
    for layers in (("conv1", "layer1", "layer2"), ("layer4", "fc")):
        assert len({device for name, device in found.items() if name.split(".")[0] in layers}) == 1, layers
    assert situ_json("check", "plan.json")["valid"]


def test_lists_stay_together_in_every_copy():
    write(keep_together=[["conv1", "fc"]])
    found = placed(SMALL, *QUICK, "--copies", "2", "--rules", "rules.json", "--fusion", "none")
    assert all(found[f"conv1@{k}"] == found[f"fc@{k}"] for k in (1, 2))
    assert situ_json("check", "plan.json")["valid"]


def test_layers_that_rules_leave_no_device_give_way():
    """Whole layers are the default for decoders; a rule that no layer can keep as a whole leaves fused operators."""
    text = situ("place", LLAMA, *QUICK, "--not", "Softmax=gpu,MatMul=cpu", "--json")
    assert json.loads(text)["outcome"] in ("feasible", "optimal")


def test_times_of_a_table_count_for_both_halves_of_a_class():
    situ("costs", SMALL, "--platform", "cpu+2*v100-16g", "-o", "costs.csv")
    write(operators=[{"kind": "Conv", "not_on": "gpu1"}])
    table = situ("costs", SMALL, "--platform", "cpu+2*v100-16g", "--rules", "rules.json", "--cost-table", "costs.csv",
                 "--fusion", "none").splitlines()
    head = table[0].strip().split(",")
    assert head[-2:] == ["v100-16g:gpu0", "v100-16g:gpu1"]
    for line in table[1:]:
        cells = line.strip().split(",")
        if cells[2] == "MaxPool":
            assert cells[-1] == cells[-2]
        if cells[2] == "Conv":
            assert cells[-1] == "never" and cells[-2] != "never"


if __name__ == "__main__":
    sys.exit(main(globals()))
