#!/usr/bin/env python3
"""Memory of a training step on one GPU: what situ counts, and PyTorch's peak.

    training.py OUT.csv [--seconds 60] [--small]

The modules are those of tests/python/test_torch_memory.py, larger."""
import tempfile

import situ
import situ.torch
import test_torch_memory as modules
import torch
from common import CUDA, GPU, card, main

HEAD = ["model", "type", "optimizer", "activations", "situ_mib", "pytorch_mib", "step_ms", "card"]


def sizes(small):
    made = dict(WIDTH=256, HEADS=4, TOKENS=64, BATCH=2, VOCABULARY=1024, LAYERS=3)
    if not small:
        made = dict(WIDTH=1024, HEADS=16, TOKENS=512, BATCH=8, VOCABULARY=32000, LAYERS=12)
    for name, value in made.items():
        setattr(modules, name, value)


def cases(small):
    sizes(small)
    for name in ("gpt2", "llama", "mlp"):
        for kind in ("f32", "bf16"):
            for optimizer in ("sgd", "adam"):
                for recompute in (False, True):
                    if kind == "f32" or (optimizer == "sgd" and name == "gpt2"):
                        yield name, kind, optimizer, recompute


def step_of(module, inputs, optimizer):
    def step():
        optimizer.zero_grad(set_to_none=False)
        module(*inputs).backward()
        optimizer.step()

    return step


def measure(rows, name, kind, optimizer, recompute):
    build, made = modules.MODELS[name]
    cast = torch.bfloat16 if kind == "bf16" else torch.float32
    module, inputs = build(recompute).to(cast), made()
    inputs = tuple(x.to(cast) if x.is_floating_point() else x for x in inputs)
    title, row = card()
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/step.json"
        situ.torch.graph(module.eval(), inputs).save(path)
        plan = situ.place(path, platform=f"cpu+{row}", training=True, optimizer=optimizer, fusion="none", solver="single",
                          recompute="all" if recompute else "none")
    counted = max(device["memory_bytes"] for device in plan.report()["devices"])
    before = torch.cuda.memory_allocated() if CUDA else 0
    with torch.device(GPU):  # positions and rotations are made there
        module = module.train().to(GPU)
        inputs = tuple(x.to(GPU) for x in inputs)
        step = step_of(module, inputs, modules.OPTIMIZERS[optimizer](module.parameters(), 1e-3))
        step(), step()
        peak, ms = 0, 0.0
        if CUDA:
            torch.cuda.reset_peak_memory_stats()
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record(), step(), end.record()
            torch.cuda.synchronize()
            peak, ms = torch.cuda.max_memory_allocated() - before, begin.elapsed_time(end)
    rows.add(name, kind, optimizer, "recomputed" if recompute else "kept", counted / 2**20, peak / 2**20, ms, title)


if __name__ == "__main__":
    main(HEAD, cases, measure, 60)
