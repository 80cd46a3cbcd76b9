#!/usr/bin/env python3
"""Plans that the policy of gdp serves without training, as CSV. Runs what the CSV does not hold yet and appends it there.

    served.py SITU CSV --table single --data FOLDER [--files N]
    served.py SITU CSV --table zero_shot [--rows ROW,...]

Single: every built-in network and the N largest files of FOLDER that situ reads, each on eight platforms: value and best single device.
Zero_shot: training steps of families that the shipped policy never saw, of sizes that it never saw of families that it did see, and of
one network of 51,419 operators: the policy beside its yardsticks. bench/tables.py makes tables of both.
"""
import argparse
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from workloads import run

SHARE = pathlib.Path(__file__).resolve().parent.parent / "share/platforms"
PLATFORMS = ["cpu+2*v100-16g", "cpu+4*p100-16g", "2*v100-16g", "cpu+a100-80g+p100-16g", "hsdag.json", "two-unlike-gpus.json",
             "workstation.json", "four-raspberries.json"]
FOUND = ["--tolerance", "0", "--uncertainty", "0", "--min-gain", "0"]  # what is found, not what is worth it

# what share/policies/train.sh holds out, sizes of its families that it leaves out; number of P100
ZERO_SHOT = [
    ("held out", "wavenet?stacks=2&layers=6&batch=4", 3),
    ("held out", "amoebanet-d?batch=16&layers=12", 3),
    ("held out", "gnmt?layers=4&batch=32&steps=16", 4),
    ("held out", "moe?layers=3&hidden=1024&ffn=3584&vocab=8000&batch=4", 2),
    ("held out", "gpt2?batch=4&layers=4", 2),
    ("held out", "mobilenet-v2?batch=128", 2),
    ("trained families", "transformer-xl?layers=4&batch=8&segments=4", 4),
    ("trained families", "rnnlm?layers=4&batch=64&steps=16", 4),
    ("trained families", "bert-base?layers=8&batch=4", 2),
    ("trained families", "inception-v3?batch=64", 4),
    ("trained families", "randwire-er?batch=16&nodes=32&seed=7", 3),
    ("trained families", "layered?operators=1000&width=16&seed=5", 4),
    ("51,419 operators", "gnmt?layers=8&batch=64&steps=104", 8),
]
LARGEST = ZERO_SHOT[-1][1]
ROWS = {
    "single": ["--solver", "single"],
    "heft": ["--solver", "heft"],
    "layers": ["--solver", "layers", "--steps", "16"],
    "served": ["--solver", "gdp"],
    "untrained": ["--solver", "gdp", "--policy"],  # and a file
    "tuned": ["--solver", "gdp", "--tune", "50"],
    "auto": ["--steps", "6000", *FOUND],
}
SINGLE_FIELDS = ["model", "platform", "operators", "value_ns", "single_ns", "cpu_s"]
ZERO_SHOT_FIELDS = ["kind", "network", "gpus", "operators", "row", "value_ns", "single_ns", "steps", "cpu_s"]


def place(situ, model, *words):
    """What is printed and the seconds of CPU; None where there is no plan."""
    try:
        found, cpu_s, _ = run([situ, "place", model, *words, "--json"])
    except json.JSONDecodeError:
        return None
    return found, f"{cpu_s:.2f}"


def models_of(args):
    listed = subprocess.run([args.situ, "list", "models"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^ {2}(\S+) ", listed, re.MULTILINE)
    built_in = ["builtin:" + name for name in names if name != "name"]
    folders = [pathlib.Path(args.data) / f for f in ("onnx", "onnx-small", "openvino", "tensorflow")]
    files = sorted((f for folder in folders for f in folder.iterdir() if f.is_file()), key=lambda f: (-f.stat().st_size, f.name))
    readable = [str(f) for f in files if f.suffix in (".onnx", ".xml", ".json", ".pb") and place(args.situ, str(f), "--solver", "single")]
    return built_in + readable[:args.files]


def jobs_single(args, _):
    models = models_of(args)
    for platform in PLATFORMS:
        for model in models:
            at = str(SHARE / platform) if platform.endswith(".json") else platform
            yield ({"model": model if model.startswith("builtin:") else pathlib.Path(model).name, "platform": platform},
                   model, ["--platform", at, "--solver", "gdp", "--min-gain", "0", "--tolerance", "0"])


def untrained(args, folder):
    """A policy after one step of training, which is as good as none: what its plans are worth is not learned."""
    path = str(pathlib.Path(folder) / "untrained.policy")
    subprocess.run([args.situ, "learn", "gdp", "builtin:inception-v3", "--training", "--optimizer", "sgd", "--platform", "cpu+2*p100-16g", "--steps", "1", "-o", path],
                   check=True, capture_output=True)
    return path


def jobs_zero_shot(args, folder):
    policy = untrained(args, folder)
    for kind, network, gpus in ZERO_SHOT:
        for row in args.rows.split(",") if args.rows else ROWS:
            words = ["--time-limit", "30", *FOUND] if row == "auto" and network == LARGEST else ROWS[row]
            words = [*words, policy] if row == "untrained" else words
            yield ({"kind": kind, "network": network, "gpus": str(gpus), "row": row}, "builtin:" + network,
                   ["--training", "--optimizer", "sgd", "--platform", f"cpu+{gpus}*p100-16g", "--unused", "cpu", "--granularity", "operator", *words])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("situ")
    parser.add_argument("csv", type=pathlib.Path)
    parser.add_argument("--table", choices=["single", "zero_shot"], required=True)
    parser.add_argument("--data")
    parser.add_argument("--files", type=int, default=30)
    parser.add_argument("--rows")
    args = parser.parse_args()
    jobs, fields = (jobs_single, SINGLE_FIELDS) if args.table == "single" else (jobs_zero_shot, ZERO_SHOT_FIELDS)
    known = list(csv.DictReader(args.csv.open())) if args.csv.exists() else []
    with args.csv.open("a", newline="") as out, tempfile.TemporaryDirectory() as folder:
        writer = csv.DictWriter(out, fields, lineterminator="\n")
        if not known:
            writer.writeheader()
        for key, model, words in jobs(args, folder):
            if any(all(r[k] == v for k, v in key.items()) for r in known):
                continue
            placed = place(args.situ, model, *words)
            if not placed:
                print(f"no plan: {' '.join(key.values())}", file=sys.stderr)
                continue
            found, cpu_s = placed
            all_of = {"value_ns": found["value_ns"] or "", "single_ns": found["best_single_ns"] or "", "steps": found["steps"],
                      "operators": found["operators"], "cpu_s": cpu_s}
            writer.writerow({**{k: v for k, v in all_of.items() if k in fields}, **key})
            out.flush()


if __name__ == "__main__":
    main()
