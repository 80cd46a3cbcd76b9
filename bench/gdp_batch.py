#!/usr/bin/env python3
"""What GDP trained: one policy for many graphs, then fine-tuned on each, beside one policy for each, as CSV. Runs what the CSV does not
hold yet and appends it there; bench/tables.py makes a table of it.

    gdp_batch.py SITU CSV [--seeds N] [--gpus N ...] [--rows ROW;...]

All rows are `situ learn gdp` on the training steps of bench/learned.py, those of as many GPUs in one batch: nothing but the trials of the
policy, on 64 groups. A line is the best trial of one network with one seed, and how many there were, those of the batch included.
Fine-tuning goes on from the policy of the batch for 50 steps, 800 evaluations of the one network (GDP: fewer than 50 steps); `each, as
many` has as many as batch and fine-tuning together.
"""
import argparse
import csv
import pathlib
import tempfile

from learned import EVALUATIONS, INSTANCES, STEP_OF_BATCH, batches, problem
from workloads import run

STEP_OF_ONE, TUNE_STEPS = 16, 50
EACH, MORE, TUNED = "each", "each, as many", ", fine-tuned"
BATCHES = {"batch": [], "batch, no superposition": ["--variant", "without=superposition"],
           "batch, four segments": ["--variant", "segments=short"],
           "batch, four segments, memory still": ["--variant", "segments=short,memory=still"]}
FIELDS = ["title", "gpus", "row", "seed", "value_ns", "trials", "cpu_s"]


def learn(args, seed, networks, gpus, steps, policy, *options):
    """Trains one policy; the best trial of each network, all trials of each, seconds of each."""
    log = policy.with_suffix(".log")
    command = [args.situ, "learn", "gdp", "--fusion", "none", *("builtin:" + network for network in networks),
               *problem("", gpus)[1:], "--steps", str(steps), "--seed", str(seed), "-o", str(policy), "--json", *options]
    found, cpu_s, _ = run(["sh", "-c", 'log=$1; shift; "$@" > "$log" && tail -n 1 "$log"', "learn", str(log), *command])
    n = len(networks)
    return [p["best_ns"] for p in found["problems"]], found["trials"] // n, cpu_s / n


def rows_of(args, folder, batch, seed, wanted):
    """(network's number in the batch, row, value, trials, seconds)"""
    gpus, networks, policy = batch[0][2], [network for _, network, _ in batch], folder / "policy"
    per_network = EVALUATIONS // STEP_OF_BATCH
    tuned = TUNE_STEPS * STEP_OF_ONE
    for row, evaluations in ((EACH, EVALUATIONS), (MORE, per_network * STEP_OF_BATCH + tuned)):
        for i, network in enumerate(networks) if row in wanted else []:
            (value,), trials, cpu_s = learn(args, seed, [network], gpus, evaluations // STEP_OF_ONE, policy)
            yield i, row, value, trials, cpu_s
    for row, variant in BATCHES.items():
        if row not in wanted:
            continue
        values, trials, cpu_s = learn(args, seed, networks, gpus, per_network * len(networks), policy, *variant)
        yield from ((i, row, value, trials, cpu_s) for i, value in enumerate(values))
        for i, network in enumerate(networks):
            (value,), more, more_s = learn(args, seed, [network], gpus, TUNE_STEPS, folder / "tuned", "--from", str(policy), *variant)
            yield i, row + TUNED, min(value, values[i]), trials + more, cpu_s + more_s


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("situ")
    parser.add_argument("csv", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--gpus", type=int, nargs="*", default=[2, 4, 8])
    parser.add_argument("--rows", help="only these, separated by semicolons; a batch brings its fine-tuned row")
    args = parser.parse_args()
    begun = args.csv.exists()
    done = {(r["gpus"], r["row"], r["seed"]) for r in csv.DictReader(args.csv.open())} if begun else set()
    with args.csv.open("a", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        if not begun:
            writer.writerow(FIELDS)
        for seed in range(args.seeds):
            for batch in batches([i for i in INSTANCES if i[2] in args.gpus]):
                rows = args.rows.split(";") if args.rows else [EACH, MORE, *BATCHES]
                for row in [r for r in rows if (str(batch[0][2]), r, str(seed)) not in done]:
                    with tempfile.TemporaryDirectory() as folder:
                        made = list(rows_of(args, pathlib.Path(folder), batch, seed, [row]))
                    for i, name, value, trials, cpu_s in made:
                        writer.writerow([batch[i][0], batch[i][2], name, seed, value, trials, f"{cpu_s:.2f}"])
                    out.flush()


if __name__ == "__main__":
    main()
