"""Plans of groups through parallelize_module: modules split over processes give what the whole module gives, with the
collectives that the plan counts."""
import importlib.util
import json
import pathlib
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="torch is absent")
parallel = pytest.importorskip("torch.distributed.tensor.parallel", reason="torch has no tensor parallelism")

import situ  # noqa: E402
import situ.torch  # noqa: E402
from torch import nn  # noqa: E402

VOCAB, WIDTH, HEADS, TOKENS = 301, 64, 4, 12  # a vocabulary that no number of devices divides
PROCESSES, SIZES = 4, (2, 4)


class Attention(nn.Module):
    """`kv_heads` of keys and values, as in Llama; the number of heads is that of the projection, so that parts work."""

    def __init__(self, kv_heads, causal, bias):
        super().__init__()
        self.size, self.causal, self.shared = WIDTH // HEADS, causal, HEADS // kv_heads
        self.query, self.out = nn.Linear(WIDTH, WIDTH, bias), nn.Linear(WIDTH, WIDTH, bias)
        self.key, self.value = (nn.Linear(WIDTH, self.size * kv_heads, bias) for _ in "kv")

    def heads(self, x):
        return x.view(*x.shape[:2], -1, self.size).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.heads(self.query(x)), self.heads(self.key(x)), self.heads(self.value(x))
        k, v = (t[:, :, None].expand(-1, -1, self.shared, -1, -1).flatten(1, 2) for t in (k, v))
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(mixed.transpose(1, 2).flatten(2))


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.up, self.down = nn.Linear(WIDTH, 96, False), nn.Linear(WIDTH, 96, False), nn.Linear(96, WIDTH, False)

    def forward(self, x):
        return self.down(nn.functional.silu(self.gate(x)) * self.up(x))


class Decoder(nn.Module):
    """As Llama: norms before, gated, grouped queries."""

    def __init__(self, kv_heads=4):
        super().__init__()
        self.embed, self.norm, self.head = nn.Embedding(VOCAB, WIDTH), nn.RMSNorm(WIDTH), nn.Linear(WIDTH, VOCAB, False)
        self.layers = nn.ModuleList(nn.ModuleDict({"before": nn.RMSNorm(WIDTH), "attention": Attention(kv_heads, True, False),
                                                   "middle": nn.RMSNorm(WIDTH), "mlp": Gated()}) for _ in range(3))

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = x + layer["attention"](layer["before"](x))
            x = x + layer["mlp"](layer["middle"](x))
        return self.head(self.norm(x))


class Encoder(nn.Module):
    """As BERT: two embeddings that are added, biases, norms after, and a pooler, whose tanh is of parts."""

    def __init__(self):
        super().__init__()
        self.embed, self.places, self.norm = nn.Embedding(VOCAB, WIDTH), nn.Embedding(TOKENS, WIDTH), nn.LayerNorm(WIDTH)
        self.layers = nn.ModuleList(nn.ModuleDict({"attention": Attention(4, False, True), "middle": nn.LayerNorm(WIDTH), "up": nn.Linear(WIDTH, 128),
                                                   "down": nn.Linear(128, WIDTH), "after": nn.LayerNorm(WIDTH)}) for _ in range(3))
        self.pooler = nn.Linear(WIDTH, WIDTH)

    def forward(self, tokens):
        x = self.norm(self.embed(tokens) + self.places(torch.arange(tokens.shape[1])))
        for layer in self.layers:
            x = layer["middle"](x + layer["attention"](x))
            x = layer["after"](x + layer["down"](nn.functional.gelu(layer["up"](x))))
        return x, torch.tanh(self.pooler(x[:, 0]))


def llama():
    import transformers

    config = transformers.LlamaConfig(vocab_size=VOCAB, hidden_size=WIDTH, num_hidden_layers=3, num_attention_heads=HEADS, num_key_value_heads=4,
                                      intermediate_size=128, max_position_embeddings=64, use_cache=False)
    return transformers.LlamaForCausalLM(config)


def bert():
    import transformers

    config = transformers.BertConfig(vocab_size=VOCAB, hidden_size=WIDTH, num_hidden_layers=3, num_attention_heads=HEADS, intermediate_size=128,
                                     max_position_embeddings=64)
    return transformers.BertModel(config)


# The module, and its all-reduces and all-gathers by hand: two for each layer and one for each table, one for what is
# made by columns and needed whole. Tables of positions, if they are called so, stay whole.
MODELS = {"decoder": (Decoder, 3 * 2 + 1, 1), "encoder": (Encoder, 3 * 2 + 2, 1), "grouped": (lambda: Decoder(2), 3 * 2 + 1, 1),
          "llama": (llama, 3 * 2 + 1, 1), "bert": (bert, 3 * 2 + 2, 1)}


def made(name):
    torch.manual_seed(0)
    return MODELS[name][0]().eval(), torch.randint(0, VOCAB, (2, TOKENS))


def outputs(module, tokens):
    with torch.no_grad():
        found = module(tokens)
    return [found] if isinstance(found, torch.Tensor) else list(found.values()) if hasattr(found, "values") else list(found)


def placed(name, members, module=None):
    own, tokens = made(name) if module is None else module
    return situ.place(own, f"{members}*h100-80g@nvlink", example_inputs=(tokens,), tensor_parallel=str(members), writers="torch-tensor-parallel",
                      time_limit=1)


def names(members):
    """Two heads of keys are none for four devices."""
    own = [name for name in MODELS if members == 2 or name != "grouped"]
    return [name for name in own if name not in ("llama", "bert") or importlib.util.find_spec("transformers")]


def member(rank, folder):
    """One of four processes: in pairs they run the plans for 2 devices, together those for 4."""
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Replicate
    from torch.distributed.tensor.debug import CommDebugMode

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=PROCESSES)
    found = {}
    for members in SIZES:
        mesh = init_device_mesh("cpu", (PROCESSES // members, members), mesh_dim_names=("dp", "tp"))["tp"]
        for name in names(members):
            written = json.loads((folder / f"{name}{members}.json").read_text())
            module, tokens = made(name)
            expected = outputs(module, tokens)
            plan = {path: getattr(parallel, how.pop("style"))(**{key: Replicate() for key in how})
                    for path, how in written["stages"][0]["modules"].items()}
            parallel.parallelize_module(module, mesh, plan)
            own = sum((p.to_local() if isinstance(p, DTensor) else p).numel() for p in module.parameters())
            with CommDebugMode() as counter:
                given = outputs(module, tokens)
            counts = {str(op).split(".")[-1]: n for op, n in counter.get_comm_counts().items()}
            found[f"{name}{members}"] = {"error": max(float((a - b).abs().max()) for a, b in zip(expected, given)), "own": own, "counts": counts,
                                         "largest": min(float(t.abs().max()) for t in expected)}
    (folder / f"{rank}.found").write_text(json.dumps(found))
    dist.destroy_process_group()


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """What each process found, by model and number of devices."""
    folder = tmp_path_factory.mktemp("processes")
    for members in SIZES:
        for name in names(members):
            placed(name, members).write("torch-tensor-parallel", folder / f"{name}{members}.json")
    processes = [subprocess.Popen([sys.executable, __file__, str(rank), str(folder)]) for rank in range(PROCESSES)]
    assert [p.wait(300) for p in processes] == [0] * PROCESSES
    return [json.loads((folder / f"{rank}.found").read_text()) for rank in range(PROCESSES)]


@pytest.mark.parametrize("members, name", [(members, name) for members in SIZES for name in names(members)])
def test_a_module_split_by_the_plan_gives_what_the_whole_gives(ran, members, name):
    _, reduces, gathers = MODELS[name]
    module, _ = made(name)
    whole = sum(p.numel() for p in module.parameters())
    for found in ran:
        of = found[f"{name}{members}"]
        assert of["error"] <= 1e-5 and of["largest"] > 0.1
        few_rows = name == "bert" and members == 4  # a table of two rows has none for some, and is gathered
        assert of["counts"] == {"all_reduce": reduces - few_rows, "all_gather_into_tensor": gathers + few_rows}
        assert whole / members <= of["own"] <= 1.1 * whole / members + WIDTH * 40  # norms and biases of sums are whole

def refused(module, tokens, members, says):
    with pytest.raises(situ.Unsupported, match=says):
        placed(None, members, (module.eval(), tokens)).to_parallelize_plan()


class Fused(nn.Module):
    """Queries, keys and values of one product: a part of its columns is not a part of each."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        return x + self.out(nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


class Scaled(nn.Module):
    """Weights of its own for what a product makes by columns."""

    def __init__(self):
        super().__init__()
        self.up, self.down, self.scale = nn.Linear(WIDTH, 96), nn.Linear(96, WIDTH), nn.Parameter(torch.ones(96))

    def forward(self, x):
        return x + self.down(nn.functional.relu(self.up(x)) * self.scale)


class Functional(nn.Module):
    """A product that is no module."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH, WIDTH))

    def forward(self, x):
        return nn.functional.linear(x, self.weight) * 2


def test_what_parallelize_module_cannot_do_is_refused_with_the_reason():
    x, image = torch.randn(2, TOKENS, WIDTH), torch.randn(2, 8, 12, 12)
    twice = lambda build: nn.Sequential(*(build() for _ in range(2)))
    refused(made("grouped")[0], made("grouped")[1], 4, "which 4 devices do not share evenly")
    refused(twice(Fused), x, 2, "some of the columns that one module makes")
    refused(twice(Scaled), x, 2, "weights of its own")
    refused(twice(Functional), x, 2, "is a Functional; parallelize_module splits Linear and Embedding")
    refused(twice(lambda: nn.Sequential(nn.Conv2d(8, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3))), image, 2, "is a convolution")
    refused(nn.Sequential(nn.Linear(WIDTH, 90), nn.ReLU(), nn.Linear(90, WIDTH)), x, 4, "90 equal parts .* 4 devices")


def test_stages_have_their_own_modules(tmp_path):
    """Four devices are two groups: the modules of a stage are those of its layers, and both together those of one group."""
    module, tokens = made("decoder")
    graph = situ.torch.graph(module, (tokens,))
    fix = {name: "gpu0-1" if path in ("embed", "layers.0.mlp.up") else "gpu2-3" for name in graph.operators
           for path in [name.rpartition(".")[0]] if path in ("embed", "layers.0.mlp.up", "layers.1.mlp.up", "layers.2.mlp.up", "head")}
    plan = situ.place(graph, "4*h100-80g@nvlink", tensor_parallel="2", fix=fix, writers="torch-tensor-parallel")
    first, second = plan.to_parallelize_plan(0), plan.to_parallelize_plan(1)
    assert {path.split(".")[1] if "." in path else path for path in first} == {"embed", "0"}
    assert {path.split(".")[1] if "." in path else path for path in second} == {"1", "2", "head"}
    assert list(plan.to_parallelize_plan()) == [*first, *second] == list(placed("decoder", 2).to_parallelize_plan())
    plan.write("torch-tensor-parallel", tmp_path / "stages.json")
    written = json.loads((tmp_path / "stages.json").read_text())
    assert written["mesh"] == {"pp": 2, "tp": 2} and written["split_points"] == {"layers.1": "BEGINNING"}
    groups = plan.explain().groups
    assert [g["device"] for g in groups] == ["gpu0-1", "gpu2-3"] and sum(g["collectives"] for g in groups) == 3 * 2 + 1 + 1
    whole = situ.place(graph, "2*h100-80g@nvlink", tensor_parallel="1", writers="torch-tensor-parallel", time_limit=1)
    assert whole.to_parallelize_plan() == {}


def test_a_folder_is_split_as_its_module_is(tmp_path):
    pytest.importorskip("transformers", reason="transformers is absent")
    for name in ("llama", "bert"):
        module, _ = made(name)
        module.save_pretrained(tmp_path / name)
        of_file = situ.place(tmp_path / name, "2*h100-80g@nvlink", tensor_parallel="2", writers="torch-tensor-parallel", time_limit=1)
        styles = [{path: str(style) for path, style in plan.to_parallelize_plan().items()} for plan in (of_file, placed(name, 2))]
        assert styles[0] == styles[1] and len(styles[0]) > 3 * 6


if __name__ == "__main__":
    member(int(sys.argv[1]), pathlib.Path(sys.argv[2]))
