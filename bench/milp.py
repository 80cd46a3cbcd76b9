#!/usr/bin/env python3
"""The integer programs of the exact-placement paper by an engine (solver milp), beside the dynamic program: appends to a CSV file.

    bench/milp.py build/situ OUT.csv WORKLOADS [--seconds N] [contiguous|gpipe|calls1 ...]

WORKLOADS holds the published inputs (throughput, latency). The engine starts without a plan but for those of single, m_topo and greedy,
from the certified bound (bound_ns), and is stopped after N seconds by the clock; rows that are there are not made again. Times are seconds of the processor. `ended` is 1
where the engine calls its value optimal, and `claimed` its bound: neither is a proof. The optimum is that of the exact solver, proved.
"""
import argparse
import csv
import pathlib

from workloads import run

STAGED = ["--objective", "throughput", "--fusion", "none"]
# inputs; options of both, the exact solver
PROGRAMS = {"contiguous": ("throughput/*/*.json", STAGED, "ideal_dp"),
            "gpipe": ("throughput/*/*training.json", [*STAGED, "--schedule", "gpipe"], "ideal_dp"),
            "calls1": ("latency/*/*.json", ["--calls", "1", "--fusion", "none"], "call_dp")}
TITLES = ["program", "workload", "optimum_ns", "exact_s", "bound_ns", "value_ns", "claimed_ns", "nodes", "ended", "cpu_s", "highs"]


def measure(args, program, file):
    _, options, exact = PROGRAMS[program]
    place = [args.situ, "place", str(file), *options, "--json", "--solver"]
    best, exact_s, _ = run([*place, exact])
    found, cpu_s, _ = run([*place, "milp", "--time-limit", str(args.seconds)])
    counts = found["statistics"]
    return [program, f"{file.parent.name}/{file.stem}", best["value_ns"] if best["value_ns"] == best["lower_bound_ns"] else "",
            f"{exact_s:.3f}", found["lower_bound_ns"], found["value_ns"], counts.get("milp.claimed_bound_ns", ""), counts.get("milp.nodes", ""),
            counts.get("milp.ended", ""), f"{cpu_s:.1f}", counts.get("milp.highs", "")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("situ")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("workloads", type=pathlib.Path)
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS), metavar="PROGRAM")
    parser.add_argument("--seconds", type=float, default=60)
    args = parser.parse_args()
    made = {(row["program"], row["workload"]) for row in csv.DictReader(args.out.open())} if args.out.exists() else set()
    with args.out.open("a", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        if not made:
            writer.writerow(TITLES)
        for program in args.programs:
            for file in sorted(args.workloads.glob(PROGRAMS[program][0])):
                if (program, f"{file.parent.name}/{file.stem}") not in made:
                    writer.writerow(measure(args, program, file))
                    out.flush()


if __name__ == "__main__":
    main()
