#!/usr/bin/env python3
"""Plans for a CPU and a GPU with too little memory, run by PyTorch: predicted and measured. Called by gpu_day.sh.

    gpu_day.py OUT.md [--seconds 300] [--small]

Six modules with random weights are profiled on both devices, placed with a share of their weights as the GPU's memory, so that
they must be split, run, and compared with the module on the CPU alone. Without a GPU the CPU stands for both. After the seconds
given no further module is begun."""
import argparse
import os
import pathlib
import sys
import time

import torch
from torch import nn

import situ
import situ.torch

SHARES = (0.6,)


class Branches(nn.Module):
    def __init__(self, width, n=4):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.branches = nn.ModuleList(nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)) for _ in range(n))

    def forward(self, x):
        x = self.first(x)
        return torch.cat([branch(x) for branch in self.branches], -1)


class Block(nn.Module):
    """A block of a decoder: attention and a gated feed-forward part."""

    def __init__(self, width):
        super().__init__()
        self.norm, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.gate, self.up = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, 3 * width, bias=False)
        self.down = nn.Linear(3 * width, width, bias=False)

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = (part.reshape(b, t, w // 64, 64).transpose(1, 2) for part in self.qkv(self.norm(x)).chunk(3, -1))
        x = x + self.out(nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, w))
        y = self.norm2(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


def convolutions(width):
    layers, at = [], 3
    for i in range(8):
        to = width << (i // 2)
        layers += [nn.Conv2d(at, to, 3, padding=1, stride=1 + i % 2), nn.BatchNorm2d(to), nn.ReLU()]
        at = to
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(at, 1000))


def models(small):
    k = 8 if small else 1
    wide, deep = 4096 // k, 2048 // k
    yield "perceptron", nn.Sequential(*[m for _ in range(12) for m in (nn.Linear(wide, wide), nn.ReLU())]), torch.randn(64 // k, wide)
    yield "branches", Branches(wide), torch.randn(64 // k, wide)
    yield "convolutions", convolutions(128 // k), torch.randn(1 if small else 8, 3, 224 // k, 224 // k)
    yield "encoder", nn.TransformerEncoder(nn.TransformerEncoderLayer(deep, deep // 64, 4 * deep, batch_first=True, dropout=0.0), 8,
                                           enable_nested_tensor=False), torch.randn(1, 256 // k, deep)
    yield "decoder", nn.Sequential(*[Block(deep) for _ in range(12)]), torch.randn(1, 256 // k, deep)
    yield "decoding", nn.Sequential(*[Block(deep) for _ in range(12)]), torch.randn(1, 1, deep)


def machine(gpu_bytes):
    p = situ.Platform("gpu day")
    p.add_device("cpu", **{"class": "cpu"}, host=True, memory_gb=64, peak_tflops={"f32": 1}, memory_gb_per_s=50)
    p.add_device("gpu0", **{"class": "gpu"}, memory_bytes=gpu_bytes, peak_tflops={"f32": 20}, memory_gb_per_s=1000)
    p.add_link("cpu", "gpu0", kind="pcie4")
    p.add_link("gpu0", "cpu", kind="pcie4")
    return p


def rows(gpu, threads, deadline, small):
    for name, module, x in models(small):
        if time.monotonic() > deadline:
            yield [name, "not begun: the time is over"] + [""] * 6
            continue
        module = module.eval()
        with torch.no_grad():
            profile = situ.torch.profile(module, (x,), {"cpu": "cpu", "gpu": gpu}, threads=threads, repeats=10)
            held = sum(p.numel() * p.element_size() for p in module.parameters())
            for share in SHARES:
                plan = situ.place(profile.graph, machine(int((share + 0.1) * held) + (1 << 20)), costs=profile,
                                  time_limit=6)
                if not plan:
                    yield [name, f"{share:.0%}", "no plan fits"] + [""] * 5
                    continue
                print(plan)
                m = plan.measure(devices={"cpu": "cpu", "gpu0": gpu}, threads=threads, repeats=10)
                print(m)
                on_gpu = sum(d == "gpu0" for d in plan.placement.values())
                yield [name, f"{share:.0%}", f"{on_gpu} of {len(plan.placement)}", f"{m['predicted_ns'] / 1e6:.2f}",
                       f"{m['measured_ns'] / 1e6:.2f}", f"{m['predicted_ns'] / m['measured_ns'] - 1:+.0%}",
                       f"{profile.whole_ns['cpu'] / 1e6:.2f}", f"{profile.whole_ns['gpu'] / 1e6:.2f}"]


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("out", type=pathlib.Path)
    ask.add_argument("--seconds", type=float, default=300)
    ask.add_argument("--small", action="store_true")
    o = ask.parse_args()
    torch.manual_seed(1)
    there = torch.cuda.is_available()
    gpu, card = ("cuda:0", torch.cuda.get_device_name(0)) if there else ("cpu", "no GPU: the CPU twice")
    threads = max(1, len(os.sched_getaffinity(0)) // (1 if there else 2))
    head = ["model", "memory, of the weights", "operators on the GPU", "predicted ms", "measured ms", "error", "CPU alone ms", "GPU alone ms"]
    o.out.write_text(f"PyTorch {torch.__version__}, {card}, {threads} threads of the CPU.\n\n| {' | '.join(head)} |\n|{'-|' * len(head)}\n")
    for row in rows(gpu, threads, time.monotonic() + o.seconds, o.small):
        with o.out.open("a") as f:
            f.write(f"| {' | '.join(row)} |\n")
        print(*row, sep="\t", flush=True)


if __name__ == "__main__":
    sys.exit(main())
