#!/usr/bin/env python3
"""What people see on a terminal of 80 columns: colours, widths, progress, and that they stopped it.

    test_terminal.py SITU [NAME...]
"""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

from test_cli import QUICK, SITU, SMALL, Skip, environment, let_it_find_a_plan, main, situ, situ_json, small_platform, thorough


def on_terminal(*arguments, columns=80, **more):
    """Runs the tool with a terminal of so many columns for stdout and stderr."""
    try:
        leader, follower = pty.openpty()
    except OSError as why:
        raise Skip(f"no terminal can be opened here: {why}") from why
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
    with subprocess.Popen([SITU, *arguments], stdout=follower, stderr=follower, env=environment(TERM="xterm", **more)) as run:
        os.close(follower)
        text = b""
        while True:
            try:
                ready, _, _ = select.select([leader], [], [], 60)
                piece = os.read(leader, 65536) if ready else b""
            except OSError:
                break
            if not piece:
                break
            text += piece
    os.close(leader)
    assert run.returncode == 0, text
    return text.decode()


def test_terminals_get_colours_unless_told_not_to():
    plain = ["place", SMALL, *QUICK]
    assert "\033[1m" in on_terminal(*plain)
    assert "\033[" not in on_terminal(*plain, NO_COLOR="1")


@thorough
def test_training_says_when_it_expects_to_end():
    text = on_terminal("learn", "gdp", "builtin:resnet50?image=32", "--platform", "2*p100-16g", "--steps", "100000",
                       "--time-limit", "1.5", "-o", "a.policy")
    left = [float(s) for s in re.findall(r" s, (\d+) s left  step \d+ of 100000  resnet50", text)]
    assert left and all(a <= 1 for a in left), text  # the time limit ends it, and it was told of after a second


def test_tables_fit_a_terminal_of_80_columns():
    calls = [("list", family) for family in
             ("solvers", "learners", "readers", "writers", "costs", "devices", "links", "models", "bounds", "commands")]
    calls += [("place", SMALL, *QUICK), ("inspect", "builtin:gnmt"), ("pareto", SMALL, *QUICK, "--points", "2"),
              ("compare", SMALL, *QUICK, "--solver", "single,iterated_greedy,tabu"),
              ("place", SMALL, "--copies", "2", "--max-latency", "1000", *QUICK)]
    for call in calls:
        text = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", on_terminal(*call))
        shown = [line.split("\r")[-1] for line in text.replace("\r\n", "\n").split("\n")]
        long = [line for line in shown if len(line) > 80]
        assert not long, (call, long)


def test_the_rows_of_a_plan_fit_a_narrow_terminal():
    """Bars give way. A row that the terminal wraps is no row."""
    for columns in (60, 66, 72):
        text = on_terminal("place", "builtin:bert-base", "--platform", "cpu+v100-16g+p100-16g", "--objective", "throughput", *QUICK,
                           columns=columns)
        lines = [line.split("\r")[-1] for line in re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text.replace("\r\n", "\n")).split("\n")]
        rows = [line for line in lines if " % " in line and "GB" in line or "of the period " in line]
        assert len(rows) >= 4 and all(len(line) <= columns for line in rows), (columns, rows)


def test_progress_shows_on_a_terminal_only():
    text = on_terminal("place", "builtin:inception-v3", "--platform", "cpu+2*v100-16g", "--time-limit", "1.2")
    assert re.search(r"\r\033\[K  1\.\d s  \w+  value ", text), repr(text[:400])


# ---- interruption ----


def best_plan_so_far_at(number):
    call = [SITU, "place", "builtin:inception-v3", "--platform", "cpu+2*v100-16g", "--time-limit", "3600", "--json"]
    heed = lambda: signal.signal(number, signal.SIG_DFL)  # nohup has SIGHUP ignored, which situ respects
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heed) as running:
        let_it_find_a_plan(call)
        start = time.monotonic()
        running.send_signal(number)
        out, err = running.communicate(timeout=240)  # of 3600 s; a busy machine may need a few
    if time.monotonic() - start < 0.01 and running.returncode == 0 and json.loads(out)["outcome"] == "optimal":
        raise Skip("solved before it could be interrupted")
    assert running.returncode == 0, err
    found = json.loads(out)
    assert found["value_ns"] > 0
    assert ("  interrupted: this is the best plan so far" in err) == (found["outcome"] == "feasible"), err


def test_ctrl_c_gives_the_best_plan_so_far():
    best_plan_so_far_at(signal.SIGINT)


@thorough
def test_sigterm_and_sighup_give_the_best_plan_so_far():
    best_plan_so_far_at(signal.SIGTERM)
    best_plan_so_far_at(signal.SIGHUP)


def test_ctrl_c_without_a_plan_ends_with_130():
    weights = situ_json("inspect", SMALL)["weight_bytes"]
    small_platform(weights // 2 + 200_000, weights // 2 + 200_000)  # too little for tensors, but that is hard to prove
    call = [SITU, "place", SMALL, "--platform", "small.json", "--unused", "cpu", "--time-limit", "3600", "--json"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        time.sleep(0.5)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=240)
    assert running.returncode == 130, (running.returncode, err)
    assert json.loads(out)["outcome"] == "cancelled"


@thorough
def test_those_who_stop_a_comparison_or_a_front_are_told_what_is_missing():
    for command, message in ("compare", "solvers were not run"), ("pareto", "interrupted"):
        call = [SITU, command, "builtin:inception-v3", "--platform", "cpu+v100-16g+p100-16g", "--time-limit", "3600", "--json"]
        with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()) as run:
            time.sleep(1.5)
            run.send_signal(signal.SIGINT)
            out, err = run.communicate(timeout=240)
        assert run.returncode == 0 and message in err, (command, run.returncode, err)
        assert json.loads(out)["model"] == "inception-v3"


if __name__ == "__main__":
    sys.exit(main(globals()))
