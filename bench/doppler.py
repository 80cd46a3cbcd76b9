#!/usr/bin/env python3
"""The public graphs of DOPPLER (ICLR 2026) on equal devices, as its simulator counts: CSV.

    bench/doppler.py build/situ FOLDER [--seconds N] > bench/doppler.csv

FOLDER is a clone of github.com/xinyuyao/Doppler. Its simulator has K equal devices, a time for each operator, a time for each operator
whose result goes to another device, and no contention: that is a platform with a link between each two, and bytes in place of time. Times
are in its unit (its numbers / 1e10). `path` is its longest path of operators, `work` all work / K.
"""
import argparse
import csv
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

GRAPHS = [("chain_mm_112nodes", 4), ("ffnn_192nodes", 4), ("transformer_block_215nodes", 4), ("full_transformer_layer_261nodes", 4),
          ("8gpu_transformer_block", 8), ("8gpu_full_transformer", 8)]
UNIT = 10 ** 5  # its units in a nanosecond of ours


def numbers(line):
    return [int(x) for x in re.findall(r"\d+", line)]


def write(folder, path, k):
    """The files of model, times and platform."""
    lines = path.read_text().splitlines()
    n = numbers(lines[0])[0] - len(numbers(lines[1]))
    sources, targets = numbers(lines[2]), numbers(lines[3])
    costs = [numbers(lines[4 + v])[:2] for v in range(n)]
    readers = {}
    for a, b in zip(sources, targets):
        readers.setdefault(a, dict())[b] = None
    graph = {"situ_graph": 1, "name": path.stem, "operators": [{"name": f"n{v}"} for v in range(n)],
             "tensors": [{"from": f"n{a}", "to": [f"n{b}" for b in to], "bytes": costs[a][1] // UNIT} for a, to in readers.items()]}
    times = {"situ_costs": 1, "unit": "ns", "operators": {f"n{v}": {"v100-16g": costs[v][0] // UNIT} for v in range(n)}}
    devices = [{"name": "cpu", "base": "cpu"}] + [{"name": f"gpu{d}", "base": "v100-16g", "memory_gb": 1000000} for d in range(k)]
    links = [{"from": f"gpu{a}", "to": f"gpu{b}", "bytes_per_s": 10 ** 9, "latency_ns": 0} for a, b in itertools.combinations(range(k), 2)]
    platform = {"situ_platform": 1, "name": f"{k} equal", "devices": devices,
                "links": links + [{"from": "cpu", "to": "gpu0", "kind": "pcie3"}]}
    for name, what in (("graph", graph), ("times", times), ("platform", platform)):
        (folder / f"{name}.json").write_text(json.dumps(what))
    longest = [0] * n
    for v in reversed(range(n)):
        longest[v] = costs[v][0] // UNIT + max((longest[b] for b in readers.get(v, {})), default=0)
    return max(longest), sum(c[0] // UNIT for c in costs) / k, n


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("situ")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=20)
    args = parser.parse_args()
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["graph", "devices", "nodes", "path", "work", "heft", "best", "bound", "solver", "proof"])
    for name, k in GRAPHS:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            path, work, n = write(folder, args.folder / "compute_graph" / f"{name}.txt", k)
            call = [args.situ, "place", str(folder / "graph.json"), "--platform", str(folder / "platform.json"), "--cost-table",
                    str(folder / "times.json"), "--unused", "cpu", "--fusion", "none", "--contention", "none", "--tolerance", "0",
                    "--uncertainty", "0", "--min-gain", "0", "--json"]
            found = []
            for more in (["--solver", "heft"], ["--time-limit", str(args.seconds)]):
                done = subprocess.run([*call, *more], capture_output=True, text=True)
                if done.returncode != 0:
                    sys.exit(done.stderr)
                found.append(json.loads(done.stdout))
            heft, best = found
            scale = UNIT / 1e10
            out.writerow([name, k, n, *(f"{x * scale:.6g}" for x in (path, work, heft["value_ns"], best["value_ns"], best["lower_bound_ns"])),
                          best["solver"], best["bound"]])
            sys.stdout.flush()


if __name__ == "__main__":
    main()
