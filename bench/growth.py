#!/usr/bin/env python3
"""How time, memory and gap grow with the size of a graph: layered, unrolled recurrent and transformer networks of 10^3 to
10^6 operators, memory ample and tight, latency, throughput, and throughput without contiguity (free). Runs what the CSV does not hold yet and appends it there.

    growth.py SITU CSV [--most OPERATORS] [--seconds LIMIT] [FAMILY...]
    growth.py --fit CSV

Tight: all GPUs together have room for half of what one device holds at its peak. The time limit grows with
the square root of the size, from LIMIT at 10^3 operators to 30 times that at 10^6; CPU seconds and peak memory are those of the
whole process, from reading to the printed plan. A search uses what the limit allows, so the exponents are of another run,
first_cpu_s: reading, bounds, one construction (heft; single and m_topo for throughput) to its end, judge, printing; the
quickest of three runs. m_topo alone finds no contiguous plan at some sizes, where nothing would be judged and printed:
no fair point of a curve. --fit prints them, for
each family and kind, of CPU seconds and of peak memory over operators (least squares of logarithms, from 10^4 operators on:
below, the start of the process counts).
"""
import argparse
import csv
import json
import math
import pathlib

from workloads import run

PLATFORM, GPU_BYTES, N_GPUS = "cpu+2*v100-16g", 16_000_000_000, 2
SIZES = [1000, 10_000, 100_000, 1_000_000]
KINDS = [(memory, objective) for objective in ("latency", "throughput", "free") for memory in ("ample", "tight")]
FIRST = {"latency": "heft", "throughput": "single,m_topo", "free": "single,m_topo"}
OBJECTIVE = {"latency": ["--objective", "latency"], "throughput": ["--objective", "throughput"],
             "free": ["--objective", "throughput", "--free"]}
FIELDS = ["family", "size", "memory", "objective", "operators", "value_ns", "single_ns", "bound_ns", "solver", "bound",
          "limit_s", "seconds", "cpu_s", "peak_mb", "first_cpu_s", "on_gpus"]


def layered(n):
    return f"layered?operators={n}", []


def recurrent(n):
    """A training step of GNMT with 4 layers has about 270 operators for each step of its sentences."""
    return f"gnmt?layers=4&batch=8&hidden=256&vocab=1000&steps={max(2, n // 270)}", ["--training", "--optimizer", "sgd"]


def transformer(n):
    """A layer of a llama has 54 operators."""
    return f"llama?layers={max(2, n // 54)}&hidden=512&heads=8&kv_heads=8&ffn=1024&vocab=1000", []


FAMILIES = {"layered": layered, "recurrent": recurrent, "transformer": transformer}


def peak_bytes(situ, network, more, objective):
    """What one device holds at its peak, nearly all of it for good: weights, and outputs that stay."""
    found, _, _ = run([situ, "place", "builtin:" + network, *more, "--platform", "cpu", *OBJECTIVE[objective], "--solver",
                       "single", "--json"])
    return found["devices"][0]["memory_bytes"]


def measure(situ, family, size, memory, objective, limit):
    network, more = FAMILIES[family](size)
    arguments = ["builtin:" + network, *more, "--platform", PLATFORM, *OBJECTIVE[objective]]
    if memory == "tight":
        room = peak_bytes(situ, network, more, objective) // 2 // N_GPUS
        if room >= GPU_BYTES:
            return None
        arguments += ["--reserve", f"gpu={GPU_BYTES - room}"]
    first_s = min(run([situ, "place", *arguments, "--solver", FIRST[objective], "--json"])[1] for _ in range(3))
    found, cpu_s, peak_mb = run([situ, "place", *arguments, "--time-limit", f"{limit:g}", "--json"])
    return {"family": family, "size": size, "memory": memory, "objective": objective, "operators": found["operators"],
            "value_ns": found["value_ns"] or "", "single_ns": found["best_single_ns"] or "",
            "bound_ns": found["lower_bound_ns"], "solver": found["solver"], "bound": found["bound"], "limit_s": f"{limit:g}",
            "seconds": f"{found['seconds']:.2f}", "cpu_s": f"{cpu_s:.2f}", "peak_mb": f"{peak_mb:.0f}",
            "first_cpu_s": f"{first_s:.3f}",
            "on_gpus": sum(d["operators"] for d in found["devices"] if d["name"].startswith("gpu"))}


def exponent(points):
    """The slope of log y over log x; None of fewer than two points."""
    points = [(math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0]
    if len(points) < 2:
        return None
    mean_x, mean_y = (sum(p[k] for p in points) / len(points) for k in (0, 1))
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else None


def fit(rows):
    kinds = list(dict.fromkeys((r["family"], r["memory"], r["objective"]) for r in rows))
    for kind in kinds:
        of = [r for r in rows if (r["family"], r["memory"], r["objective"]) == kind and int(r["operators"]) >= 9000]
        cpu = exponent([(int(r["operators"]), float(r["first_cpu_s"])) for r in of])
        memory = exponent([(int(r["operators"]), float(r["peak_mb"])) for r in of])
        if cpu is not None:
            print(*kind, f"CPU n^{cpu:.2f}, memory n^{memory:.2f}, of {len(of)} sizes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("situ", nargs="?")
    parser.add_argument("csv", type=pathlib.Path)
    parser.add_argument("families", nargs="*", default=list(FAMILIES))
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--most", type=int, default=SIZES[-1])
    parser.add_argument("--seconds", type=float, default=1)
    args = parser.parse_intermixed_args()
    rows = list(csv.DictReader(open(args.csv))) if args.csv.exists() else []
    if args.fit:
        return fit(rows)
    held = {(r["family"], r["size"], r["memory"], r["objective"]) for r in rows}
    with open(args.csv, "a", newline="") as out:
        writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
        if not rows:
            writer.writeheader()
        for size in (s for s in SIZES if s <= args.most):
            for family in args.families:
                for memory, objective in KINDS:
                    if (family, str(size), memory, objective) in held:
                        continue
                    found = measure(args.situ, family, size, memory, objective, args.seconds * math.sqrt(size / 1000))
                    if found:
                        writer.writerow(found)
                        out.flush()
    return None


if __name__ == "__main__":
    main()
