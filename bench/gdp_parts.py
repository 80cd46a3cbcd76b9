#!/usr/bin/env python3
"""What each part of gdp is worth: single changes, on three training steps that are in no table of results, as CSV. Runs what the CSV does
not hold yet and appends it there; bench/tables.py makes a table of it.

    gdp_parts.py SITU CSV [--seeds N] [--rows ROW;...]

A line is one run with one seed: the best of 1,500 trials and the best single device. Rows that train are runs of `situ learn`; those that
begin at a plan, and the one that they are compared with, are solvers, which go on from 64 groups to finer ones.
"""
import argparse
import csv
import os
import pathlib
import tempfile

from workloads import run

NETWORKS = ["transformer-xl?layers=3&batch=8&segments=3", "gnmt?layers=3&batch=64&steps=10", "inception-v3?batch=16"]
MACHINE = ["--training", "--optimizer", "sgd", "--platform", "cpu+3*p100-16g", "--unused", "cpu", "--fusion", "none"]
STEPS, EVALUATIONS = 94, 1500  # a step is 16 trials
LEARNED = {
    "as it is, 64 groups": [],
    "without attention": ["--variant", "without=attention"],
    "without superposition": ["--variant", "without=superposition"],
    "no groups": ["--variant", "groups=none"],
    "HEFT as teacher": ["--teacher", "heft"],
}
SOLVED = {"as a solver": "gdp", "as a solver, begun at layouts": "layers,gdp"}
FIELDS = ["network", "row", "seed", "value_ns", "single_ns", "trials", "cpu_s"]


def learned(situ, network, seed, options):
    with tempfile.TemporaryDirectory() as folder:
        log, policy = os.path.join(folder, "log"), os.path.join(folder, "policy")
        command = [situ, "learn", "gdp", "builtin:" + network, *MACHINE, *options, "--steps", str(STEPS), "--seed", str(seed),
                   "-o", policy, "--json"]
        found, cpu_s, _ = run(["sh", "-c", 'log=$1; shift; "$@" > "$log" && tail -n 1 "$log"', "learn", log, *command])
    return found["problems"][0]["best_ns"], found["trials"], cpu_s


def solved(situ, network, seed, solver):
    found, cpu_s, _ = run([situ, "place", "builtin:" + network, *MACHINE, "--solver", solver, "--policy", "none",
                           "--steps", str(EVALUATIONS), "--seed", str(seed), "--json"])
    return found["value_ns"], found["steps"], cpu_s


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("situ")
    parser.add_argument("csv", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", help="only these, separated by semicolons")
    args = parser.parse_args()
    done = set()
    if args.csv.exists():
        done = {(r["network"], r["row"], int(r["seed"])) for r in csv.DictReader(args.csv.open())}
    with args.csv.open("a", newline="") as out:
        writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
        if not done:
            writer.writeheader()
        for row in args.rows.split(";") if args.rows else [*LEARNED, *SOLVED, "HEFT"]:
            for network in NETWORKS:
                single, _, _ = run([args.situ, "place", "builtin:" + network, *MACHINE, "--solver", "heft", "--json"])
                for seed in range(1 if row == "HEFT" else args.seeds):
                    if (network, row, seed) in done:
                        continue
                    if row == "HEFT":
                        value, trials, cpu_s = single["value_ns"], single["steps"], 0
                    elif row in LEARNED:
                        value, trials, cpu_s = learned(args.situ, network, seed, LEARNED[row])
                    else:
                        value, trials, cpu_s = solved(args.situ, network, seed, SOLVED[row])
                    writer.writerow(dict(zip(FIELDS, [network, row, seed, value, single["best_single_ns"], trials, f"{cpu_s:.2f}"])))
                    out.flush()


if __name__ == "__main__":
    main()
