#!/usr/bin/env python3
"""How fast latency comes near the best known, and what is proved when: built-in networks and published graphs as streams,
`auto` and the milp with a limit by the clock, the others to their end.

    anytime.py SITU SHARED [--limit S] [--milp-limit S] [--known CSV] [NAME...] > anytime.csv
    anytime.py SITU SHARED --first [NAME...] > first_plans.csv

Each row is one process. value_1s, bound_1s, value_10s, bound_10s: after that much time of the processor, reading and all;
value_ns, bound_ns: at its end. near_s: seconds of the processor to within 1 % of the best known value, empty where it does
not come so near. best_ns: the best of all rows of the instance, and of those of --known that no bound rules out. load: the
machine's average load of the last minute.

--first: the values of `auto` with limits by the clock from 10 ms on, reading apart, of the same streams, the published
pipelines, and networks of 2,000 and 50,000 operators; first_ms: when the first plan is there, to 10 ms.
"""
import csv
import math
import os
import resource
import subprocess
import sys
import tempfile
from argparse import ArgumentParser

import growth

NETWORKS = ["inception-v3", "transformer-xl", "randwire-ws", "amoebanet-d", "resnet50", "gnmt", "bert-base"]
PLATFORMS = ["cpu+2*v100-16g", "4*a100-40g"]
GRAPHS = ["LayerGraphs/gnmt_inference", "LayerGraphs/inceptionv3_inference", "LayerGraphs/resnet50_inference",
          "OperatorGraphs/bert_l-6_inference"]
SOLVERS = ["heft", "m_etf", "m_sct", "scotch", "metis", "milp", "auto"]
# What is found, not what is worth the trouble.
FOUND = ["--fusion", "none", "--granularity", "operator", "--tolerance", "0", "--min-gain", "0", "--uncertainty", "0"]
COLUMNS = ["instance", "platform", "solver", "cpu_s", "load", "near_s", "value_1s", "bound_1s", "value_10s", "bound_10s",
           "value_ns", "bound_ns", "best_ns"]


def instances(shared):
    """Name, platform (empty: that of the file), arguments."""
    for platform in PLATFORMS:
        for network in NETWORKS:
            yield network, platform, ["builtin:" + network, "--platform", platform]
    for graph in GRAPHS:
        yield graph, "", [f"{shared}/data/workloads/latency/{graph}.json", "--execution", "stream"]


FIRST_LIMITS = {"10ms": 0.01, "100ms": 0.1, "1s": 1, "10s": 10}


def first_instances(shared):
    yield from instances(shared)
    for row in csv.DictReader(open(f"{shared}/data/workloads/reference.csv")):
        if row["suite"] == "throughput-inputs":
            yield row["workload"], "", [f"{shared}/data/workloads/throughput/{row['workload']}.json"]
    for size in (2000, 50_000):
        for family, network in growth.FAMILIES.items():
            name, more = network(size)
            yield f"{family}, {size} operators", PLATFORMS[0], ["builtin:" + name, *more, "--platform", PLATFORMS[0]]


def measure_first(args):
    out = csv.DictWriter(sys.stdout, ["instance", "platform", "first_ms", *FIRST_LIMITS, "best_ns"], lineterminator="\n")
    out.writeheader()
    for name, platform, arguments in first_instances(args.shared):
        if args.names and name not in args.names:
            continue
        row = {"instance": name, "platform": platform}
        for column, limit in FIRST_LIMITS.items():
            found, path = place(args.situ, arguments, "auto", {"auto": limit})
            row[column] = found["value_ns"]
        seconds = [at for at, value, _ in path if value is not None]
        row["first_ms"] = f"{1000 * (seconds[0] - path[0][0]):.0f}"
        row["best_ns"] = min(row[column] for column in FIRST_LIMITS if row[column])
        out.writerow(row)
        sys.stdout.flush()


def number(text):
    return int(text) if text else None


def place(situ, arguments, solver, limits):
    """The row of one process, and its trajectory as (CPU seconds, value or None, bound)."""
    with tempfile.TemporaryDirectory() as folder:
        rows = folder + "/rows.csv"
        call = [situ, "place", *arguments, *FOUND, "--solver", solver, "--trajectory", rows]
        if solver in limits:
            call += ["--time-limit", str(limits[solver])]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(call, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode not in (0, 5):
            print(f"{arguments[0]}: {solver}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
            return None, []
        path = [(float(r["cpu_seconds"]), number(r["value_ns"]), number(r["lower_bound_ns"]))
                for r in csv.DictReader(open(rows))]
    row = {"solver": solver, "cpu_s": f"{after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:.2f}",
           "load": f"{os.getloadavg()[0]:.1f}"}
    for suffix, seconds in (("1s", 1), ("10s", 10), ("ns", math.inf)):
        reached = [(value, bound) for at, value, bound in path if at <= seconds]
        row["value_" + suffix], row["bound_" + suffix] = reached[-1] if reached else (None, None)
    return row, path


def measure(args):
    known = {}
    if args.known:
        for row in csv.DictReader(open(args.known)):
            known[row["instance"], row["platform"]] = number(row["best_ns"])
    out = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    out.writeheader()
    for name, platform, arguments in instances(args.shared):
        if args.names and name not in args.names:
            continue
        limits = {"auto": args.limit, "milp": args.milp_limit}
        found = [place(args.situ, arguments, solver, limits) for solver in SOLVERS]
        found = [(row, path) for row, path in found if row]
        bound = max((row["bound_ns"] or 0 for row, _ in found), default=0)
        values = [row["value_ns"] for row, _ in found] + [known.get((name, platform))]
        best = min((v for v in values if v is not None and v >= bound), default=None)
        for row, path in found:
            near = [at for at, value, _ in path if value is not None and best is not None and value <= 1.01 * best]
            out.writerow({**row, "instance": name, "platform": platform, "best_ns": best,
                          "near_s": f"{near[0]:.2f}" if near else None})
        sys.stdout.flush()


def main():
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("situ")
    parser.add_argument("shared")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--milp-limit", type=float, default=60)
    parser.add_argument("--known")
    parser.add_argument("--first", action="store_true")
    args = parser.parse_intermixed_args()
    (measure_first if args.first else measure)(args)


if __name__ == "__main__":
    main()
