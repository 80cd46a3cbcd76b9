"""What the parts of gpu_day.sh share: the card, medians of times, rows that are written as they come."""
import argparse
import csv
import gc
import os
import shutil
import statistics
import subprocess
import sys
import time

import torch

CUDA = torch.cuda.is_available()
GPU = "cuda:0" if CUDA else "cpu"
THREADS = max(1, len(os.sched_getaffinity(0)) // (1 if CUDA else 2))


def card():
    """The name of the card, and what situ calls it; without one a card to predict for."""
    name = torch.cuda.get_device_name(0) if CUDA else "NVIDIA H100 80GB HBM3"
    return name, "h200-141g" if "H200" in name else "h100-80g-pcie" if "PCIe" in name else "h100-80g"


def scratch():
    """A folder with place for models, in memory where that has it."""
    there = os.path.isdir("/dev/shm") and shutil.disk_usage("/dev/shm").free > 12 << 30
    return "/dev/shm" if there else None


def wait():
    if CUDA:
        torch.cuda.synchronize()


def median_ms(call, repeats=15, warm_up=4):
    for _ in range(warm_up):
        call()
    wait()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        wait()
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times)


class Rows:
    """A CSV file whose rows are there as soon as they are known, until the time is over."""

    def __init__(self, path, head, seconds):
        self.file, self.until = open(path, "w", newline=""), time.monotonic() + seconds
        self.out = csv.writer(self.file, lineterminator="\n")
        self.add(*head)

    def add(self, *row):
        self.out.writerow([f"{x:.4g}" if isinstance(x, float) else x for x in row])
        self.file.flush()
        print(*row, sep="\t", flush=True)

    def over(self):
        return time.monotonic() > self.until


def each(rows, cases, measure):
    """A case that fails is named; it stops no other."""
    for case in cases:
        if rows.over():
            return print("the time is over", case[0], file=sys.stderr)
        try:
            measure(rows, *case)
        except Exception as error:  # noqa: BLE001  # of any library
            print(case[0], type(error).__name__, str(error)[:400], file=sys.stderr, flush=True)
        gc.collect()
        if CUDA:
            torch.cuda.empty_cache()


def situ(folder, *words):
    return subprocess.run([f"{folder}/situ", *words], capture_output=True, text=True)


def main(head, cases, measure, seconds):
    """OUT.csv [--seconds N] [--small]: measures each of cases(small)."""
    ask = argparse.ArgumentParser()
    ask.add_argument("out")
    ask.add_argument("--seconds", type=float, default=seconds)
    ask.add_argument("--small", action="store_true")
    o = ask.parse_args()
    torch.manual_seed(1)
    each(Rows(o.out, head, o.seconds), list(cases(o.small)), measure)
