#!/usr/bin/env python3
"""The 16 published throughput workloads, each as a whole process: proof, ideals, pairs, time, memory, beside the figures of
the public code (reference.csv). Prints a Markdown table.

    workloads.py SITU SHARED
"""
import csv
import functools
import json
import math
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile


def usage_of(command, path):
    with open(path, "w") as out, open(os.devnull, "w") as quiet:
        child = subprocess.Popen(command, stdout=out, stderr=quiet)
        usage = os.wait4(child.pid, 0)[2]
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


@functools.cache
def starter():
    """A small process that starts commands: the peak of a process counts what its parent held when it began."""
    return multiprocessing.get_context("forkserver").Pool(1)


def run(command):
    """The JSON that the command prints, its seconds of CPU and its peak memory in MB."""
    with tempfile.NamedTemporaryFile() as out:
        cpu_s, peak_mb = starter().apply(usage_of, (command, out.name))
        return json.load(open(out.name)), cpu_s, peak_mb


def main():
    situ, shared = sys.argv[1], pathlib.Path(sys.argv[2]) / "data/workloads"
    rows = [r for r in csv.DictReader(open(shared / "reference.csv")) if r["suite"] == "throughput-inputs"]
    print("| workload | outcome | period ms | ideals | pairs | CPU s | peak MB | public: ideals | pairs | wall s | MB |")
    print("|-|-|-|-|-|-|-|-|-|-|-|")
    seconds, ratios = 0, []
    for row in rows:
        found, cpu_s, peak_mb = run([situ, "place", str(shared / "throughput" / (row["workload"] + ".json")),
                                     "--solver", "ideal_dp", "--json"])
        counts = found["statistics"]
        seconds += cpu_s
        public_s = float(row["dp_wall_s"] or row["loop_wall_s"])
        if public_s >= 1:
            ratios.append(public_s / cpu_s)
        public_wall = row["dp_wall_s"] or f"{row['loop_wall_s']} (cut off)"
        public_mb = f"{float(row['dp_rss_kb']) / 1024:.0f}" if row["dp_rss_kb"] else "-"
        cells = [row["workload"], found["outcome"], f"{found['value']:.6g}", counts.get("ideal_dp.ideals", 0),
                 counts.get("ideal_dp.pairs", 0), f"{cpu_s:.3f}", f"{peak_mb:.0f}", row["ideals"], row["pairs"],
                 public_wall, public_mb]
        print("| " + " | ".join(map(str, cells)) + " |")
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"\nAll together {seconds:.2f} s of CPU. Where the public code takes a second or more (on another machine: an "
          f"indication, not a measurement), the geometric mean of the ratios is {mean:.0f}.")


if __name__ == "__main__":
    main()
