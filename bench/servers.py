#!/usr/bin/env python3
"""A language model of 80 layers over four servers of two kinds, as CSV: values in ms, gaps to the best bound in brackets.

    bench/servers.py build/situ
"""
import argparse
import csv
import json
import subprocess
import sys

MODEL = "builtin:llama?layers=80&hidden=8192&heads=64&kv_heads=8&ffn=28672"
PLATFORM = "2*(cpu+8*a100-80g@nvlink)+2*(cpu+8*v100-32g@nvlink)"
THROUGHPUT = ["--objective", "throughput", "--communication"]
# what, options, solvers of the columns, and the best known of the others
CASES = [("period, link", [*THROUGHPUT, "link"], ["server_dp", "", "linear_dp"]),
         ("period, host-staged", [*THROUGHPUT, "host-staged"], ["server_dp", "", "linear_dp"]),
         ("one input", [], ["server_dp", "server_heft", "heft"])]
LIMIT_S = 3  # linear_dp goes on until it is stopped


def place(situ, solver, options):
    command = [situ, "place", MODEL, "--platform", PLATFORM, *options, "--solver", solver, "--time-limit", str(LIMIT_S), "--json"]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("situ")
    args = parser.parse_args()
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["ms", "bound", "server_dp", "server_heft", "others"])
    for title, options, solvers in CASES:
        found = [place(args.situ, solver, options) if solver else None for solver in solvers]
        best = max((f for f in found if f), key=lambda f: f["lower_bound_ns"])
        bound = best["lower_bound_ns"]
        cells = [f"{f['value_ns'] / 1e6:.4g} ({100 * (1 - bound / f['value_ns']):.2g} %)" if f else "" for f in found]
        out.writerow([title, f"{bound / 1e6:.4g} {best['bound']}", *cells[:2], f"{solvers[2]} {cells[2]}"])


if __name__ == "__main__":
    main()
