#!/usr/bin/env python3
"""The network of gdp by situ and by PyTorch, forward and backward, on one core.

    nn_speed.py BUILD [OPERATORS...]

Runs BUILD/bench/nn_speed and the same network, on the same numbers, in PyTorch (Debian's python3-torch), one after the
other, and holds losses and gradients against each other. Prints CSV, a row for each size (default: 1000 50000): CPU seconds
of each, best of several, their ratio, and the peak of memory of each process.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"

TYPES = {"f": "float32", "i": "int32", "q": "int64", "?": "bool"}


def read(path):
    """Arrays by name; parameters are a list, in the order in which the network has them."""
    import numpy

    arrays, parameters = {}, []
    with open(path, "rb") as file:
        for line in iter(file.readline, b""):
            name, kind, rows, cols = line.decode().split()
            kind = numpy.dtype(TYPES[kind])
            shape = int(rows), int(cols)
            array = numpy.frombuffer(file.read(shape[0] * shape[1] * kind.itemsize), kind).reshape(shape).copy()
            if name == "parameter":
                parameters.append(array)
            else:
                arrays[name] = array
    return arrays, parameters


def network(torch, arrays, parameters, shape):
    """A function that gives the loss; the parameters as tensors."""
    F = torch.nn.functional
    p = [torch.tensor(x, requires_grad=True) for x in parameters]
    at = {name: torch.tensor(x) for name, x in arrays.items()}
    n, n_devices = at["slowness"].shape
    length, heads, rounds = shape["segment"], shape["heads"], shape["rounds"]
    width = 64
    n_segments = (n + length - 1) // length
    filled = n_segments * length

    class Side:
        """The neighbours of units on one side: edges from `item` to `to`."""

        def __init__(self, name):
            start = at[name + ".start"].flatten()
            self.item = at[name + ".item"].flatten().long()
            self.to = torch.repeat_interleave(torch.arange(n), start[1:] - start[:-1])
            self.count = (start[1:] - start[:-1]).clamp(min=1).unsqueeze(1)
            weight = at.get(name + ".weight")
            self.weight = None if weight is None else weight.reshape(-1, 1)

        def total(self, x):
            x = x[self.item]
            x = x if self.weight is None else x * self.weight
            return torch.zeros(n, x.shape[1]).index_add(0, self.to, x)

        def greatest(self, x):
            to = self.to.unsqueeze(1).expand(-1, x.shape[1])
            return torch.zeros(n, x.shape[1]).scatter_reduce(0, to, x[self.item], "amax", include_self=False)

    kinds, before, after = Side("kinds"), Side("before"), Side("after")
    # What a row of a segment may look at: in the first no rows before it, in the last none behind the end.
    rows = torch.arange(filled).reshape(n_segments, 1, length)
    looked = torch.cat([rows - length, rows], 2)
    hidden = torch.where((looked < 0) | (looked >= n), float("-inf"), 0.0).unsqueeze(1)

    def attention(q, k, v):
        def cut(x):
            x = F.pad(x, (0, 0, 0, filled - n)).reshape(n_segments, length, heads, width // heads)
            return x.transpose(1, 2)

        def windows(x):
            x = cut(x)
            return torch.cat([F.pad(x, (0, 0, 0, 0, 0, 0, 1, 0))[:-1], x], 2)

        scores = cut(q) @ windows(k).transpose(2, 3) / (width // heads) ** 0.5 + hidden
        seen = torch.softmax(scores, 3) @ windows(v)
        return seen.transpose(1, 2).reshape(filled, width)[:n]

    def loss():
        take = iter(p).__next__

        def dense(x, weight, bias):
            return torch.addmm(bias, x, weight)

        def norm(x, gain, shift):
            return F.layer_norm(x, (width,), gain.flatten(), shift.flatten(), 1e-5)

        table, weight, bias = take(), take(), take()
        x = dense(at["unit"], weight, bias) + (kinds.total(table) / kinds.count) @ take()
        for _ in range(2):
            own = dense(x, take(), take())
            asked_before = torch.sigmoid(dense(x, take(), take()))
            asked_after = torch.sigmoid(dense(x, take(), take()))
            heard = before.greatest(asked_before) @ take() + after.greatest(asked_after) @ take()
            x = norm(x + torch.relu(own + heard), take(), take())
        graph = x.mean(0, keepdim=True)
        for _ in range(2):
            z = norm(x * torch.sigmoid(graph @ take()), take(), take())
            q, k, v = (dense(z, take(), take()) for _ in range(3))
            x = x + dense(attention(q, k, v), take(), take())
            z = norm(x, take(), take())
            wide = torch.relu(dense(z, take(), take()))
            x = x + dense(wide, take(), take())
        x = norm(x, take(), take())
        device = dense(at["device"], take(), take())
        weight, bias = take(), take()
        device = dense(torch.relu(device + graph @ take()), weight, bias) + at["latent"] @ take()
        first = torch.where(at["allowed"], -take() * at["slowness"], -30.0) + x @ device.T / width**0.5
        agree_before, agree_after = take(), take()
        now = first
        for _ in range(rounds):
            chances = torch.softmax(now, 1)
            now = first + before.total(chances) * agree_before + after.total(chances) * agree_after
        chances = torch.log_softmax(now.masked_fill(~at["allowed"], float("-inf")), 1)
        return -chances.gather(1, at["chosen"].long()).mean()

    return loss, p


def by_torch(path, shape):
    """Seconds, loss, norm of the gradient, peak of memory of this process."""
    import resource
    import time

    import torch

    torch.set_num_threads(1)
    loss, p = network(torch, *read(path), shape)
    best, spent, k = float("inf"), 0.0, 0
    while k < 50 and spent < 10:
        for x in p:
            x.grad = None
        start = time.process_time()
        value = loss()
        value.backward()
        took = time.process_time() - start
        best = min(best, took) if k > 0 or took > 10 else best
        spent += took
        k += 1
    norm = float(torch.sqrt(sum((x.grad.double() ** 2).sum() for x in p)))
    return {"seconds": best, "loss": float(value), "gradient_norm": norm, "version": torch.__version__,
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def main(build, sizes):
    print("operators,situ s,PyTorch s,ratio,situ MB,PyTorch MB")
    for size in sizes:
        with tempfile.NamedTemporaryFile() as file:
            ours = json.loads(subprocess.run([build / "bench/nn_speed", size, file.name], check=True, capture_output=True).stdout)
            command = [sys.executable, __file__, "--torch", file.name, json.dumps(ours)]
            theirs = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        for what in ("loss", "gradient_norm"):
            if abs(ours[what] - theirs[what]) > 1e-3 * abs(ours[what]):
                sys.exit(f"nn_speed.py: the {what} of situ is {ours[what]}, that of PyTorch {theirs[what]}")
        print(f"{size},{ours['seconds']:.4f},{theirs['seconds']:.4f},{theirs['seconds'] / ours['seconds']:.2f},"
              f"{ours['peak_mb']:.0f},{theirs['peak_mb']:.0f}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 3 and sys.argv[1] == "--torch":
        print(json.dumps(by_torch(sys.argv[2], json.loads(sys.argv[3]))))
    elif len(sys.argv) > 1:
        main(pathlib.Path(sys.argv[1]), sys.argv[2:] or ["1000", "50000"])
    else:
        sys.exit(__doc__)
