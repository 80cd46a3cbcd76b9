#!/usr/bin/env python3
"""The benchmark of GDP and GO (Zhou et al., 2019 and 2020): training steps of unrolled networks on 2, 4 and 8 equal GPUs,
placed by hand, by partitioners, by learned policies and by search. Runs what the CSV does not hold yet and appends it there;
bench/tables.py makes tables of it.

    learned.py SITU CSV [--seeds N] [--networks N] [ROW...]

--seeds N: rows that draw at random are made with the seeds 0 to N - 1, and a line of the CSV is one of them. --networks N: only the N
with the fewest operators.
"""
import argparse
import csv
import json
import os
import pathlib
import re
import sys
import tempfile

from workloads import run

# title, network, GPUs; by the number of operators
INSTANCES = [
    ("WaveNet, 2 stacks, 18 layers", "wavenet?stacks=2&layers=9&batch=4", 2),
    ("Inception, batch 32", "inception-v3?batch=32", 2),
    ("Inception, batch 64", "inception-v3?batch=64", 2),
    ("Transformer-XL, 2 layers", "transformer-xl?layers=2&batch=8&segments=4", 2),
    ("WaveNet, 4 stacks, 36 layers", "wavenet?stacks=4&layers=9&batch=4", 4),
    ("Transformer-XL, 4 layers", "transformer-xl?layers=4&batch=8&segments=4", 4),
    ("AmoebaNet", "amoebanet-d?batch=16", 4),
    ("RNNLM, 2 layers", "rnnlm?layers=2&batch=64", 2),
    ("Transformer-XL, 8 layers", "transformer-xl?layers=8&batch=8&segments=4", 8),
    ("RNNLM, 4 layers", "rnnlm?layers=4&batch=64", 4),
    ("RNNLM, 8 layers", "rnnlm?layers=8&batch=64", 8),
    ("GNMT, 2 layers", "gnmt?layers=2&batch=64&steps=50", 2),
    ("GNMT, 4 layers", "gnmt?layers=4&batch=64&steps=50", 4),
    ("GNMT, 8 layers", "gnmt?layers=8&batch=64&steps=104", 8),
]

# Steps are evaluations of a placement. The paper's claim is that GDP needs 15 times fewer of them than HDP: gdp-100 gets a
# fifteenth of what hdp gets, gdp-one as many. Training steps of gdp-tuned take 16 evaluations each.
EVALUATIONS, FEW_EVALUATIONS, TUNE_STEPS = 1500, 100, 50
SEEDED = ["random", "cross-entropy", "hdp", "gdp-100", "gdp-one", "gdp-warm", "gdp-tuned"]
FOUND = ["--tolerance", "0", "--uncertainty", "0", "--min-gain", "0"]  # what is found, not what is worth it
ROWS = {
    "single": ["--solver", "single"],
    "expert": [],
    "metis": ["--solver", "metis"],
    "heft": ["--solver", "heft"],
    "random": ["--solver", "random", "--steps", str(EVALUATIONS)],
    "cross-entropy": ["--solver", "cross_entropy", "--steps", str(EVALUATIONS)],
    "hdp": ["--solver", "hdp", "--steps", str(EVALUATIONS)],
    "gdp-100": ["--solver", "gdp", "--policy", "none", "--steps", str(FEW_EVALUATIONS)],
    "gdp-one": ["--solver", "gdp", "--policy", "none", "--steps", str(EVALUATIONS)],
    "gdp-warm": ["--solver", "layers,gdp", "--policy", "none", "--steps", str(EVALUATIONS)],
    "gdp-zero": ["--solver", "gdp"],
    "gdp-tuned": ["--solver", "gdp", "--tune", str(TUNE_STEPS)],
    "auto-100": ["--steps", str(FEW_EVALUATIONS), *FOUND],
    "auto-1500": ["--steps", str(EVALUATIONS), *FOUND],
    "auto": ["--time-limit", "30", *FOUND],
}


def problem(network, gpus):
    return ["builtin:" + network, "--training", "--optimizer", "sgd", "--platform", f"cpu+{gpus}*p100-16g", "--unused", "cpu"]


def layer_of(name):
    found = re.search(r"layer(\d+)", name)
    return int(found.group(1)) if found else None


def by_layer(names, gpus):
    """One layer after the other on the GPUs in turn; what comes before the layers on the first, what comes after them on
    the last, an attention network with the first layer of the decoder (the layouts of the papers of these networks)."""
    n_layers = 1 + max(layer_of(n) for n in names if layer_of(n) is not None)
    first = ("embedding", "encoder.embedding", "decoder.embedding", "encoder.stack", "attention")
    place = {}
    for name in names:
        layer = layer_of(name)
        begins = name.startswith(first) or ".embed" in name or ".distances" in name
        place[name] = layer * gpus // n_layers if layer is not None else 0 if begins else gpus - 1
    return place


def by_stack(names, gpus):
    place = {}
    for name in names:
        stack = re.match(r"stack(\d+)", name)
        place[name] = int(stack.group(1)) if stack else 0 if name.startswith("causal") else gpus - 1
    return place


def by_depth(names, times, gpus):
    """Consecutive operators, an even part of all time on each GPU."""
    total, before, place = sum(times), 0, {}
    for name, time in zip(names, times):
        place[name] = min(gpus - 1, int((before + time / 2) * gpus / total))
        before += time
    return place


def expert(situ, network, gpus, folder):
    """A file that puts each forward operator where a person would; its gradient goes along."""
    path = os.path.join(folder, "single.json")
    forward = [a for a in problem(network, gpus) if a not in ("--training", "--optimizer", "sgd")]
    run([situ, "place", "--fusion", "none"] + forward + ["--solver", "single", "--json", "-o", path])
    rows = json.load(open(path))["operators"]
    names, times = [r[0] for r in rows], [r[3] - r[2] for r in rows]
    if network.startswith("wavenet"):
        place = by_stack(names, gpus)
    elif network.startswith(("inception", "amoebanet")):
        place = by_depth(names, times, gpus)
    else:
        place = by_layer(names, gpus)
    path = os.path.join(folder, "expert.json")
    json.dump({name: f"gpu{gpu}" for name, gpu in place.items()}, open(path, "w"))
    return path


def measure(situ, title, network, gpus, row, seed):
    with tempfile.TemporaryDirectory() as folder:
        arguments = problem(network, gpus) + ROWS[row] + ["--seed", str(seed)]
        if row == "expert":
            arguments += ["--fix", expert(situ, network, gpus, folder)]
        try:
            found, cpu_s, peak_mb = run([situ, "place", "--fusion", "none"] + arguments + ["--json"])
        except json.JSONDecodeError:
            return None
    return {"value_ns": found["value_ns"] or "", "bound_ns": found["lower_bound_ns"], "operators": found["operators"],
            "steps": found["steps"], "cpu_s": f"{cpu_s:.2f}", "peak_mb": f"{peak_mb:.0f}"}


# One policy for all networks of the same number of GPUs: a training step is 8 draws and 24 windows of one of them.
BATCH, STEP_OF_BATCH = "gdp-batch", 32


def batches(instances):
    for gpus in sorted({i[2] for i in instances}):
        yield [i for i in instances if i[2] == gpus]


def measure_batch(situ, batch, seed):
    """The best trial of each network of a batch."""
    steps = len(batch) * (EVALUATIONS // STEP_OF_BATCH)
    options = problem("", batch[0][2])[1:]
    with tempfile.TemporaryDirectory() as folder:
        log, policy = os.path.join(folder, "log"), os.path.join(folder, "policy")
        command = [situ, "learn", "gdp", "--fusion", "none", *("builtin:" + network for _, network, _ in batch), *options,
                   "--steps", str(steps), "--seed", str(seed), "-o", policy, "--json"]
        found, cpu_s, peak_mb = run(["sh", "-c", 'log=$1; shift; "$@" > "$log" && tail -n 1 "$log"', "learn", log, *command])
    return [{"value_ns": p["best_ns"], "bound_ns": 0, "operators": "", "steps": found["trials"] // len(batch),
             "cpu_s": f"{cpu_s / len(batch):.2f}", "peak_mb": f"{peak_mb:.0f}"} for p in found["problems"]]


FIELDS = ["title", "gpus", "operators", "row", "seed", "value_ns", "bound_ns", "steps", "cpu_s", "peak_mb"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("situ")
    parser.add_argument("csv", type=pathlib.Path)
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--networks", type=int, default=len(INSTANCES))
    args = parser.parse_intermixed_args()
    done = set()
    if args.csv.exists():
        done = {(r["title"], r["row"], int(r["seed"])) for r in csv.DictReader(open(args.csv))}
    instances = INSTANCES[:args.networks]
    with open(args.csv, "a", newline="") as out:
        writer = csv.DictWriter(out, FIELDS, extrasaction="ignore", lineterminator="\n")
        if not done:
            writer.writeheader()
        for batch in batches(instances) if not args.rows or BATCH in args.rows else []:
            for seed in range(args.seeds):
                if all((title, BATCH, seed) in done for title, _, _ in batch):
                    continue
                for (title, _, gpus), found in zip(batch, measure_batch(args.situ, batch, seed)):
                    writer.writerow({"title": title, "gpus": gpus, "row": BATCH, "seed": seed, **found})
                out.flush()
        for title, network, gpus in instances:
            for row in [r for r in args.rows or ROWS if r != BATCH]:
                for seed in range(args.seeds if row in SEEDED else 1):
                    if (title, row, seed) in done:
                        continue
                    found = measure(args.situ, title, network, gpus, row, seed)
                    if not found:
                        print(f"{title}: no plan of {row}", file=sys.stderr)
                        continue
                    writer.writerow({"title": title, "gpus": gpus, "row": row, "seed": seed, **found})
                    out.flush()


if __name__ == "__main__":
    main()
