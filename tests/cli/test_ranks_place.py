#!/usr/bin/env python3
"""Searches under Open MPI: what the ranks find together, and what the loss of one costs.

    test_ranks_place.py SITU [NAME...]
"""
import json
import os
import pathlib
import re
import shutil
import signal
import sys
import time

from test_cli import SHARE, SITU, Skip, environment, main, situ, some, thorough

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "lab"), str(pathlib.Path(__file__).resolve().parents[2] / "bench")]
import llm_files
from machines import MPIRUN, own_lines, ranks_of, under_mpirun

# Steps enough for four walks, on networks so small that they take a second.
PLATFORM = ["--platform", "cpu+2*v100-16g"]
STREAM = ["builtin:layered?operators=20", *PLATFORM, "--steps", "400000", "--tolerance", "0", "--min-gain", "0"]
PIPELINE = ["builtin:layered?operators=20", *PLATFORM, "--execution", "pipeline", "--solver", "local_search", "--steps", "400000"]
CALLS = ["builtin:layered?operators=20", *PLATFORM, "--execution", "calls", "--solver", "call_search", "--steps", "400000"]


def begun(*words):
    if not shutil.which("mpirun"):
        raise Skip("there is no mpirun (tools/setup.sh check)")
    return under_mpirun([*MPIRUN, "--oversubscribe", *words], environment())


def ran(*words, limit_s=800):
    with begun(*words) as process:
        out, err = process.communicate(timeout=limit_s)
    return process.returncode, out, err


def plan(path):
    """All of it but the time that it took."""
    return re.sub(r'"seconds": [0-9.e+-]+', "", pathlib.Path(path).read_text())


def test_the_plan_is_the_same_with_any_number_of_ranks_and_threads():
    for k, arguments in enumerate(some((STREAM, PIPELINE, CALLS), 2)):
        situ("place", *arguments, "-o", "alone.json")
        for ranks, threads in some(((2, 2), (4, 1), (1, 1)), k):
            code, out, err = ran("-n", ranks, SITU, "place", *arguments, "--threads", threads, "-o", "plan.json")
            assert code == 0, err
            assert len(re.findall(r"best single(?! \()", out)) == 1, out  # the first rank alone tells
            assert "\033" not in out, out  # not for the terminal that mpirun makes
            assert plan("plan.json") == plan("alone.json"), (arguments, ranks)
            pathlib.Path("plan.json").unlink()


@thorough
def test_compare_shows_one_table():
    arguments = "compare", STREAM[0], *PLATFORM, "--solver", "tabu,iterated_greedy", "--steps", "400000"
    alone = situ(*arguments)
    code, out, err = ran("-n", 2, SITU, *arguments)
    assert code == 0 and out.count("tabu") == alone.count("tabu"), (out, err)


@thorough
def test_with_a_limit_of_time_all_end_by_then():
    code, out, err = ran("-n", 2, SITU, "place", "builtin:randwire-ws", *PLATFORM, "--time-limit", "2", "-o", "plan.json")
    assert code == 0 and len(re.findall(r"best single(?! \()", out)) == 1, err
    situ("check", "plan.json")


@thorough
def test_ranks_with_other_models_are_refused():
    code, out, err = ran("-n", 1, SITU, "place", *STREAM, ":", "-n", 1, SITU, "place", *CALLS)
    assert code == 2 and out == "", (code, out)
    assert all("rank 1 has a different model, platform or options from rank 0" in line for line in own_lines(err)), err


# What one rank has that the other has not, by the problem that may have it.
NET = "builtin:layered?operators=12"
OTHERWISE = {
    "stream": ["--contention none", "--overlap none", "--copies 2", "--max-period 90000", "--unused gpu1", "--fix pins.json",
               "--granularity operator", "--not Relu=gpu", "--reserve gpu0=1GiB", "--rules rules.json", "--efficiency 0.5",
               "--fusion none", "--cost-engine onnxruntime", "--precision f16", "--training", "--seed 1",
               "--steps 301", "--solver tabu", "--tolerance 50", "--min-gain 50", "--uncertainty 50", "--robust",
               "--max-parts 1", "--min-part 5", "--cost-table times.csv"],
    "pipeline": ["--free", "--communication host-staged", "--async-copies", "--replicate", "--in-flight 5"],
    "training": ["--schedule gpipe"],
    "calls": ["--calls 1"],
    "limited": ["--max-latency 90000"],
    "llm": ["--max-ttft 500", "--min-speed 2", "--batch 2", "--prompt 9", "--generate 9", "--context 99", "--kv-type q8_0", "--draft 2",
            "--write llama.cpp=f.txt"],
}
POSED = {"stream": [NET], "pipeline": [NET, "--objective", "throughput"],
         "training": [NET, "--training", "--objective", "throughput"], "calls": [NET, "--execution", "calls"],
         "limited": [NET, "--max-latency", "80000"], "llm": ["m.gguf"]}


def test_no_option_may_differ_between_ranks():
    llm_files.write("m.gguf", *llm_files.dense("llama", 4, 256, 8, 4, 512, 1000, kind="Q8_0", out_kind="Q8_0"))
    pathlib.Path("rules.json").write_text('{"situ_rules": 1, "operators": [{"kind": "MatMul", "not_on": "gpu1"}]}')
    situ("costs", NET, *PLATFORM, "--efficiency", "0.3", "-o", "times.csv")
    first = pathlib.Path("times.csv").read_text().splitlines()[1].split(",")[0]
    pathlib.Path("pins.json").write_text(json.dumps({first: "cpu"}))
    rows = [(posed, option) for posed, options in OTHERWISE.items() for option in options]
    for posed, option in rows if SHARE >= 100 else rows[::24]:
        same = ["place", *POSED[posed], *PLATFORM, *([] if "steps" in option else ["--steps", "300"])]
        code, out, err = ran("-n", 1, SITU, *same, *(["--steps", "300"] if "steps" in option else []), ":", "-n", 1, SITU,
                             *same, *option.split())
        assert code == 2 and out == "", (option, code, out, err)
        assert "rank 1 has a different model, platform or options from rank 0" in err, (option, err)


def test_a_plan_for_another_tool_is_found_by_all_ranks():
    llm_files.write("m.gguf", *llm_files.dense("llama", 4, 256, 8, 4, 512, 1000, kind="Q8_0", out_kind="Q8_0"))
    code, out, err = ran("-n", 2, SITU, "place", "m.gguf", *PLATFORM, "--write", "llama.cpp=flags.txt", "--steps", "300")
    assert code == 0 and "flags.txt" in out, (out, err)
    assert "-ngl" in pathlib.Path("flags.txt").read_text()


def test_plans_are_measured_in_one_process():
    code, _, err = ran("-n", 2, SITU, "place", "model.onnx", *PLATFORM, "--measure", "2")
    assert code == 2 and "without mpirun" in err, err


def killed(number, *options):
    """Rank 1 of 3 gets a signal in the middle of a search that is limited by steps."""
    arguments = "builtin:inception-v3", *PLATFORM, "--steps", "400000", "--tolerance", "0", "--min-gain", "0"
    situ("place", *arguments, "-o", "alone.json")
    with begun(*options, "-n", 3, SITU, "place", *arguments, "-o", "plan.json") as process:
        while len(ranks_of(SITU)) < 3:
            time.sleep(0.02)
            assert process.poll() is None, process.communicate()
        time.sleep(1.5)
        os.kill(ranks_of(SITU)[1][0], number)
        _, err = process.communicate(timeout=800)
    return process.returncode, err


@thorough
def test_where_mpirun_goes_on_a_killed_rank_costs_time_only():
    code, err = killed(signal.SIGKILL, "--mca", "orte_enable_recovery", "1")
    assert code == 0 and own_lines(err) == ["situ: 1 of 3 ranks was lost; the others continued"], err
    assert plan("plan.json") == plan("alone.json")


@thorough
def test_where_mpirun_stops_all_the_first_rank_keeps_the_best_plan_so_far():
    code, err = killed(signal.SIGKILL)
    assert code != 0 and len(own_lines(err)) <= 2, err
    if pathlib.Path("plan.json").exists():
        situ("check", "plan.json")


if __name__ == "__main__":
    sys.exit(main(globals()))
