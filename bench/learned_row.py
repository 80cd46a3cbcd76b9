#!/usr/bin/env python3
"""Whether the policy that ships helps the search: `auto` alone, and after a pass of `gdp` on the same steps, as CSV. The streams of
anytime.py, and graphs of over 10,000 operators. Runs what the CSV does not hold yet and appends it there; bench/tables.py makes a table
of it.

    learned_row.py SITU CSV --data FOLDER [--seeds N] [--steps N,...] [--rows ROW,...] [--kinds KIND,...]

FOLDER is that of the workloads. Limits are steps, not seconds, so that the figures are the same on a busy machine.
"""
import argparse
import csv
import json
import pathlib
import sys

import anytime
from workloads import run

LARGE = ["gnmt?layers=3&batch=64&steps=60", "layered?operators=20000&width=16", "transformer-xl?layers=24&batch=8&segments=6",
         "rnnlm?layers=8&batch=64&steps=60", "randwire-ws?batch=4&nodes=400&seed=6", "gnmt?layers=8&batch=64&steps=104"]
ROWS = {"auto": "auto", "gdp, then auto": "gdp,auto"}
FOUND = ["--tolerance", "0", "--uncertainty", "0", "--min-gain", "0"]  # what is found, not what is worth it
STEPS = {"18 streams": [1000, 3000, 10000], "over 10,000 operators": [100, 300, 1000]}
FIELDS = ["kind", "instance", "platform", "row", "steps", "seed", "value_ns", "single_ns", "bound_ns", "cpu_s"]


def instances(data):
    """Kind, name, platform (empty: that of the file), arguments."""
    for name, platform, words in anytime.instances(pathlib.Path(data).parent.parent):
        yield "18 streams", name, platform, [*words, "--fusion", "none"]
    for network in LARGE:
        yield ("over 10,000 operators", network, "cpu+4*p100-16g",
               ["builtin:" + network, "--training", "--optimizer", "sgd", "--platform", "cpu+4*p100-16g", "--unused", "cpu", "--granularity", "operator"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("situ")
    parser.add_argument("csv", type=pathlib.Path)
    parser.add_argument("--data", required=True)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--steps", help="only these, separated by commas")
    parser.add_argument("--rows", help="only these, separated by semicolons")
    parser.add_argument("--kinds", help="only these, separated by semicolons")
    args = parser.parse_args()
    rows = list(csv.DictReader(args.csv.open())) if args.csv.exists() else []
    done = {tuple(r[f] for f in FIELDS[1:6]) for r in rows}
    with args.csv.open("a", newline="") as out:
        writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
        if not rows:
            writer.writeheader()
        for seed in range(args.seeds):
            for kind, name, platform, words in instances(args.data):
                for steps in STEPS[kind] if not args.kinds or kind in args.kinds.split(";") else []:
                    for row, solver in ROWS.items():
                        key = (name, platform, row, str(steps), str(seed))
                        if (key in done or args.rows and row not in args.rows.split(";")
                                or args.steps and str(steps) not in args.steps.split(",")):
                            continue
                        try:
                            found, cpu_s, _ = run([args.situ, "place", *words, *FOUND, "--solver", solver, "--steps", str(steps),
                                                   "--seed", str(seed), "--json"])
                        except json.JSONDecodeError:
                            print(f"no plan: {name} {platform} {row}", file=sys.stderr)
                            continue
                        writer.writerow({**dict(zip(FIELDS[1:6], key)), "kind": kind, "value_ns": found["value_ns"],
                                         "single_ns": found["best_single_ns"], "bound_ns": found["lower_bound_ns"],
                                         "cpu_s": f"{cpu_s:.2f}"})
                        out.flush()


if __name__ == "__main__":
    main()
