#!/usr/bin/env python3
"""The inputs of Piper (Tarnawski, Narayanan, Phanishayee, NeurIPS 2021): values and seconds of its own program and of `situ stages`, as CSV.

    git clone https://github.com/msr-fiddle/piper
    piper.py SITU piper > piper.csv

The repository is not part of this tree (MIT licence). Its program is compiled as it is, with a main of our own, which also computes the value
of situ's plan. Figures of docs/results/parallel.md are of its commit d7fc8cf. Rows are the settings of the paper: memory and number of
devices, each with everything allowed, without replicas, without splits and without recomputation. CPU seconds; --limit of them for each run of
its program. The models and their limits are the program's, not ours: times of resnet and gnmt are in the unit of its files.
"""
import argparse
import csv
import hashlib
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

SUMS = {"algo.cpp": "b880d02eed5419b896c8a2bdb03205d64803c8444a12125b6bcc1164a3fe760d", "inputs/bert32a100.json": "cc126436a4c238ec14cad466d176a178e9a9aad1e187f1d2a3cdb8b8d5ab1d1a", "inputs/gnmt.json": "69cf44d362a6d46e92c5f82786fadf0bf7c63d0dc01163c4c33e0ca3ef6977c3", "inputs/resnet.json": "5f7171c89adddcf4d1d2b6b521eaddfd173e70cd891a6390505016e1c6e11bdc"}
BANDWIDTH = 25 * 2**30
BERT = [(memory, k) for k in (8, 32, 64, 128, 512, 1024, 2048) for memory in (1, 2, 8, 80)]
GNMT = [(2.5, 2), (3.5, 2), (1.2, 4), (2.5, 4), (0.6, 8), (1.2, 8), (2.4, 8), (0.3, 16), (0.6, 16), (1.2, 16), (0.3, 32), (0.8, 32), (0.3, 64)]
RESNET = [(4, 8), (8, 8), (16, 8), (1.5, 16), (2, 16), (4, 16), (8, 16), (16, 16), (1.5, 32), (2, 32), (4, 32), (8, 32), (16, 32), (1, 64),
          (1.5, 64), (2, 64), (4, 64), (8, 64), (16, 64), (1, 128), (1.5, 128), (2, 128), (4, 128), (8, 128), (16, 128)]
CASES = [("bert32a100", 1920, BERT), ("resnet", 7680, RESNET), ("gnmt", 256, GNMT)]
COLUMNS = {"all": [], "no replicas": ["--no-replicas"], "no splits": ["--no-splits"], "no recomputation": ["--no-recompute"]}
MAIN = """
#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#define main main_of_the_paper
#include "algo.cpp"
#undef main
int main(int argc, char **argv) {
  json j, plan;
  ifstream(argv[1]) >> j;
  Instance x = j.get<Instance>();
  x.maxMemoryPerDevice = atof(argv[2]);
  x.maxDevices = atoi(argv[3]);
  x.bandwidth = atof(argv[4]);
  DATA_PARALLELISM_ALLOWED = argv[5][0] == '1';
  TENSOR_PARALLELISM_ALLOWED = argv[5][1] == '1';
  ACTIVATION_RECOMPUTATION_ALLOWED = argv[5][2] == '1';
  Graph g(x);
  Result r;
  if (argc < 7) {
    r = g.runDP();
  } else {
    ifstream(argv[6]) >> plan;
    for (auto &s : plan["stages"]) {
      r.stages.emplace_back();
      r.stages.back().tensorParallelDegree = s["split"];
      r.stages.back().dataParallelDegree = s["replicas"];
    }
    for (int v = 0; v < (int)plan["layers"].size(); v++) {
      ResultStage &s = r.stages[plan["layers"][v]["stage"].get<int>()];
      s.nodes.push_back(v);
      s.TMPCids[v] = plan["layers"][v]["variant"];
    }
  }
  double value = g.getTPSForResult(r);
  printf("%.12g\\n", value > INFTY / 2 ? -1.0 : value);
}
"""


def run(command, limit=None):
    """Its output and the CPU seconds; no output where it took too long."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    guard = (lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))) if limit else None
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, preexec_fn=guard)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("situ")
    arguments.add_argument("piper", type=pathlib.Path)
    arguments.add_argument("--limit", type=int, default=100, help="CPU seconds of a run of its program")
    arguments.add_argument("--networks", default="bert32a100,resnet,gnmt")
    arguments.add_argument("--devices", default="", help="only these numbers, separated by commas")
    args = arguments.parse_args()
    for name, expected in SUMS.items():
        found = hashlib.sha256((args.piper / name).read_bytes()).hexdigest()
        if found != expected:
            sys.exit(f"{name}: another version than that of commit d7fc8cf ({found})")
    rows = csv.DictWriter(sys.stdout, ["network", "memory_gib", "devices", "column", "piper", "piper_seconds", "situ", "situ_bound",
                                       "situ_by_piper", "situ_seconds", "checked"], lineterminator="\n")
    rows.writeheader()
    with tempfile.TemporaryDirectory() as folder:
        source, program, plan_file = (os.path.join(folder, name) for name in ("main.cpp", "piper", "plan.json"))
        pathlib.Path(source).write_text(MAIN)
        subprocess.run(["g++", "-O3", "-w", "-I", args.piper, source, "-o", program], check=True)
        for network, micro_batches, settings in CASES:
            path = str(args.piper / "inputs" / f"{network}.json")
            for memory, devices in settings if network in args.networks.split(",") else []:
                if args.devices and str(devices) not in args.devices.split(","):
                    continue
                for column, options in COLUMNS.items():
                    if column == "no splits" and network != "bert32a100":
                        continue
                    size, allowed = int(memory * 2**30), "".join("01"[name != column] for name in list(COLUMNS)[1:])
                    ours, situ_seconds = run([args.situ, "stages", path, "--devices", str(devices), "--memory", str(size), "--bandwidth",
                                              str(BANDWIDTH), "--micro-batches", str(micro_batches), "--json", "--time-limit", "1000", *options])
                    words = [program, path, str(size), str(devices), str(BANDWIDTH), allowed]
                    theirs, piper_seconds = run(words, args.limit)
                    pathlib.Path(plan_file).write_text(ours)
                    plan = json.loads(ours)
                    by_piper = run([*words, plan_file], args.limit)[0] if plan["stages"] else "-1"
                    rows.writerow({"network": network, "memory_gib": memory, "devices": devices, "column": column, "piper": theirs.strip(),
                                   "piper_seconds": round(piper_seconds, 2), "situ": plan["value_ns"], "situ_bound": plan["lower_bound_ns"],
                                   "situ_by_piper": by_piper.strip(), "situ_seconds": round(situ_seconds, 2),
                                   "checked": plan["bound_checked"]})
                    sys.stdout.flush()


if __name__ == "__main__":
    main()
