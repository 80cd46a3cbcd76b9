#!/usr/bin/env python3
"""Standard input and output in the place of files, and what is said before the work begins.

    test_pipes.py SITU [NAME...]
"""
import json
import pathlib
import subprocess
import sys

from test_cli import QUICK, SITU, SMALL, environment, main, situ

WORKLOAD = {"maxFPGAs": 1, "maxCPUs": 1, "maxSizePerFPGA": 100.0,
            "nodes": [{"id": k, "supportedOnFpga": 1, "cpuLatency": 4.0, "fpgaLatency": 1.0, "isBackwardNode": 0,
                       "colorClass": 1, "size": 1.0} for k in (1, 2)],
            "edges": [{"sourceId": 1, "destId": 2, "cost": 1.0}]}


def piped(*arguments, given="", code=0):
    done = subprocess.run([SITU, *map(str, arguments)], input=given, capture_output=True, text=True, timeout=120,
                          env=environment())
    assert done.returncode == code, done
    return done


def test_a_plan_goes_to_standard_output_and_back():
    made = piped("place", SMALL, *QUICK, "-o", "-")
    plan = json.loads(made.stdout)
    assert plan["instance"]["model"] == SMALL
    assert "lower bound" in made.stderr and "standard output" in made.stderr
    assert "valid" in piped("check", "-", given=made.stdout).stdout
    assert json.loads(piped("explain", "-", "--no-what-if", "--json", given=made.stdout).stdout)["parts"]


def test_a_file_and_standard_output_hold_the_same_bytes():
    situ("place", SMALL, *QUICK, "--seed", "3", "-o", "plan.json")
    there = json.loads(pathlib.Path("plan.json").read_text())
    here = json.loads(piped("place", SMALL, *QUICK, "--seed", "3", "-o", "-").stdout)
    for plan in (there, here):
        plan.pop("seconds", None)
    assert here == there


def test_pictures_and_other_formats_go_to_standard_output():
    assert piped("place", SMALL, *QUICK, "--svg", "-").stdout.startswith("<svg")
    assert piped("place", SMALL, *QUICK, "--write", "dot=-").stdout.startswith("digraph")


def test_standard_output_takes_one_thing():
    for two in (["-o", "-", "--json"], ["-o", "-", "--svg", "-"], ["--write", "dot=-", "--write", "csv=-"]):
        done = piped("place", SMALL, *QUICK, *two, code=2)
        assert done.stdout == "" and "only one of" in done.stderr, done
    assert "can be read only once" in piped("check", "-", "--model", "-", code=2).stderr


def test_a_model_is_read_from_standard_input():
    text = json.dumps(WORKLOAD)
    pathlib.Path("w.json").write_text(text)
    there = json.loads(piped("place", "w.json", "--json").stdout)
    here = json.loads(piped("place", "-", "--json", given=text).stdout)
    assert here["model"] == "standard input"
    assert here["value_ns"] == there["value_ns"] and here["placement"] == there["placement"]
    plan = piped("place", "-", "-o", "-", given=text).stdout
    pathlib.Path("plan.json").write_text(plan)
    assert "came from standard input" in piped("check", "plan.json", code=3).stderr
    assert "valid" in piped("check", "plan.json", "--model", "w.json").stdout


def test_json_that_is_no_model_is_said_to_be_none():
    """A graph of TensorFlow.js, which no reader knows, was read as a workload without "maxCPUs"."""
    graph = json.dumps({"format": "graph-model", "modelTopology": {"node": [{"name": "a", "op": "Add"}]}})
    pathlib.Path("model.json").write_text(graph)
    assert "no reader recognises this file" in piped("inspect", "model.json", code=3).stderr


def test_the_machine_that_is_assumed_is_named_before_the_work():
    assert piped("place", SMALL, "--steps", "5").stderr.splitlines()[0] == (
        "situ: no platform given: assuming cpu+2*v100-16g (this-host is this machine)")
    assert "assumed" not in piped("place", SMALL, *QUICK).stderr


if __name__ == "__main__":
    sys.exit(main(globals()))
