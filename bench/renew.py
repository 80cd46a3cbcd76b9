#!/usr/bin/env python3
"""Measures a part of a table anew, a few minutes each, on a machine that runs nothing else: takes the old rows of the part out
of its CSV file, runs the program that made them, puts the new ones where the old ones stood, and says who measured when.

    renew.py SITU SHARED PART...
    renew.py --list

`bench/tables.py` then writes the pages. A part that fails or is cut short leaves its file as it was.
"""
import argparse
import csv
import datetime
import io
import os
import pathlib
import subprocess
import sys
import tempfile

from tables import BOUND_NAMES

HERE = pathlib.Path(__file__).resolve().parent
QUIET = ["chrt", "-r", "1"]  # for what a clock limits, where that is allowed
SIZES = {"1000": 1, "10000": 2, "100000": 3, "1000000": 8}  # minutes


def growth(family, size):
    return {"csv": "growth.csv", "old": lambda r: r["family"] == family and r["size"] == size, "minutes": SIZES[size],
            "run": lambda situ, shared, path: ["growth.py", situ, path, family, "--most", size], "continues": True}


def anytime(name):
    return {"csv": "anytime.csv", "old": lambda r: r["instance"] == name, "minutes": 5, "quiet": True,
            "run": lambda situ, shared, path: ["anytime.py", situ, shared, name]}


def first(name):
    return {"csv": "first_plans.csv", "old": lambda r: r["instance"] == name, "minutes": 1, "quiet": True,
            "run": lambda situ, shared, path: ["anytime.py", situ, shared, "--first", name]}


def peers(model):
    return {"csv": "peers.csv", "old": lambda r: r["model"] == model, "minutes": 3, "quiet": True,
            "run": lambda situ, shared, path: ["peers.py", "--only", model]}


def ablation(*names):
    return {"csv": "ablation.csv", "old": lambda r: r["left_out"] in names, "minutes": 10, "continues": True,
            "run": lambda situ, shared, path: ["ablation.py", situ, shared, path, "--only", ",".join(names)]}


NETWORKS = ["inception-v3", "transformer-xl", "randwire-ws", "amoebanet-d", "resnet50", "gnmt", "bert-base"]
PARTS = {
    **{f"growth-{family}-{size}": growth(family, size) for family in ("layered", "recurrent", "transformer") for size in SIZES},
    **{f"anytime-{name}": anytime(name) for name in [*NETWORKS, "OperatorGraphs/bert_l-6_inference"]},
    **{f"first-{name}": first(name) for name in NETWORKS},
    **{f"peers-{model}": peers(model) for model in ("inception-v3", "randwire-ws", "bert-base", "layered?operators=10000",
                                                   "gnmt?steps=400", "resnet50")},
    "ablation-bounds": ablation("bounds", *BOUND_NAMES),
    **{f"ablation-{name}": ablation(name) for name in ("slices", "regions", "free_search")},
    "servers": {"csv": "servers.csv", "old": lambda r: True, "minutes": 1,
                "run": lambda situ, shared, path: ["servers.py", situ]},
}


def merged(rows, old, new):
    """The rows, with the new ones in place of the first old one."""
    kept, at = [], None
    for row in rows:
        if not old(row):
            kept.append(row)
        elif at is None:
            at = len(kept)
    at = len(kept) if at is None else at
    return kept[:at] + new + kept[at:]


def table(columns, rows):
    text = io.StringIO()
    out = csv.DictWriter(text, columns, lineterminator="\n")
    out.writeheader()
    out.writerows(rows)
    return text.getvalue()


def renew(name, part, situ, shared):
    path = HERE / part["csv"]
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        columns, rows = reader.fieldnames, list(reader)
    kept = [row for row in rows if not part["old"](row)]
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / part["csv"]
        made.write_text(table(columns, kept) if part.get("continues") else "", encoding="utf-8")
        command = [sys.executable, *part["run"](situ, shared, str(made))]
        command[1] = str(HERE / command[1])
        out = subprocess.DEVNULL if part.get("continues") else made.open("w", encoding="utf-8")
        if part.get("quiet") and subprocess.run([*QUIET, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            command = [*QUIET, *command]
        if subprocess.run(command, stdout=out, check=False).returncode != 0:
            sys.exit(f"{name}: {' '.join(command)} failed")
        with made.open(newline="", encoding="utf-8") as file:
            new = [row for row in csv.DictReader(file) if part["old"](row)]
    if not new:
        sys.exit(f"{name}: no rows were made")
    path.write_text(table(columns, merged(rows, part["old"], new)), encoding="utf-8")
    commit = subprocess.run(["git", "-C", str(HERE), "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    print(f"{name}: {len(new)} rows, commit {commit}, {datetime.date.today()}, {os.cpu_count()} cores, load "
          f"{os.getloadavg()[0]:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("situ", nargs="?")
    parser.add_argument("shared", nargs="?")
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    if args.list:
        return print(*(f"{name}: about {part['minutes']} min" for name, part in PARTS.items()), sep="\n")
    if unknown := [name for name in args.parts if name not in PARTS] or not args.parts and ["nothing"]:
        parser.error(f"parts are those of --list, not {', '.join(unknown)}")
    for name in args.parts:
        renew(name, PARTS[name], str(pathlib.Path(args.situ).resolve()), args.shared)
    return None


if __name__ == "__main__":
    main()
