#!/usr/bin/env python3
"""Plans for a CPU and a GPU with too little memory, run by PyTorch: predicted and measured.

    placed.py OUT.csv [--seconds 80] [--small]

Six modules with random weights are profiled on both devices, placed with a GPU memory of their activations and a share of
their weights, so that they must be split, run, and compared with the module on one device."""
import situ
import situ.torch
import torch
from common import GPU, THREADS, card, main
from torch import nn

HEAD = ["model", "memory, of the weights", "operators on the GPU", "predicted ms", "measured ms", "CPU alone ms", "GPU alone ms", "card"]
SHARE = 0.6


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


def measure(rows, name, module, x):
    module = module.eval()
    with torch.no_grad():
        profile = situ.torch.profile(module, (x,), {"cpu": "cpu", "gpu": GPU}, threads=THREADS, repeats=10)
        weights = sum(p.numel() * p.element_size() for p in module.parameters())
        whole = situ.place(profile.graph, machine(1 << 40), costs=profile, fix={op.name: "gpu0" for op in profile.graph})
        beside = max(d["memory_bytes"] for d in whole.report()["devices"]) - weights
        plan = situ.place(profile.graph, machine(int(SHARE * weights) + beside), costs=profile, time_limit=6)
        print(plan)
        m = plan.measure(devices={"cpu": "cpu", "gpu0": GPU}, threads=THREADS, repeats=10)
        print(m)
    on_gpu = sum(d == "gpu0" for d in plan.placement.values())
    rows.add(name, f"{SHARE:.0%}", f"{on_gpu} of {len(plan.placement)}", m["predicted_ns"] / 1e6, m["measured_ns"] / 1e6,
             profile.whole_ns["cpu"] / 1e6, profile.whole_ns["gpu"] / 1e6, card()[0])


if __name__ == "__main__":
    main(HEAD, models, measure, 80)
