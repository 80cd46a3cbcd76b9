#!/usr/bin/env python3
"""Policies that learn from measured times: by ONNX Runtime where it is installed.

    test_trials.py SITU [NAME...]
"""
import json
import pathlib
import sys

from test_cli import SHARE, SMALL, main, need, situ
from test_engines import engine


def test_a_policy_learns_from_measured_times_and_its_log_replays():
    engine()
    path = need("data/onnx/mnist.onnx")
    train = ["learn", "hsdag", path, "--platform", "2*cpu", "--measurements", "8", "--steps", "40", "--map", "cpu1=1/2"]
    situ(*train, "--engine", "onnxruntime", "--trials-log", "log.json", "--plan", "plan.json", "-o", "one.policy",
         out="best single")
    log, plan = (json.loads(pathlib.Path(name).read_text()) for name in ("log.json", "plan.json"))
    assert 2 <= len(log["trials"]) <= 8 and len(log["final_ns"]) >= 2, log
    assert all(len(trial["times_ns"]) == len(trial["reference_ns"]) for trial in log["trials"])
    one, other = (min(trial["times_ns"]) for trial in log["trials"][:2])  # the second waits as long as it runs
    assert other > 1.5 * one, log["trials"][:2]
    output = situ(*train, "--trials-from", "log.json", "--trials-log", "again.json", "--plan", "other.json", "-o",
                "two.policy", "--json")
    again = json.loads("{" + output.rsplit("\n{\n", 1)[1])
    for one, other in (("log.json", "again.json"), ("one.policy", "two.policy")):
        assert pathlib.Path(one).read_bytes() == pathlib.Path(other).read_bytes(), one
    assert json.loads(pathlib.Path("other.json").read_text())["operators"] == plan["operators"]
    assert again["best_ns"] <= again["single_ns"] and again["measured"] <= 8, again
    situ("run", "plan.json", "--items", "3", "--map", "cpu1=1/2", out="outputs    equal")
    situ(*train, "--seed", "7", "--trials-from", "log.json", "-o", "two.policy", code=3, err="another placement")
    situ(*train, "--measurements", "9", "--trials-from", "log.json", "-o", "two.policy", code=3, err="but of 8")


def test_draws_that_do_not_learn_are_the_same_whatever_was_measured():
    """--variant learns=0 is random search: the placements that it draws depend on the seed alone, and its policy is the
    one that it began with, as of fewer measurements."""
    engine()
    path = need("data/onnx/mnist.onnx")
    draw = ["learn", "hsdag", path, "--platform", "2*cpu", "--steps", "40", "--variant", "learns=0", "--engine", "onnxruntime"]
    drawn, policies = [], []
    n, fewer = (8, 4) if SHARE >= 100 else (4, 3)
    for n, seed, *words in ((n, "1"), (n, "1", "--map", "cpu0=1/9"), (fewer, "1"), (n, "2")):
        situ(*draw, "--measurements", str(n), "--seed", seed, "--rounds", "3", *words, "--trials-log", "log.json", "-o", "r.policy")
        drawn.append([trial["hash"] for trial in json.loads(pathlib.Path("log.json").read_text())["trials"]])
        policies.append(pathlib.Path("r.policy").read_bytes())
    assert drawn[0] == drawn[1] and drawn[2] == drawn[0][:fewer] and drawn[3] != drawn[0], drawn
    assert len(set(drawn[0])) == len(drawn[0]) > 2, drawn[0]
    train = [*draw[:-4], "--engine", "onnxruntime", "--measurements", str(n), "--seed", "1"]
    situ(*train, "--rounds", "3", "-o", "learns.policy")
    assert len(policies[0]) == len(policies[1]) == pathlib.Path("learns.policy").stat().st_size
    assert policies[0] != pathlib.Path("learns.policy").read_bytes()


def test_what_cannot_be_learnt_from_measurements_says_why():
    situ("learn", "hsdag", SMALL, "--engine", "onnxruntime", "-o", "p.policy", code=3, err="is not an ONNX or OpenVINO model")
    situ("learn", "hsdag", SMALL, SMALL, "--engine", "onnxruntime", "-o", "p.policy", code=2, err="exactly one MODEL")
    engine()
    path = need("data/onnx/mnist.onnx")
    for words, message in (("cpu7=1", "not a device of the platform"), ("cpu0", "NAME=THREADS"), ("cpu0=1/0", "NAME=THREADS")):
        situ("learn", "hsdag", path, "--platform", "2*cpu", "--engine", "onnxruntime", "--map", words, "-o", "p.policy",
             code=2, err=message)


if __name__ == "__main__":
    sys.exit(main(globals()))
