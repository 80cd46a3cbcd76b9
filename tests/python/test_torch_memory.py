"""Memory of training steps: what situ counts against what PyTorch allocates, for SGD, Adam and checkpointing, on one
device and in stages by 1F1B. Skipped where there is no PyTorch.

Gradients are kept from step to step (set_to_none=False), as docs/model.md has it. PyTorch's peak is that of its own
profiler: all allocations of a step, beside parameters, gradients and states of the optimizer."""
import json
import pathlib
import re
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="torch is absent")

import situ  # noqa: E402
import situ.torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch.utils.checkpoint import checkpoint, checkpoint_sequential  # noqa: E402

WIDTH, HEADS, TOKENS, BATCH, VOCABULARY, LAYERS = 128, 4, 64, 4, 512, 5
torch.set_num_threads(1)


def is_run():
    return not torch.compiler.is_exporting()


class Mlp(nn.Module):
    """Nine layers in three segments, as situ cuts them."""

    def __init__(self, recompute):
        super().__init__()
        self.recompute = recompute
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU()) for _ in range(9))
        self.last = nn.Linear(WIDTH, 10)

    def forward(self, x, targets):
        if self.recompute and is_run():
            x = checkpoint_sequential(nn.Sequential(*self.layers), 3, x, use_reentrant=False)
        else:
            for layer in self.layers:
                x = layer(x)
        return functional.cross_entropy(self.last(x), targets)


def heads_of(x, n):
    return x.view(x.shape[0], x.shape[1], n, -1).transpose(1, 2)


class Gpt2Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (heads_of(part, HEADS) for part in self.qkv(self.norm1(x)).split(WIDTH, 2))
        attended = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(x.shape))
        return x + self.down(functional.gelu(self.up(self.norm2(x)), approximate="tanh"))


class LlamaBlock(nn.Module):
    """Two heads of keys and values, rotary positions, a gated feed-forward part."""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)
        self.q, self.out = nn.Linear(WIDTH, WIDTH, False), nn.Linear(WIDTH, WIDTH, False)
        self.k, self.v = nn.Linear(WIDTH, WIDTH // 2, False), nn.Linear(WIDTH, WIDTH // 2, False)
        self.gate, self.up = nn.Linear(WIDTH, 352, False), nn.Linear(WIDTH, 352, False)
        self.down = nn.Linear(352, WIDTH, False)

    def rotated(self, x):
        half = x.shape[-1] // 2
        angle = torch.arange(x.shape[2])[:, None] / torch.pow(10000.0, torch.arange(half) / half)
        a, b = x.chunk(2, -1)
        return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)

    def forward(self, x):
        y = self.norm1(x)
        q, k, v = heads_of(self.q(y), HEADS), heads_of(self.k(y), HEADS // 2), heads_of(self.v(y), HEADS // 2)
        k, v = self.rotated(k).repeat_interleave(2, 1), v.repeat_interleave(2, 1)
        attended = functional.scaled_dot_product_attention(self.rotated(q), k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(x.shape))
        y = self.norm2(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    def __init__(self, block, recompute):
        super().__init__()
        self.recompute = recompute
        self.embed, self.position = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(TOKENS, WIDTH)
        self.layers = nn.ModuleList(block() for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, False)

    def forward(self, tokens, targets):
        x = self.embed(tokens) + self.position(torch.arange(TOKENS))
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False) if self.recompute and is_run() else layer(x)
        return functional.cross_entropy(self.head(self.norm(x)).flatten(0, 1), targets.flatten())


def tokens():
    return torch.randint(0, VOCABULARY, (BATCH, TOKENS)), torch.randint(0, VOCABULARY, (BATCH, TOKENS))


MODELS = {
    "mlp": (Mlp, lambda: (torch.randn(1024, WIDTH), torch.randint(0, 10, (1024,)))),
    "gpt2": (lambda recompute: Decoder(Gpt2Block, recompute), tokens),
    "llama": (lambda recompute: Decoder(LlamaBlock, recompute), tokens),
}
OPTIMIZERS = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}


def bytes_of(tensors):
    return sum(x.numel() * x.element_size() for x in tensors if torch.is_tensor(x))


def peak_of_torch(module, optimizer, passes):
    """Parameters, gradients and states, and the peak of all that is allocated and freed in a step."""
    from torch.profiler import ProfilerActivity, profile

    def step():
        optimizer.zero_grad(set_to_none=False)
        passes()
        optimizer.step()

    step()
    step()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        step()
    events = [e for e in profiled.profiler.kineto_results.events() if e.name() == "[memory]"]
    live = peak = 0
    for event in sorted(events, key=lambda e: e.start_ns()):
        live += event.nbytes()
        peak = max(peak, live)
    states = [x for state in optimizer.state.values() for x in state.values()]
    return 2 * bytes_of(module.parameters()) + bytes_of(states) + peak


@pytest.mark.parametrize("recompute", [False, True], ids=["kept", "recomputed"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("name", MODELS)
def test_memory_is_that_of_torch_within_a_tenth(name, optimizer, recompute, tmp_path):
    torch.manual_seed(0)
    build, made = MODELS[name]
    module, inputs = build(recompute), made()
    measured = peak_of_torch(module, OPTIMIZERS[optimizer](module.parameters(), 1e-3), lambda: module(*inputs).backward())
    path = str(tmp_path / "step.json")
    situ.torch.graph(module.eval(), inputs).save(path)
    plan = situ.place(path, platform="cpu", training=True, optimizer=optimizer, fusion="none", solver="single",
                      recompute="all" if recompute else "none")
    counted = max(device["memory_bytes"] for device in plan.report()["devices"])
    print(f"{name} {optimizer} {'recomputed' if recompute else 'kept'}: situ {counted / 1e6:.2f} MB, "
          f"PyTorch {measured / 1e6:.2f} MB, {counted / measured - 1:+.1%}")
    assert counted == pytest.approx(measured, rel=0.1)


STAGES, MICRO_BATCHES = (3, 2, 2, 3), 8  # parts of each stage: ends and layers; the stages keep 4, 3, 2 and 1 inputs
BLOCKS = {"gpt2": Gpt2Block, "llama": LlamaBlock}


class Begin(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.position = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(TOKENS, WIDTH)

    def forward(self, numbers):
        return self.embed(numbers) + self.position(torch.arange(TOKENS))


class Again(nn.Module):
    def __init__(self, block):
        super().__init__()
        self.block = block

    def forward(self, x):
        return checkpoint(self.block, x, use_reentrant=False)


def parts_of(name, recompute=False):
    blocks = [BLOCKS[name]() for _ in range(sum(STAGES) - 2)]
    end = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, False))
    return [Begin(), *(Again(block) if recompute else block for block in blocks), end]


def loss(logits, targets):
    return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


class Whole(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.parts = nn.ModuleList(parts_of(name))

    def forward(self, numbers, targets):
        for part in self.parts:
            numbers = part(numbers)
        return loss(numbers, targets)


def run_stage(rank, folder):
    """One of four processes: what its stage takes by Schedule1F1B."""
    import torch.distributed as dist
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B

    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=len(STAGES))
    found = {}
    for name in BLOCKS:
        for recompute in (False, True):
            module = nn.Sequential(*parts_of(name, recompute)[sum(STAGES[:rank]):sum(STAGES[:rank + 1])])
            stage = PipelineStage(module, rank, len(STAGES), torch.device("cpu"))
            schedule = Schedule1F1B(stage, MICRO_BATCHES, loss_fn=loss)
            numbers = torch.randint(0, VOCABULARY, (MICRO_BATCHES * BATCH, TOKENS))
            arguments = (numbers,) if rank == 0 else ()
            ends = {"target": numbers, "return_outputs": False} if rank == len(STAGES) - 1 else {}
            optimizer = torch.optim.Adam(module.parameters(), 1e-3)
            found[f"{name}{recompute}"] = peak_of_torch(module, optimizer, lambda: schedule.step(*arguments, **ends))
            dist.barrier()
    (folder / f"{rank}.found").write_text(json.dumps(found))
    dist.destroy_process_group()


@pytest.fixture(scope="module")
def stages(tmp_path_factory):
    """What each stage took, by model and recomputation. Buffers of messages are not in it: torch makes them once, before
    the step that is measured."""
    pytest.importorskip("torch.distributed.pipelining", reason="torch has no pipelines")
    folder = tmp_path_factory.mktemp("stages")
    processes = [subprocess.Popen([sys.executable, __file__, str(rank), str(folder)]) for rank in range(len(STAGES))]
    assert [p.wait(300) for p in processes] == [0] * len(STAGES)
    return [json.loads((folder / f"{rank}.found").read_text()) for rank in range(len(STAGES))]


@pytest.mark.parametrize("recompute", [False, True], ids=["kept", "recomputed"])
@pytest.mark.parametrize("name", BLOCKS)
def test_memory_of_1f1b_is_that_of_torch_within_a_tenth(stages, name, recompute, tmp_path):
    numbers = torch.randint(0, VOCABULARY, (BATCH, TOKENS))
    graph = situ.torch.graph(Whole(name).eval(), (numbers, numbers))
    graph.save(tmp_path / "step.json")
    part = {op: int(found[1]) for op in graph.operators if (found := re.search(r"^parts\.(\d+)\.", op))}
    fix = {op: f"gpu{next(s for s in range(len(STAGES)) if k < sum(STAGES[:s + 1]))}" for op, k in part.items()}
    plan = situ.place(str(tmp_path / "step.json"), "cpu+4*a100-40g@nvlink", fix=fix, training=True, optimizer="adam", fusion="none",
                      objective="throughput", micro_batches=MICRO_BATCHES, granularity="operator", unused="cpu",
                      recompute="all" if recompute else "none")
    for stage, device in zip(stages, plan.report()["devices"][1:], strict=True):
        measured, counted = stage[f"{name}{recompute}"], device["memory_bytes"]
        print(f"{name} {recompute} {device['name']}: situ {counted / 1e6:.2f} MB, PyTorch {measured / 1e6:.2f} MB, {counted / measured - 1:+.1%}")
        assert counted == pytest.approx(measured, rel=0.1)


if __name__ == "__main__":
    run_stage(int(sys.argv[1]), pathlib.Path(sys.argv[2]))
