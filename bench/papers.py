#!/usr/bin/env python3
"""Repeats what docs/papers.md says about four papers, and prints each claim, its figure on the page and the figure of this run (for GDP
both of the networks of this run).

    bench/papers.py [exact|diviml|gdp|hsdag ...] [--data FOLDER] [--fetch] [--situ PROGRAM] [--out FOLDER] [--whole]
    bench/papers.py --list

Without a paper: all four. Minutes by default: one seed, and the smaller networks of GDP; --whole makes all rows of the page (hours).
Measuring goes on where an earlier run ended: CSV files in the output folder are kept. Inputs of exact are public, but not part of this
tree; inputs of hsdag only in part. --fetch clones them into FOLDER, by address and commit; where they are absent the script says what to
put where.
"""
import argparse
import csv
import hashlib
import io
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import claims
from workloads import run

BENCH = pathlib.Path(__file__).resolve().parent
ROOT = BENCH.parent
CLONES = {"dnn-partitioning": ("https://github.com/msr-fiddle/dnn-partitioning", "b207b6ad27a1407d321f1e028cea96d7f2c90e3e"),
          "HSDAG": ("https://github.com/hping666/HSDAG", "9d5caf7770cd50f975e014d19920873c112df095")}
WORKLOADS = """The workloads of the paper are public, but not part of this tree. --fetch clones them; or do so, and name the folder:
    git clone https://github.com/msr-fiddle/dnn-partitioning ../dnn-partitioning
    bench/papers.py exact --data ../dnn-partitioning
Figures on the page are of its commit b207b6ad."""
IR_SUMS = {"inception_v3_i8.xml": "19fe016fa6e28aad41223e1a4783c6b57f99259e1353a29793889a2f8ed47e89",
           "resnet_v1_50_i8.xml": "989fd764f7c5fd61726962034e703cf9c3a1a2ffeafc2b9e01983bfc76039133",
           "all_mpnet_base_v2.xml": "a2912e3dbd3426b77984992953998d8026a3d2377104093079e810b53fc51bf6"}
IR_FILES = """Without the OpenVINO IR files only the three built-in networks are run. Put these beside each other in FOLDER/openvino
and run again with --data FOLDER:
    inception_v3_i8.xml    github.com/openvinotoolkit/testdata, models/inception_v3
    resnet_v1_50_i8.xml    github.com/openvinotoolkit/testdata, models/resnet_v1_50
    all_mpnet_base_v2.xml  github.com/rixinwang/all-mpnet-bas-v2, openvino/openvino_model.xml"""
QUICK_GO = ["single", "expert", "heft", "hdp", "gdp-100", "gdp-one", "gdp-batch", "gdp-zero", "auto-1500"]
QUICK_NETWORKS = 9
QUICK_SECONDS, WHOLE_SECONDS = 5, 100  # of an integer program
HIGHS = "HiGHS was not found: no integer program is run. pip install highsbox, or name its library by SITU_HIGHS."
RELEASED = """Without the released code of HSDAG the row of its own runs has no figure. To run it (half an hour of a core; python3 with torch,
numpy and networkx): --data FOLDER --fetch --whole, which clones github.com/hping666/HSDAG into FOLDER."""


class Absent(Exception):
    """Inputs are not there; the text says which, and what to do."""


def call(args, name, *command, made="", append=False):
    """Runs a script of this folder; what it prints becomes the CSV file `name`, unless it writes the file itself."""
    path, env = args.out / name, {**os.environ, **({"SITU_SHARED": made} if made else {})}
    words = [str(BENCH / command[0]), *map(str, command[1:])]
    if words[0].endswith(".py"):
        words.insert(0, sys.executable)
    print("  " + " ".join([f"bench/{command[0]}", *map(str, command[1:])]), file=sys.stderr, flush=True)
    if append:
        subprocess.run(words, env=env, check=True)
    elif not path.exists():
        part = path.with_suffix(".part")
        with part.open("w") as out:
            subprocess.run(words, env=env, stdout=out, check=True)
        part.rename(path)


def fetch(folder):
    """Clones what is not there yet at the commits of the page; a commit is a checksum of all of its files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (address, commit) in CLONES.items():
        if (folder / name).exists():
            continue
        part = folder / (name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        for command in (["clone", "--quiet", "--no-checkout", address, part], ["-C", part, "checkout", "--quiet", commit]):
            if subprocess.run(["git", *map(str, command)], check=False).returncode != 0:
                print(f"{address} at {commit} could not be fetched; put a clone of it at {folder / name}", file=sys.stderr)
                break
        else:
            part.rename(folder / name)


def check_files(folder):
    """Says which IR files are others than those of the page."""
    for name, known in IR_SUMS.items():
        if (folder / name).exists() and hashlib.sha256((folder / name).read_bytes()).hexdigest() != known:
            print(f"{folder / name} is not the file that the page was made with (sha256 {known})", file=sys.stderr)


def workloads_of(args):
    """A folder in which the workloads have the names that the scripts expect: of a clone of the public code, or of such a folder."""
    for folder in (args.data, args.data / "workloads", args.data / "dnn-partitioning"):
        for ending in ("-inputs", ""):
            found = {kind: folder / (kind + ending) for kind in ("throughput", "latency")}
            if not all(path.is_dir() for path in found.values()):
                continue
            made = args.out / "shared/data/workloads"
            made.mkdir(parents=True, exist_ok=True)
            for name, path in [*found.items(), ("human-experts", folder / "human-experts")]:
                (made / name).unlink(missing_ok=True)
                (made / name).symlink_to(path.resolve())
            return made
    raise Absent(WORKLOADS)


def proofs(args, folder):
    """Value, bound, seconds and memory of the proof for each workload, and of the GPipe objective where it trains."""
    path = args.out / "proofs.csv"
    if path.exists():
        return
    rows = []
    for file in sorted(folder.glob("throughput/*/*.json")):
        command = [args.situ, "place", str(file), "--objective", "throughput", "--fusion", "none", "--solver", "ideal_dp", "--json"]
        found, cpu_s, peak_mb = run(command)
        row = [f"{file.parent.name}/{file.stem}", found["value_ns"], found["lower_bound_ns"], f"{cpu_s:.3f}", f"{peak_mb:.0f}", "", ""]
        if file.stem.endswith("training"):
            found, _, _ = run([*command, "--schedule", "gpipe"])
            row[5:] = [found["value_ns"], found["lower_bound_ns"]]
        rows.append(row)
    with path.open("w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["workload", "value_ns", "bound_ns", "cpu_s", "peak_mb", "gpipe_ns", "gpipe_bound_ns"])
        writer.writerows(rows)


def has_highs(args):
    found, _, _ = run([args.situ, "place", "builtin:randwire-ws?stages=1&nodes=4", "--solver", "milp", "--fusion", "none",
                       "--steps", "100000", "--json"])
    return found["statistics"].get("milp.highs") == 1


def exact(args):
    folder = workloads_of(args)
    proofs(args, folder)
    call(args, "ledger.csv", "ledger.sh", args.build, made=str(args.out / "shared"))
    if has_highs(args):
        seconds = WHOLE_SECONDS if args.whole else QUICK_SECONDS
        call(args, "milp_published.csv", "milp.py", args.situ, args.out / "milp_published.csv", folder, "--seconds", seconds, append=True)
    else:
        print(HIGHS, file=sys.stderr)


def diviml(args):
    for name in ("latency", "throughput", "platforms", "memory"):
        call(args, f"splitting_{name}.csv", "splitting.py", args.situ, "--table", name)
    call(args, "servers.csv", "servers.py", args.situ)


def gdp(args):
    rows = ["--seeds", "5"] if args.whole else ["--networks", QUICK_NETWORKS, *QUICK_GO]
    call(args, "go.csv", "learned.py", args.situ, args.out / "go.csv", *rows, append=True)
    if args.whole:
        call(args, "gdp_parts.csv", "gdp_parts.py", args.situ, args.out / "gdp_parts.csv", append=True)
        call(args, "gdp_batch.csv", "gdp_batch.py", args.situ, args.out / "gdp_batch.csv", append=True)
        call(args, "served_zero_shot.csv", "served.py", args.situ, args.out / "served_zero_shot.csv", "--table", "zero_shot", append=True)


def hsdag(args):
    data = args.data / "openvino" if (args.data / "openvino").is_dir() else None
    files = ["--data", data] if data else []
    if data:
        check_files(data)
    seeds = ["--seeds", "5"] if args.whole else []
    call(args, "hsdag_values.csv", "hsdag.py", args.situ, args.out / "hsdag_values.csv", "--table", "values", *files, *seeds, append=True)
    call(args, "hsdag_tokens.csv", "hsdag.py", args.situ, args.out / "hsdag_tokens.csv", "--table", "values", *seeds,
         "builtin:bert-base?seq=8", append=True)
    if args.whole and (args.data / "HSDAG").is_dir():
        call(args, "hsdag_released.csv", "hsdag_released.py", args.data / "HSDAG", args.out / "hsdag_released.csv", *files,
             "--library", args.build / "libsitu.so", append=True)
    else:
        print(RELEASED, file=sys.stderr)
    if not data:
        print(IR_FILES, file=sys.stderr)
        return
    call(args, "hsdag_groups.csv", "hsdag.py", args.situ, args.out / "hsdag_groups.csv", "--table", "groups", *files, append=True)
    if args.whole:
        call(args, "hsdag_ablation.csv", "hsdag.py", args.situ, args.out / "hsdag_ablation.csv", "--table", "ablation", *files, *seeds,
             append=True)


STEPS = {"exact": exact, "diviml": diviml, "gdp": gdp, "hsdag": hsdag}


def read_from(*folders):
    """What is published by others is in this folder alone."""
    def read(name):
        for folder in folders:
            if (folder / name).exists():
                return (folder / name).read_text(encoding="utf-8")
        raise FileNotFoundError(name)

    return read


def published_only(name):
    if name.startswith("published_"):
        return (BENCH / name).read_text(encoding="utf-8")
    raise FileNotFoundError(name)


def of_the_same(text, other, column):
    """The rows of a CSV file whose column has a value that it has in the other, too."""
    kept = {row[column] for row in csv.DictReader(io.StringIO(other))}
    rows = [row for row in csv.DictReader(io.StringIO(text)) if row[column] in kept]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]) if rows else [column], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def report(paper, out):
    """Each claim with both figures, of the same networks of GDP. Returns how many verdicts hold with those of the page, but not with those
    of this run."""
    def fresh(name):
        return published_only(name) if name.startswith("published_") else read_from(out)(name)

    def shown(name):
        text = read_from(BENCH)(name)
        return of_the_same(text, fresh(name), "title") if name == "go.csv" else text

    page, now, lost = claims.Files(shown), claims.Files(fresh), 0
    for claim in claims.PAPERS[paper]:
        ours, holds = claims.cells(claim, now)
        holds = holds or not claims.cells(claim, page)[1]
        lost += not holds
        print(f"\n{claim.what}")
        for title, text in (("paper", f"{claim.paper} ({claim.known})"), ("page", claims.cells(claim, page)[0] or "-"),
                            ("now", ours or "not in this run"), ("verdict", claim.verdict + ("" if holds else "   DOES NOT HOLD NOW"))):
            print(textwrap.fill(text, 110, initial_indent=f"  {title:8}", subsequent_indent=" " * 10))
    return lost


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("papers", nargs="*", metavar="PAPER", help=", ".join(STEPS))
    parser.add_argument("--list", action="store_true", help="print claims and commands, and run nothing")
    parser.add_argument("--data", type=pathlib.Path, help="folder with the public inputs (default: shared/data beside the tree)")
    parser.add_argument("--fetch", action="store_true", help="clone the public inputs into that folder first")
    parser.add_argument("--situ", type=pathlib.Path, default=ROOT / "build/situ")
    parser.add_argument("--out", type=pathlib.Path, help="folder for CSV files (default: papers in the build folder)")
    parser.add_argument("--whole", action="store_true", help="all rows and seeds of the page, hours")
    args = parser.parse_args()
    wanted = args.papers or list(STEPS)
    for paper in wanted:
        if paper not in STEPS:
            parser.error(f"there is no paper {paper}; there are {', '.join(STEPS)}")
    if args.list:
        for paper in wanted:
            print(f"{paper}:")
            for claim in claims.PAPERS[paper]:
                print(f"  {claim.what}\n      {claim.command}")
        return 0
    if not args.situ.exists():
        parser.error(f"{args.situ} is not there; build it (make), or name the program with --situ")
    args.situ = args.situ.resolve()
    args.build = args.situ.parent
    args.out = (args.out or args.build / "papers").resolve()
    args.data = (args.data or pathlib.Path(os.environ.get("SITU_SHARED", ROOT / "../shared")) / "data").resolve()
    args.out.mkdir(parents=True, exist_ok=True)
    if args.fetch:
        fetch(args.data)
    lost = absent = 0
    for paper in wanted:
        print(f"{paper}: measuring", file=sys.stderr, flush=True)
        try:
            STEPS[paper](args)
        except Absent as error:
            print(f"{paper}: {error}", file=sys.stderr)
            absent += 1
            continue
        print(f"\n=== {paper} ===")
        lost += report(paper, args.out)
    if lost:
        print(f"\n{lost} verdicts do not hold with the figures of this run")
    return 1 if lost or absent and len(wanted) == absent else 0


if __name__ == "__main__":
    sys.exit(main())
