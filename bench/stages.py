#!/usr/bin/env python3
"""Bounds of pipelines of k equal stages, as CSV: how large a fraction of the best period found is proved.

    bench/stages.py build/situ [--seconds N] [-k K ...] [NETWORK...]

One row for each network and k accelerators (V100, host-staged, nothing on the CPU): the best period found in N seconds, the certified
bound, and that of mere work: the time of one accelerator over k.
"""
import argparse
import csv
import json
import subprocess
import sys

NETWORKS = ["resnet50", "inception-v3", "vgg16", "mobilenet-v2", "amoebanet-d", "bert-base", "gpt2", "gnmt", "rnnlm", "transformer-xl", "wavenet",
            "randwire-ws", "randwire-er", "randwire-ba"]


def place(args, network, k, *more):
    call = [args.situ, "place", "builtin:" + network, "--platform", f"cpu+{k}*v100-16g", "--unused", "cpu", "--objective", "throughput",
            "--communication", "host-staged", "--json", *map(str, more)]
    done = subprocess.run(call, capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("situ")
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    parser.add_argument("-k", type=int, nargs="*", default=[4, 8, 16])
    parser.add_argument("--seconds", type=float, default=10)
    args = parser.parse_intermixed_args()
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["network", "k", "operators", "value_ns", "bound_ns", "work_ns", "solver", "bound"])
    for network in args.networks:
        for k in args.k:
            found = place(args, network, k, "--time-limit", args.seconds)
            if found:
                work = -(-found["best_single_ns"] // k) if found["best_single_ns"] else ""
                out.writerow([network, k, found["operators"], found["value_ns"], found["lower_bound_ns"], work, found["solver"],
                              found.get("bound", "")])
                sys.stdout.flush()


if __name__ == "__main__":
    main()
