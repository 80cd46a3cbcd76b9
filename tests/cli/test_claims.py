#!/usr/bin/env python3
"""What a plan file says, held against what is so: proofs, the yardstick, and where its problem came from.

    test_claims.py SITU [NAME...]
"""
import json
import pathlib
import sys

from test_cli import HERE, QUICK, SMALL, main, situ, situ_json, some

LAYERED = "builtin:layered?operators=20"
BRANCHED = "builtin:inception-v3?image=128"  # one device is not the best there
GOLDEN = HERE.parent / "golden"


PLANS = {}  # what place has written, by its arguments


def plan(*options, model=SMALL, quick=QUICK):
    """The plan, in the file plan.json; cases that ask for the same get what was found for the first of them, unless options
    name files or write more."""
    call = ("place", model, *quick, *options)
    path = pathlib.Path("plan.json")
    if call not in PLANS or "--write" in call or any(str(word).endswith((".json", ".csv")) for word in call):
        situ(*call, "-o", path)
        PLANS[call] = path.read_text()
    path.write_text(PLANS[call])
    return json.loads(PLANS[call])


def write(made, name="changed.json"):
    pathlib.Path(name).write_text(json.dumps(made))
    return name


def rules(*arguments):
    """The rules that check sees broken; exit code 7 where there are any."""
    text = situ("check", *arguments, "--json", code=7)
    return {v["rule"] for v in json.loads(text)["violations"]}


# ---- proofs ----


def forge():
    """A plan of one device that calls itself optimal, with a bound to match and nothing to prove it."""
    made = plan("--solver", "single", model=BRANCHED)
    assert made["lower_bound_ns"] < made["value_ns"]
    made.update(outcome="optimal", lower_bound_ns=made["value_ns"], bound="ideal_dp")
    made.pop("certificate", None)
    return write(made, "forged.json")


def test_simulate_does_not_call_a_claim_a_proof():
    forged = forge()
    output = situ("simulate", forged, out="claimed optimal, not proved here")
    assert "proved optimal" not in output
    assert "claimed by the plan file" in output


def test_simulate_calls_no_plan_optimal_that_is_slower_than_its_bound():
    made = plan("--solver", "single")
    made.update(outcome="optimal", value_ns=made["value_ns"] - 1, lower_bound_ns=made["value_ns"] - 1)
    assert situ_json("simulate", write(made))["outcome"] == "feasible"


def test_pins_of_all_are_bounded_by_what_is_asked_for():
    """Two devices of 10 ns each, one after the other: a period of 10 ns, of which no bound on the latency says anything."""
    files = two_of_ten()
    write({"a": "d0", "b": "d1"}, "pins.json")
    situ("place", *files, "--max-latency", "1", "--fix", "pins.json", "-o", "plan.json")
    made = json.loads(pathlib.Path("plan.json").read_text())
    assert made["value_ns"] == 10 and made["lower_bound_ns"] == 10 and made["outcome"] == "optimal", made
    situ("check", "plan.json", "--require-proof")


def test_a_front_keeps_every_option_of_its_problem():
    """Two operators of 10 ns that do not depend on each other: 10 ns on two devices, 20 where nothing overlaps; pins of one
    group to two devices leave no plan at all."""
    files = two_of_ten(linked=False)
    assert situ_json("pareto", *files, "--steps", "100")["points"][0]["latency_ns"] == 10
    alone = situ_json("pareto", *files, "--steps", "100", "--overlap", "none")
    assert min(point["latency_ns"] for point in alone["points"]) == alone["latency_lower_bound_ns"] == 20, alone
    write({"a": "d0", "b": "d1"}, "pins.json")
    write({"situ_rules": 1, "keep_together": [["a", "b"]]}, "rules.json")
    for command in ("pareto", "place"):
        situ(command, *files, "--fix", "pins.json", "--rules", "rules.json", code=4)


def two_of_ten(linked=True):
    """Two operators of 10 ns on two equal devices; b reads from a where they are linked."""
    write({"situ_graph": 1, "name": "x", "operators": [{"name": "a"}, {"name": "b"}],
           "tensors": [{"name": "t", "from": "a", "to": ["b"], "bytes": 0}] if linked else []}, "two.json")
    device = {"class": "g", "peak_tflops": {"f32": 1}, "memory_gb_per_s": 1}
    write({"situ_platform": 1, "name": "p", "devices": [{"name": "d0", **device}, {"name": "d1", **device}],
           "links": [{"from": "d0", "to": "d1", "bytes_per_s": 1000000000}]}, "machine.json")
    write({"situ_costs": 1, "unit": "ns", "operators": {"a": {"g": 10}, "b": {"g": 10}}}, "times.json")
    return "two.json", "--platform", "machine.json", "--cost-table", "times.json", "--granularity", "operator"


def test_check_says_that_a_claim_is_not_proved():
    situ("check", forge(), out="optimal +claimed, not proved")


def test_check_takes_a_bound_on_trust_only_when_asked_to():
    forged = forge()
    situ("check", forged)
    assert rules(forged, "--require-proof") == {"proof"}
    situ("check", forged, "--require-proof", code=7, out="the lower bound of [0-9]+ ns is not proved: it has no certificate")


def test_a_proof_that_verifies_is_enough():
    situ("check", GOLDEN / "certificates" / "latency.json", "--require-proof", out="verified")


def test_a_certificate_of_less_is_no_proof_of_the_bound():
    # good.json: ideal_dp proved 3 ms; its certificate is one of balance, of 1.36 ms
    assert rules(GOLDEN / "certificates" / "good.json", "--require-proof") == {"proof"}
    situ("check", GOLDEN / "certificates" / "good.json")


def test_a_bound_of_nothing_needs_no_proof():
    made = plan("--solver", "single", model=BRANCHED)
    made.update(lower_bound_ns=0, bound="")
    made.pop("certificate", None)
    situ("check", write(made), "--require-proof")


# ---- the best single device ----


def test_a_yardstick_that_was_bent_is_found_out():
    made = plan()
    assert made["best_single"]["device"] == "gpu0"
    for lie in ({"device": "gpu0", "value_ns": made["best_single"]["value_ns"] + 1},
                {"device": "cpu", "value_ns": made["best_single"]["value_ns"]}, None):
        assert rules(write({**made, "best_single": lie})) == {"single"}


# ---- other plans, and other costs ----


def set_aside(*options):
    """A plan on one device, where the file shows the split that was set aside."""
    made = plan("--min-gain", "0.9", *options, model=BRANCHED)
    assert made["best_found"]["plan"] and made["robustness"]["preferred_single"]
    return made


def test_what_place_says_of_other_plans_is_recomputed():
    set_aside()
    output = situ_json("check", "plan.json")
    assert output["recomputed"] == ["best_found", "robustness"] and output["unchecked"] == []
    situ("check", "plan.json", out="recomputed +best_found, robustness")


def test_a_plan_that_is_set_aside_is_judged_too():
    made = set_aside()
    found = made["best_found"]
    for lie in ({"value_ns": made["lower_bound_ns"] - 1}, {"value_ns": found["value_ns"] + 1},
                {"value_ns": made["value_ns"] + 1}, {"handovers": found["handovers"] + 1},
                {"plan": {**found["plan"], "value_ns": found["value_ns"] - 1}}):
        assert "claim" in rules(write({**made, "best_found": {**found, **lie}}))
    shown = found["plan"]
    moved = [[row[0], shown["operators"][0][1], *row[2:]] for row in shown["operators"]]
    assert rules(write({**made, "best_found": {**found, "plan": {**shown, "operators": moved}}}))
    situ("check", write({**made, "best_found": {**found, "plan": {**shown, "operators": moved[1:]}}}), code=3)


def test_a_claim_without_its_plan_is_not_checked():
    made = set_aside()
    for name in ("best_found", "robustness"):
        without = {key: value for key, value in made[name].items() if key != "plan"}
        output = situ_json("check", write({**made, name: without}))
        assert output["unchecked"] == [name]
        situ("check", "changed.json", out=f"not checked +{name}")
        assert "proof" in rules("changed.json", "--require-proof")
    bare = {key: value for key, value in made.items() if key not in ("best_found", "robustness")}
    output = situ_json("check", write(bare))
    assert output["recomputed"] == output["unchecked"] == []


def test_draws_of_costs_are_repeated():
    for made in (set_aside(), plan("--uncertainty", "0.3", model=BRANCHED)):
        output = made["robustness"]
        other = output["beats_single"] - 1 / output["draws"] if output["beats_single"] > 0.5 else output["beats_single"] + 1 / output["draws"]
        for lie in ({"beats_single": other}, {"draws": output["draws"] - 1},
                    {"regret_ns": output["regret_ns"] + 1}, {"speedup_5": output["speedup_5"] * 0.99},
                    {"speedup_median": output["speedup_95"] * 1.01}, {"speedup_95": output["speedup_95"] * 1.01},
                    {"uncertainty": 0}, {"uncertainty": 3}, {"draws": 0},
                    {"flip_what": "" if output["flip_what"] else "gpu"}, {"flip_factor": 17}):
            assert rules(write({**made, "robustness": {**output, **lie}})) == {"claim"}, lie
        for lie in ({"beats_single": 5}, {"beats_single": -0.5}, {"draws": 2**40}, {"regret_ns": -1}):
            situ("check", write({**made, "robustness": {**output, **lie}}), code=3)


def test_a_flip_that_draws_do_not_find_is_not_checked():
    made = plan("--uncertainty", "0.3", model=BRANCHED)
    for flip, list_of in (({"flip_factor": 2.5, "flip_what": "x"}, "unchecked"),
                          ({"flip_factor": 0, "flip_what": ""}, "recomputed")):
        output = situ_json("check", write({**made, "robustness": {**made["robustness"], **flip}}))
        assert "robustness" in output[list_of]


def test_a_form_costs_no_more_than_is_proved():
    made = plan()
    for lie in (made["lower_bound_ns"] - 1, made["value_ns"], made["value_ns"] + 1):
        assert "claim" in rules(write({**made, "without_form_ns": lie}))


def test_what_a_form_costs_is_recomputed():
    made = plan("--objective", "throughput", "--write", "vllm=stages", model="builtin:llama?layers=6",
                quick=["--platform", "cpu+uhd770", "--steps", "300"])
    without = made["without_form"]
    assert without["value_ns"] == made["without_form_ns"] < made["value_ns"]
    assert situ_json("check", "plan.json")["recomputed"] == ["without_form_ns"]
    assert rules(write({**made, "without_form_ns": without["value_ns"] + 1})) == {"claim"}
    assert rules(write({**made, "without_form": {**without, "value_ns": without["value_ns"] + 1}})) == {"claim", "value"}


def test_times_of_other_problems_are_refused():
    made = plan()
    assert rules(write({**made, "latency_ns": 1, "period_ns": 2})) == {"claim"}
    assert rules(write({**made, "other_ns": 1})) == {"claim"}
    refused({**made, "latency_ns": 1}, "period_ns: expected a whole number")


# ---- where the problem came from ----


def refused(made, message):
    for command in ("check", "simulate"):
        situ(command, write(made), code=3, err=message)


def test_members_of_a_wrong_type_are_refused_by_name():
    made = plan("--max-period", "1000", "--unused", "gpu1", "--copies", "2")
    wrong = {
        "max_period_ns": ["1000", -5, 0, 1.5, None, True],
        "unused": ["gpu1", {"gpu1": True}, [1], None],
        "pins": [["conv1", "gpu0"], "gpu0", None],
        "in_flight": ["1", 0, -1, 2147483648, True],
        "copies": ["2", 0, 2147483648],
        "max_calls": ["3", 0, 2147483647],
        "replicate": ["true", 1, None],
        "contiguous": [0], "overlap": ["no", 1], "async_copies": ["no"], "training": [1],
        "schedule": ["GPipe", 1], "contention": [True, "links"], "communication": ["default"],
        "objective": ["default", 1], "execution": ["default", None],
        "dims": [["batch", 1], "batch=1"], "default_dim": ["1", 0], "reader": [1],
        "model": [7, None], "platform": [7, ["cpu"]],
        "costs": [None, "roofline", []],
        "model_hash": [7, None], "platform_hash": [7, None],
    }
    for k, (name, values) in enumerate(wrong.items()):
        for value in some(values, k):
            changed = {**made, "instance": {**made["instance"], name: value}}
            refused(changed, rf"changed.json: instance\.{name}: expected ")


def test_members_inside_of_members_are_held_to_their_types_too():
    made = plan()
    for name, inner, message in (("dims", {"n": -1}, r"instance\.dims\.n"), ("dims", {"n": "4"}, r"instance\.dims\.n"),
                              ("costs", {"efficiency": 2}, r"instance\.costs\.efficiency"),
                              ("costs", {"efficiency": "0.5"}, r"instance\.costs\.efficiency"),
                              ("costs", {"table": 3}, r"instance\.costs\.table"),
                              ("costs", {"model": 3}, r"instance\.costs\.model"),
                              ("pins", {"conv1": 3}, r"instance\.pins")):
        refused({**made, "instance": {**made["instance"], name: inner}}, message)


def test_members_that_have_to_be_there_are_missed():
    made = plan()
    for name in ("model", "model_hash", "platform", "platform_hash", "costs", "objective", "execution"):
        rest = {k: v for k, v in made["instance"].items() if k != name}
        refused({**made, "instance": rest}, rf"instance\.{name}: expected ")


def test_members_that_nobody_knows_may_be_constraints_and_are_refused():
    made = plan()
    made["instance"]["max_perid_ns"] = 1
    refused(made, r"instance\.max_perid_ns: expected no such member")


def test_every_number_of_inputs_in_flight_comes_back():
    model = GOLDEN / "onnx-chain" / "model.onnx"  # 32 bytes for each input, 69 GB in all; the cpu has 256 GB
    for n in (3, 2147483647):
        situ("place", model, "--platform", "cpu", "--objective", "throughput", "--in-flight", n, "-o", "plan.json")
        made = json.loads(pathlib.Path("plan.json").read_text())
        assert made["instance"]["in_flight"] == n
        assert made["devices"][0]["memory_bytes"] == 32 * n
        situ("check", "plan.json", out="every rule holds")
    situ("place", model, "--in-flight", 2147483648, code=2, err="at most 2147483647")


def test_other_times_in_the_cost_table_are_noticed():
    table = {"situ_costs": 1, "unit": "us", "operators": {"conv1": {"v100-16g": 700, "cpu": 900}}}
    pathlib.Path("costs.json").write_text(json.dumps(table))
    made = plan("--cost-table", "costs.json")
    assert len(made["instance"]["costs"]["table_hash"]) == 16
    situ("check", "plan.json")
    table["operators"]["conv1"]["cpu"] = 901  # nothing runs there: only the hash can tell
    pathlib.Path("costs.json").write_text(json.dumps(table))
    situ("check", "plan.json", code=3, err="the cost table costs.json has changed")
    del made["instance"]["costs"]["table_hash"]  # as version 0.1 wrote it
    situ("check", write(made))


def test_devices_that_move_to_another_server_are_noticed():
    def write_platform(*servers):
        pathlib.Path("p.json").write_text(json.dumps({
            "situ_platform": 1, "devices": [{"name": n, "base": "cpu", "server": s} for n, s in zip("abc", servers)],
            "links": [{"from": "a", "to": to, "bytes_per_s": 1e9, "latency_ns": 10, "bidirectional": True} for to in "bc"]}))
    write_platform("one", "one", "two")
    plan(quick=["--platform", "p.json", "--steps", "100"])
    situ("check", "plan.json")
    for others in (("one", "two", "two"), ("one", "one", "one")):
        write_platform(*others)
        situ("check", "plan.json", code=3, err="the platform .* has changed")


# ---- another model for the same plan ----


def test_a_plan_for_another_model_file_is_judged_by_its_own_problem():
    made = plan("--objective", "throughput", "--free", "--in-flight", 2)
    output = situ_json("check", "plan.json", "--model", SMALL)
    assert (output["execution"], output["objective"]) == ("pipeline", "throughput")
    assert output["valid"] and output["value_ns"] == made["value_ns"]
    assert output["best_single_ns"] == made["best_single"]["value_ns"]
    assert situ_json("simulate", "plan.json", "--model", SMALL)["value_ns"] == made["value_ns"]
    situ("check", "plan.json", "--model", SMALL, "--execution", "stream", out="valid")
    assert situ_json("simulate", "plan.json", "--model", SMALL, "--execution", "stream")["execution"] == "stream"


def test_a_plan_for_another_model_file_keeps_its_sequence_and_machine():
    made = plan(model=LAYERED, quick=["--platform", "cpu+3*v100-16g", "--steps", "2000"])
    output = situ_json("check", "plan.json", "--model", LAYERED)
    assert output["valid"] and output["value_ns"] == made["value_ns"]
    made = plan("--copies", 2, model=LAYERED)
    assert situ_json("check", "plan.json", "--model", LAYERED)["value_ns"] == made["value_ns"]


def test_a_plan_for_another_model_file_keeps_its_constraints():
    made = plan("--max-period", "1000", "--unused", "gpu1")
    made["operators"][0][1] = "gpu1"
    text = situ("check", write(made), "--model", SMALL, "--json", code=7)
    assert "unused" in {v["rule"] for v in json.loads(text)["violations"]}


def test_a_plan_of_this_host_keeps_what_that_was():
    """The plan of a machine with half the speed, that called itself this-host: it is judged by that speed."""
    situ("place", SMALL, *QUICK, "--platform", "this-host", "-o", "here.json")
    host = json.loads(pathlib.Path("here.json").read_text())["instance"]["host"]
    for device in host["devices"]:
        device["peak_flops"] = {kind: rate / 2 for kind, rate in device["peak_flops"].items()}
    pathlib.Path("slow.json").write_text(json.dumps(host))
    situ("place", SMALL, *QUICK, "--platform", "slow.json", "-o", "there.json")
    plan = json.loads(pathlib.Path("there.json").read_text())
    plan["instance"] |= {"platform": "this-host", "host": host}
    pathlib.Path("there.json").write_text(json.dumps(plan))
    situ("check", "here.json")
    assert situ_json("check", "there.json")["value_ns"] == plan["value_ns"]
    del plan["instance"]["host"]
    pathlib.Path("there.json").write_text(json.dumps(plan))
    situ("check", "there.json", code=3, err="platform")


def test_a_plan_is_judged_as_options_say():
    """Three operators on a device that its own platform has twice as fast."""
    graph = {"situ_graph": 1, "operators": [{"name": n, "flops": 2e9} for n in "abc"],
             "tensors": [{"from": a, "to": [b], "bytes": 0} for a, b in ("ab", "bc")]}
    pathlib.Path("abc.json").write_text(json.dumps(graph))
    for name, rate in ("fast", 2e12), ("slow", 1e12):
        device = {"name": "d", "host": True, "peak_flops": {"f32": rate}, "memory_bytes_per_s": 1e12}
        pathlib.Path(f"{name}.json").write_text(json.dumps({"situ_platform": 1, "devices": [device]}))
    made = plan("--platform", "fast.json", "--efficiency", "1", model="abc.json", quick=[])
    for command in "check", "explain", "simulate":
        assert situ_json(command, "plan.json")["value_ns"] == made["value_ns"], command
        other = situ_json(command, "plan.json", "--platform", "slow.json")["value_ns"]
        assert other == 2 * made["value_ns"], (command, other, made["value_ns"])


if __name__ == "__main__":
    sys.exit(main(globals()))
