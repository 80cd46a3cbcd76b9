#!/usr/bin/env python3
"""Plans that run on several machines, which are network namespaces, under Open MPI.

    test_ranks.py SITU [NAME...]
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from test_cli import SITU, Skip, environment, main, need, situ, some, thorough
from test_engines import engine, random_placement

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lab"))
from machines import MPIRUN, Machines, own_lines, ranks_of, under_mpirun, why_not


def needed():
    engine()
    if why_not():
        raise Skip(why_not())
    return need("data/onnx/light_squeezenet.onnx")


def placed(path, n, *more):
    """A plan on n servers of one device each, with cuts drawn at random."""
    random_placement(path, n, n)
    situ("place", path, "--platform", f"{n}*(cpu)@ethernet-1g", "--fusion", "none", "--fix", "pins.json", *more, "-o", "plan.json")


def begun(start, *options):
    """A run, stopped at the end; its temporary files lie in a folder of its own."""
    folder = pathlib.Path("tmp").resolve()
    folder.mkdir(exist_ok=True)
    return under_mpirun([*start, SITU, "run", "plan.json", *options], environment(TMPDIR=str(folder)))


def result(process):
    out, err = process.communicate(timeout=400)
    assert process.returncode == 0, err
    return json.loads(out)


def run_json(start, *options):
    with begun(start, *options, "--json") as process:
        return result(process)


def left():
    """Temporary files of situ; mpirun has its own beside them."""
    return [name for name in os.listdir("tmp") if re.fullmatch("situ-.{6}", name)]


def test_parts_on_two_and_three_machines_give_the_outputs_of_the_whole():
    """Without graph optimisation bit by bit."""
    path = needed()
    for n in some((2, 3), 1):
        placed(path, n, "--execution", "pipeline", "--free")
        with Machines(n) as machines:
            ran = run_json(machines.start, "--level", "none", "--items", "5", "--warm-up", "1")
        assert ran["max_relative_error"] == 0 and ran["outputs_equal"], ran["max_relative_error"]
        assert ran["ranks"] == n and ran["rank_of"] == {f"cpu{i}": i for i in range(n)}, ran["rank_of"]
        assert ran["kind"] == "period" and ran["measured_ns"] > 0 and ran["latency_ns"] > 0
        between = {(ran["rank_of"][ran["stages"][t["from_part"]]["device"]],
                    ran["rank_of"][ran["stages"][t["to_part"]]["device"]]) for t in ran["transfers"]}
        assert {(link["from_rank"], link["to_rank"]) for link in ran["links"]} == between, (ran["links"], between)
        assert all(transfer["measured_ns"] is None or transfer["measured_ns"] > 0 for transfer in ran["transfers"])


@thorough
def test_models_with_loops_streams_and_engines_run_on_two_machines():
    needed()
    for name in "gpt2_past mnist lstm_with_loop multistream_conv_add_relu".split():
        placed(need(f"data/onnx/{name}.onnx"), 2)
        with Machines(2) as machines:
            ran = run_json(machines.start, "--level", "none", "--items", "3", "--warm-up", "1")
        assert ran["max_relative_error"] == 0 and ran["kind"] == "latency", (name, ran["max_relative_error"])


def with_workers(process, n):
    """The processes of each rank once inputs pass: the rank and the worker of its device, of rank 0 also that of the
    whole model."""
    for _ in range(1200):
        if {rank: len(all_of_it) for rank, all_of_it in ranks_of(SITU).items()} == {0: 3, **{r: 2 for r in range(1, n)}}:
            time.sleep(0.5)
            return ranks_of(SITU)
        time.sleep(0.02)
        assert process.poll() is None, process.communicate()
    raise AssertionError(ranks_of(SITU))


def ended(process):
    """What a run printed that has to end by itself, with nothing left of it."""
    out, err = process.communicate(timeout=240)
    assert out == "" and process.returncode != 0, (process.returncode, out)
    for _ in range(50):  # mpirun may end before the last of the processes that it has killed
        if not ranks_of(SITU):
            break
        time.sleep(0.02)
    assert ranks_of(SITU) == {} and left() == [], (ranks_of(SITU), left())
    return own_lines(err)


def shared_memory(processes):
    """Files of shared memory that processes have mapped: those of a test beside this one are not among them."""
    maps = "".join(pathlib.Path(f"/proc/{process}/maps").read_text() for process in processes)
    return {name for name in re.findall("/dev/shm/[^ \n]+$", maps, re.M) if os.path.exists(name)}


def hurt(n, rank, which, number, *options):
    """Sends a signal to a process of a rank in the middle of a run on n machines; the lines and the exit code."""
    placed(needed(), n)
    with Machines(n) as machines, begun(machines.start, "--items", "1000000", *options) as process:
        processes = with_workers(process, n)
        shared = shared_memory(sum(processes.values(), []))
        os.kill(processes[rank][which], number)
        lines = ended(process)
    assert not [name for name in shared if os.path.exists(name)], shared
    return lines, process.returncode


# On a busy machine mpirun, which waits for 1 s, may kill a rank before it has told.
STOPPED = "situ: rank {} was stopped; if another rank was lost, mpirun stops all ranks and names that one"


def test_a_rank_that_is_killed_ends_all_with_one_line_each():
    lines, _ = hurt(3, 1, 0, signal.SIGKILL)
    assert lines and sorted(set(lines)) == sorted(lines) and set(lines) <= {STOPPED.format(0), STOPPED.format(2)}, lines


@thorough
def test_a_worker_that_is_killed_is_the_error_of_all_ranks():
    lines, code = hurt(2, 1, -1, signal.SIGKILL)
    assert len(lines) == 2 and code == 8, (lines, code)
    assert all(re.fullmatch("situ: (rank 1: )?onnxruntime on cpu1: was killed by signal 9.*", line) for line in lines), lines


@thorough
def test_a_rank_that_hangs_is_named_by_the_others():
    lines, _ = hurt(3, 1, 0, signal.SIGSTOP, "--time-limit", "3")
    output = [line for line in lines if line != STOPPED.format(1)]  # rank 1 itself, where mpirun wakes it to stop it
    assert output and len(output) <= 2 and len(lines) <= 3, lines
    assert all(re.search("heard nothing from rank 1 for [36] s", line) for line in output), lines


def test_ranks_that_do_not_fit_the_plan_are_refused():
    """On one machine, without namespaces: what is wrong is seen before anything runs."""
    path = needed()
    placed(path, 2)
    local = [*MPIRUN, "--oversubscribe"]
    with begun([*local, "-n", "3"]) as process:
        lines = ended(process)
    assert process.returncode == 2 and len(lines) == 3, lines
    assert all("has 2 servers, each of which needs a rank, but mpirun started 3" in line for line in lines), lines
    pathlib.Path("plan.json").rename("other.json")
    situ("place", path, "--platform", "2*(cpu)", "--steps", "1", "-o", "plan.json")
    with begun([*local, "-n", "1", SITU, "run", "other.json", ":", "-n", "1"]) as process:
        lines = ended(process)
    assert process.returncode == 2 and len(lines) == 2, lines
    assert all("rank 1 has a different plan, model or options from rank 0" in line for line in lines), lines


def test_a_library_that_is_no_open_mpi_is_refused():
    path = needed()
    placed(path, 2)
    for library, message in (("libm.so.6", "is not Open MPI"), ("libnone.so", "cannot be loaded")):
        done = subprocess.run([SITU, "run", "plan.json"], capture_output=True, text=True,
                              env=environment(SITU_MPI=library, OMPI_COMM_WORLD_SIZE="2"))
        assert done.returncode == 8 and message in done.stderr, done.stderr


if __name__ == "__main__":
    sys.exit(main(globals()))
