#!/usr/bin/env python3
"""Wide graphs, whose lattice of ideals is far too large to list: value, bound, gap, ideals, pairs, time, memory of whole
processes with 60 seconds each, as CSV.

    wide.py SITU SHARED > wide.csv
"""
import csv
import json
import pathlib
import random
import sys
import tempfile

from workloads import run

STAGED = ["--objective", "throughput", "--communication", "host-staged"]
FOUR = ["--platform", "cpu+4*v100-16g"]


class Drawing:
    """A workload in the making: operators with a time on accelerators, ten times that on the host, and a transfer."""

    def __init__(self):
        self.nodes, self.edges, self.cost = [], [], []

    def add(self, time, transfer, *before):
        at = len(self.nodes)
        self.nodes.append({"id": at, "supportedOnFpga": 1, "cpuLatency": 10 * time, "fpgaLatency": time,
                           "isBackwardNode": 0, "colorClass": at, "size": 1})
        self.cost.append(transfer)
        self.edges += [{"sourceId": u, "destId": at, "cost": self.cost[u]} for u in before]
        return at

    def write(self, path, accelerators):
        json.dump({"maxSizePerFPGA": 1e12, "maxFPGAs": accelerators, "maxCPUs": 1, "nodes": self.nodes,
                   "edges": self.edges}, open(path, "w"))


def branches(path, n, length, transfer, accelerators):
    chance, draw = random.Random(1), Drawing()
    source = draw.add(1, transfer)
    ends = []
    for _ in range(n):
        at = source
        for _ in range(length):
            at = draw.add(chance.uniform(0.5, 1.5), chance.uniform(transfer / 5, transfer), at)
        ends.append(at)
    draw.add(1, transfer, *ends)
    draw.write(path, accelerators)


def experts(path, layers, n, transfer, accelerators):
    chance, draw = random.Random(1), Drawing()
    at = draw.add(1, transfer)
    for _ in range(layers):
        attention = draw.add(chance.uniform(2, 3), transfer, at)
        rest = draw.add(0.01, transfer, attention, at)
        gate = draw.add(0.02, transfer, rest)
        ends = []
        for _ in range(n):
            first = draw.add(chance.uniform(0.5, 1.5), chance.uniform(transfer / 2, transfer), gate, rest)
            ends.append(draw.add(chance.uniform(0.5, 1.5), chance.uniform(transfer / 2, transfer), first))
        at = draw.add(0.05, transfer, rest, *ends)
    draw.write(path, accelerators)


def main():
    situ, data = sys.argv[1], pathlib.Path(sys.argv[2]) / "data"
    with tempfile.TemporaryDirectory() as folder:
        drawn = {name: f"{folder}/{name}.json" for name in ("branches-8x20", "branches-40x5", "experts-6x16", "experts-8x8")}
        branches(drawn["branches-8x20"], 8, 20, 0.1, 4)
        branches(drawn["branches-40x5"], 40, 5, 0.3, 6)
        experts(drawn["experts-6x16"], 6, 16, 0.1, 4)
        experts(drawn["experts-8x8"], 8, 8, 2, 4)
        rows = [("latency/gnmt_inference", [str(data / "workloads/latency/LayerGraphs/gnmt_inference.json")] + STAGED[:2]),
                ("NASNet (profile)", [str(data / "profiles/pipedream_nasnetalarge.graph.txt")] + STAGED)]
        rows += [(name, [path]) for name, path in drawn.items()]
        rows += [(name, ["builtin:" + name] + FOUR + STAGED)
                 for name in ("moe?layers=4", "gnmt", "wavenet", "amoebanet-d", "randwire-ws")]
        out = csv.writer(sys.stdout, lineterminator="\n")
        out.writerow(["workload", "outcome", "period ms", "bound ms", "gap %", "ideals", "pairs", "CPU s", "peak MB"])
        for name, model in rows:
            found, cpu_s, peak_mb = run([situ, "place", *model, "--time-limit", "60", "--json"])
            value, bound, counts = found["value_ns"], found["lower_bound_ns"], found["statistics"]
            out.writerow([name, found["outcome"], f"{value / 1e6:.6g}", f"{bound / 1e6:.6g}",
                          f"{100 * (value - bound) / value:.2f}", counts.get("ideal_dp.ideals", 0),
                          counts.get("ideal_dp.pairs", 0), f"{cpu_s:.1f}", f"{peak_mb:.0f}"])
            sys.stdout.flush()


if __name__ == "__main__":
    main()
