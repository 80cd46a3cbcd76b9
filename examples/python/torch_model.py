"""A PyTorch module: placed, run by its plan, and as a device map. Both "devices" are the CPU of this machine."""

from __future__ import annotations

import torch
from torch import nn

import situ
import situ.torch

torch.manual_seed(0)
layer = nn.TransformerEncoderLayer(d_model=512, nhead=8, dim_feedforward=2048, batch_first=True)
model = nn.TransformerEncoder(layer, num_layers=4, enable_nested_tensor=False).eval()
x = torch.randn(8, 128, 512)

plan = situ.place(model, "cpu+2*t4-16g", example_inputs=(x,), objective="throughput", granularity="layer", steps=200)
print(plan)
print("device map  ", plan.to_device_map())
print("split points", list(situ.torch.split_points(plan)))

with torch.no_grad():
    expected = model(x)
found = situ.torch.run(plan, x, devices={"gpu0": "cpu", "gpu1": "cpu"})
print("largest difference from the module:", (found - expected).abs().max().item())
