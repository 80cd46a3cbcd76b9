#!/usr/bin/env python3
"""Races between threads, as helgrind of valgrind sees them: linear programs side by side, and bounds and searches of
every execution model on two threads.

    threads.py SITU LP_THREADS
"""
import pathlib
import shutil
import subprocess
import sys

SUPPRESSIONS = pathlib.Path(__file__).with_name("helgrind.supp")
NET = "builtin:layered?operators="
RUNS = [
    [NET + "30", "--steps", "2000"],
    [NET + "30", "--steps", "300", "--max-period", "5"],
    [NET + "60", "--objective", "throughput", "--free", "--steps", "300"],
    [NET + "24", "--objective", "throughput", "--replicate", "--steps", "500"],
    [NET + "20", "--execution", "calls", "--steps", "500"],
    [NET + "24", "--solver", "tabu,iterated_greedy,regions", "--steps", "500"],
    ["builtin:inception-v3", "--steps", "60"],
]


def races(*words):
    done = subprocess.run(["valgrind", "--tool=helgrind", "--error-exitcode=99", "--fair-sched=yes",
                           f"--suppressions={SUPPRESSIONS}", *words], capture_output=True, text=True, timeout=280)
    if done.returncode not in (0, 77):
        sys.exit(f"{' '.join(words)}\nexit code {done.returncode}\n{done.stderr[-6000:]}")
    return done.returncode


def main():
    tool, lp_threads = sys.argv[1:]
    if not shutil.which("valgrind"):
        print("there is no valgrind (tools/setup.sh check)")
        return 77
    without = races(lp_threads)
    for words in RUNS:
        races(tool, "place", *words, "--platform", "cpu+2*v100-16g", "--threads", "2")
    print(f"{len(RUNS)} searches on two threads, {'no' if without else '16'} linear programs side by side")
    return 0


if __name__ == "__main__":
    sys.exit(main())
