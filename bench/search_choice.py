#!/usr/bin/env python3
"""What a policy could gain that chooses, from features of the graph, which randomised searches of streams get the steps, as CSV: each of the
18 streams of anytime.py with all of them, with one left out, with one alone; and, as a measure of luck, with all of them and other seeds.
Runs what the CSV does not hold yet and appends it there; bench/tables.py makes a table of it.

    search_choice.py SITU SHARED CSV [--steps N,...]
"""
import argparse
import csv
import math
import pathlib
import statistics

from figures import geometric_mean, records
from workloads import run

SEARCHES = ["regions", "splitting", "tabu", "iterated_greedy"]
CHOICES = {"": [], **{f"without {s}": [s] for s in SEARCHES}, **{f"only {s}": [x for x in SEARCHES if x != s] for s in SEARCHES}}
FEATURES = ["operators", "edges_per_operator", "parallelism", "width", "transfer"]
FIELDS = ["instance", "platform", "steps", "choice", "seed", "value_ns", "bound_ns", *FEATURES]


def features(situ, words):
    """Of the graph, before any search: size, density, work over critical path, operators in parallel, and bytes over work."""
    found, _, _ = run([situ, "inspect", *words, "--fusion", "none", "--json"])
    work_ns = found["work_ns"]
    return {"operators": found["operators"], "edges_per_operator": round(found["edges"] / found["operators"], 3),
            "parallelism": round(work_ns / max(1, found["critical_path"]["time_ns"]), 3), "width": found["width"],
            "transfer": round(found["total"]["output_bytes"] / max(1, work_ns), 3)}


def nearest(k, keys, known):
    """The three problems with other networks whose features, as logarithms in standard deviations, are nearest."""
    logs = {key: [math.log(max(1e-3, float(known[key][f]))) for f in FEATURES] for key in keys}
    scale = [statistics.pstdev([logs[key][i] for key in keys]) or 1 for i in range(len(FEATURES))]
    others = [key for key in keys if key[0] != k[0]]
    return sorted(others, key=lambda key: sum(((a - b) / s) ** 2 for a, b, s in zip(logs[key], logs[k], scale)))[:3]


def table(text):
    """Values over that of all searches with seed 0, geometric means over the streams."""
    rows = [["steps", "streams", "best of 9 choices by hindsight", "best of 9 seeds", "best choice on other networks",
             "best on the 3 nearest networks", *(c for c in CHOICES if c)]]
    listed = records(text)
    for steps in dict.fromkeys(r["steps"] for r in listed):
        own, seeds, known = {}, {}, {}
        for r in (r for r in listed if r["steps"] == steps):
            key, value = (r["instance"], r["platform"]), int(r["value_ns"])
            known[key] = r
            if r["seed"] == "0":
                own.setdefault(key, {})[r["choice"]] = value
            if r["choice"] == "":
                seeds.setdefault(key, []).append(value)
        ratio = {key: {c: v / of[""] for c, v in of.items()} for key, of in own.items()}

        def learned(teachers):
            return geometric_mean([of[min(CHOICES, key=lambda c: geometric_mean([ratio[o][c] for o in teachers(key)]))]
                                   for key, of in ratio.items()])
        cells = [geometric_mean([min(of.values()) for of in ratio.values()]),
                 geometric_mean([min(seeds[key]) / own[key][""] for key in ratio]),
                 learned(lambda key: [o for o in ratio if o[0] != key[0]]), learned(lambda key: nearest(key, list(ratio), known)),
                 *(geometric_mean([of[c] for of in ratio.values()]) for c in CHOICES if c)]
        rows.append([f"{int(steps):,}", str(len(ratio)), *(f"{x:.4f}" for x in cells)])
    return rows


def main():
    import anytime  # which tables need not know
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("situ")
    parser.add_argument("shared")
    parser.add_argument("csv", type=pathlib.Path)
    parser.add_argument("--steps", default="6000,60000")
    args = parser.parse_args()
    rows = list(csv.DictReader(args.csv.open())) if args.csv.exists() else []
    done = {tuple(r[f] for f in FIELDS[:5]) for r in rows}
    with args.csv.open("a", newline="") as out:
        writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
        if not rows:
            writer.writeheader()
        for steps in args.steps.split(","):
            for name, platform, words in anytime.instances(args.shared):
                known = features(args.situ, words)
                for choice, seed in [*((c, 0) for c in CHOICES), *(("", s) for s in range(1, len(CHOICES)))]:
                    if (name, platform, steps, choice, str(seed)) in done:
                        continue
                    solver = ",".join(["auto", *(f"-{s}" for s in CHOICES[choice])])
                    found, _, _ = run([args.situ, "place", *words, *anytime.FOUND, "--solver", solver, "--steps", steps,
                                       "--seed", str(seed), "--json"])
                    writer.writerow(dict(zip(FIELDS, [name, platform, steps, choice, seed, found["value_ns"], found["lower_bound_ns"],
                                                      *known.values()])))
                    out.flush()


if __name__ == "__main__":
    main()
