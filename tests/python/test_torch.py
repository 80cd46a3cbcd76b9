"""PyTorch in and out: graphs of modules, plans that run, device maps that accelerate takes."""
import json
import math
from collections import OrderedDict

import pytest

torch = pytest.importorskip("torch", reason="torch is absent")

import situ  # noqa: E402
import situ.torch  # noqa: E402
from torch import nn  # noqa: E402

MACHINE = "cpu+2*v100-16g"
HERE = {"gpu0": "cpu", "gpu1": "cpu"}  # every device of the plan is the one that this machine has


class Residual(nn.Module):
    def __init__(self, channels, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels * stride, 3, stride, 1, bias=False)
        self.bn1, self.relu = nn.BatchNorm2d(channels * stride), nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(channels * stride, channels * stride, 3, 1, 1, groups=2)
        self.downsample = nn.Conv2d(channels, channels * stride, 1, stride) if stride > 1 else None

    def forward(self, x):
        y = self.conv2(self.relu(self.bn1(self.conv1(x))))
        return torch.relu(y + (x if self.downsample is None else self.downsample(x)))


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.pool = nn.Conv2d(8, 4, 1), nn.Conv2d(8, 4, 3, padding=1), nn.MaxPool2d(3, 1, 1)

    def forward(self, x):
        first, second = x.chunk(2, 1)
        return torch.cat([self.a(x), self.b(x), self.pool(first) * second.sigmoid()], 1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (4, 4)).transpose(1, 2) for t in self.qkv(x).split(16, -1))
        return self.out(nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))


class Tied(nn.Module):
    """Embedding and head share their weights, as in language models; positions are a buffer and a range."""

    def __init__(self):
        super().__init__()
        self.embed, self.norm, self.head = nn.Embedding(50, 16), nn.LayerNorm(16), nn.Linear(16, 50, bias=False)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(16, 4, 32, batch_first=True) for _ in range(3))
        self.head.weight = self.embed.weight
        self.register_buffer("scale", torch.full((16,), 2.0))

    def forward(self, tokens):
        x = self.embed(tokens) * self.scale + torch.arange(tokens.shape[1])[None, :, None] / 10
        for layer in self.layers:
            x = layer(x)
        return {"logits": self.head(self.norm(x)), "state": (x, tokens + 1)}


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.GRUCell(8, 8), nn.Linear(8, 2)

    def forward(self, x, state):
        for i in range(x.shape[1]):
            state = self.cell(x[:, i], state)
        return self.out(state), state


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.out = nn.LSTM(4, 6, 2, batch_first=True, bidirectional=True), nn.Linear(12, 2)

    def forward(self, x):
        return self.out(self.lstm(x)[0])


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.experts = nn.Linear(8, 3), nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

    def forward(self, x, *, temperature):
        weight = torch.softmax(self.gate(x) / temperature, -1)
        return sum(weight[..., i, None] * nn.functional.gelu(e(x)) for i, e in enumerate(self.experts))


def mlp():
    return nn.Sequential(*(nn.Sequential(nn.Linear(12, 12), nn.SiLU()) for _ in range(4)))


def image(channels=8):
    return (torch.randn(2, channels, 12, 12),)


ARCHITECTURES = {
    "mlp": (mlp, lambda: (torch.randn(3, 12),)),
    "residual": (lambda: nn.Sequential(Residual(8), Residual(8, 2), Residual(16), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5)), image),
    "branches": (lambda: nn.Sequential(Branches(), nn.Conv2d(12, 8, 1), Branches()), image),
    "attention": (lambda: nn.Sequential(Attention(), nn.LayerNorm(16), Attention()), lambda: (torch.randn(2, 7, 16),)),
    "multihead": (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), 2, enable_nested_tensor=False),
                  lambda: (torch.randn(2, 5, 16),)),
    "decoder": (lambda: nn.Transformer(16, 2, 1, 1, 32, batch_first=True), lambda: (torch.randn(2, 5, 16), torch.randn(2, 3, 16))),
    "tied": (Tied, lambda: (torch.randint(0, 50, (2, 6)),)),
    "recurrent": (Recurrent, lambda: (torch.randn(2, 4, 8), torch.zeros(2, 8))),
    "lstm": (Lstm, lambda: (torch.randn(2, 7, 4),)),
    "gated": (Gated, lambda: {"x": torch.randn(2, 8), "temperature": torch.tensor(0.7)}),
    "upsampling": (lambda: nn.Sequential(nn.Conv2d(8, 4, 3, 2, 1), nn.GroupNorm(2, 4), nn.ConvTranspose2d(4, 8, 2, 2), nn.Hardswish(),
                                         nn.AvgPool2d(2), nn.Upsample(scale_factor=2)), image),
    "one-dimensional": (lambda: nn.Sequential(nn.Conv1d(4, 8, 3, dilation=2), nn.PReLU(), nn.BatchNorm1d(8), nn.Flatten(), nn.Linear(8 * 8, 3)),
                        lambda: (torch.randn(2, 4, 12),)),
}


def made(name):
    torch.manual_seed(0)
    build, inputs = ARCHITECTURES[name]
    return build().eval(), inputs()


def call(function, inputs):
    with torch.no_grad():
        return function(**inputs) if isinstance(inputs, dict) else function(*inputs)


def in_thirds(graph):
    """A placement by hand that uses every device: the first third of the operators here, the next there."""
    names, devices = list(graph.operators), ("cpu", "gpu0", "gpu1")
    found = {name: devices[i * 3 // len(names)] for i, name in enumerate(names)}
    groups = {}  # operators that share weights stay together
    return {name: groups.setdefault(graph[name].colocation, device) if graph[name].colocation is not None else device
            for name, device in found.items()}


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_plan_that_runs_agrees_with_the_module(name):
    module, inputs = made(name)
    graph = situ.torch.graph(module, inputs, name)
    expected = call(module, inputs)
    for fix in (None, in_thirds(graph)):
        plan = situ.place(graph, MACHINE, fix=fix, fusion="none", steps=100)
        assert plan.check().valid
        runner = situ.torch.Runner(plan, HERE)
        found = call(runner, inputs)
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
        assert len(runner.handovers) == plan.n_handovers  # what was sent is what the plan counts
        assert fix is None or plan.n_handovers > 0
        torch.testing.assert_close(call(lambda *a, **k: situ.torch.run(plan, *a, devices=HERE, **k), inputs), expected)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_device_map_covers_every_parameter_and_buffer_once(name):
    module, inputs = made(name)
    graph = situ.torch.graph(module, inputs)
    for fix in (None, in_thirds(graph)):
        entries = situ.place(graph, MACHINE, fix=fix, fusion="none", steps=50).to_device_map({"cpu": "here"})
        for state in module.state_dict():
            over = [entry for entry in entries if entry in ("", state) or state.startswith(entry + ".")]
            assert len(over) == 1, (state, over)
        assert set(entries.values()) <= {"here", 0, 1}


@pytest.mark.parametrize("name", ["mlp", "residual", "branches", "attention", "recurrent", "one-dimensional"])
def test_work_is_what_the_counter_of_torch_counts(name):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    module, inputs = made(name)
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:  # attention as products, which it counts
        call(module, inputs)
    products = {"Conv", "ConvTranspose", "MatMul", "Gemm", "Attention", "GRU"}
    graph = situ.torch.graph(module, inputs)
    assert sum(op.flops for op in graph if op.kind in products) == counter.get_total_flops() > 0


def test_work_of_a_recurrent_network_is_that_of_its_products():
    module, inputs = made("lstm")
    work = sum(op.flops for op in situ.torch.graph(module, inputs) if op.kind == "LSTM")
    # 2 x 7 steps; 4 gates of 6: first layer from 4 and 6, second from 12 and 6, each in two directions
    assert work == 2 * 14 * 2 * 4 * 6 * ((4 + 6) + (12 + 6))


def test_weights_are_counted_once_and_not_copied():
    module, inputs = made("tied")
    graph = situ.torch.graph(module, inputs)
    size = sum(t.numel() * t.element_size() for t in {**dict(module.named_parameters()), **dict(module.named_buffers())}.values())
    assert sum(op.weight_bytes for op in graph) == size
    shared = [op.colocation for op in graph if op.kind in ("Gather", "MatMul") and op.layer in ("embed", "head")]
    assert len(shared) == 2 and shared[0] == shared[1] is not None
    state = graph.program.state_dict
    assert all(state[name].data_ptr() == p.data_ptr() for name, p in module.named_parameters())


def test_shapes_and_types_are_those_of_the_module():
    graph = situ.torch.graph(nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2)).to(torch.bfloat16).eval(),
                             (torch.zeros(3, 4, dtype=torch.bfloat16),))
    assert [op.kind for op in graph] == ["MatMul", "Relu", "MatMul"] and {op.dtype for op in graph} == {"bf16"}
    assert [(t.shape, t.size_bytes) for t in graph.tensors] == [((3, 6), 36), ((3, 6), 36), ((3, 2), 12)]  # 2 bytes each
    assert [len(t.consumers) for t in graph.tensors] == [1, 1, 0]  # what the module returns is there, too
    assert [op.weight_bytes for op in graph] == [(4 * 6 + 6) * 2, 0, (6 * 2 + 2) * 2]
    assert [op.flops for op in graph] == [2 * 3 * 4 * 6, 3 * 6, 2 * 3 * 6 * 2]
    assert [op.layer for op in graph] == ["0", "1", "2"]


class WholeNumbers(nn.Module):
    """A product of bytes, as quantised modules have it."""

    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.ones(32, 24, dtype=torch.int8))

    def forward(self, x):
        return torch._int_mm(x, self.weight).to(torch.float32)


def test_products_of_whole_numbers_are_products():
    graph = situ.torch.graph(WholeNumbers(), (torch.ones(40, 32, dtype=torch.int8),))
    (product,) = (op for op in graph if op.kind == "MatMul")
    assert (product.flops, product.dtype, product.weight_bytes) == (2 * 40 * 32 * 24, "i8", 32 * 24)


@pytest.mark.skipif(not hasattr(torch, "_grouped_mm"), reason="this PyTorch has no grouped products")
def test_products_of_experts_are_products():
    class Experts(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(4, 32, 48, dtype=torch.bfloat16))

        def forward(self, x, ends):
            return torch._grouped_mm(x, self.weight, offs=ends)

    with torch.device("meta"):
        inputs = (torch.ones(16, 32, dtype=torch.bfloat16), torch.tensor([4, 8, 12, 16], dtype=torch.int32))
        graph = situ.torch.graph(Experts(), inputs)
    (product,) = (op for op in graph if op.kind == "MatMul")
    assert product.flops == 2 * 16 * 32 * 48  # each row meets one expert


class Checked(nn.Module):
    def forward(self, x):
        torch._assert(x.shape[0] > 1, "rows")
        torch._check(x.shape[1] > 1)
        y = torch.relu(x)
        return y.reshape(y.shape[0] * y.shape[1]) * x.shape[0]


@pytest.mark.parametrize("dynamic", [False, True])
def test_checks_and_sizes_are_no_operators(dynamic):
    """They cost nothing, have no device, and are computed where they are needed."""
    inputs, shapes = (torch.randn(4, 6),), ({0: torch.export.Dim("rows", min=2, max=64)},) if dynamic else None
    program = torch.export.export(Checked(), inputs, dynamic_shapes=shapes)
    graph = situ.torch.graph(program)
    assert [op.kind for op in graph] == ["Relu", "Mul"] and all(op.inferred for op in graph)
    plan = situ.place(graph, MACHINE, fix={op.name: device for op, device in zip(graph, ("gpu0", "gpu1"))}, fusion="none")
    torch.testing.assert_close(situ.torch.run(plan, *inputs, devices=HERE), Checked()(*inputs))


@torch.library.custom_op("situ_test::mixed", mutates_args=())
def mixed(x: torch.Tensor) -> torch.Tensor:
    return x @ x


@mixed.register_fake
def _(x):
    return torch.empty_like(x)


@torch.library.custom_op("situ_test::relu", mutates_args=())
def namesake(x: torch.Tensor) -> torch.Tensor:
    return x @ x


@namesake.register_fake
def _(x):
    return torch.empty_like(x)


def test_an_operator_with_the_name_of_a_known_one_is_not_that():
    graph = situ.torch.graph(type("Custom", (nn.Module,), {"forward": lambda self, x: torch.relu(namesake(x))})(), (torch.randn(8, 8),))
    assert [op.kind for op in graph] == ["situ_test::relu", "Relu"]
    plan = situ.place(graph, MACHINE, steps=20)
    assert [(row.kind, row.subject, row.operators) for row in plan.unknown] == [("kind", "situ_test::relu", 1)] and plan.guessed


def test_operators_of_others_are_unknown():
    """Nobody says what they compute: nothing is counted but the bytes that go in and out, and they are not inferred."""
    graph = situ.torch.graph(type("Custom", (nn.Module,), {"forward": lambda self, x: torch.relu(mixed(x))})(), (torch.randn(8, 8),))
    custom, relu = graph
    assert (custom.kind, custom.flops, custom.moved_bytes, custom.inferred) == ("mixed", 0, 2 * 8 * 8 * 4, False)
    assert relu.inferred and relu.flops == 64


def test_a_module_on_the_meta_device_is_placed_without_weights():
    with torch.device("meta"):
        module = nn.Sequential(*(nn.Linear(8192, 8192) for _ in range(40))).eval()  # 40 x 8192^2 x 4 B = 10.7 GB
        plan = situ.place(module, "cpu+2*t4-16g", example_inputs=(torch.empty(1, 8192),), objective="throughput", steps=100)
    assert plan.check() and sum(op.weight_bytes for op in plan.source) == 40 * (8192**2 + 8192) * 4
    assert set(plan.to_device_map()) == {str(i) for i in range(40)}


def test_a_saved_program_is_a_model(tmp_path):
    module, inputs = made("mlp")
    torch.export.save(torch.export.export(module, inputs), tmp_path / "mlp.pt2")
    plan, of_module = situ.place(tmp_path / "mlp.pt2", MACHINE), situ.place(module, MACHINE, example_inputs=inputs)
    assert plan.placement == of_module.placement and plan.to_device_map() == of_module.to_device_map()
    (tmp_path / "no.pt2").write_bytes(b"PK\3\4 and nothing else")
    with pytest.raises(situ.BadInput, match="no.pt2: torch.export.load cannot read it"):
        situ.place(tmp_path / "no.pt2", MACHINE)


def test_modules_are_pinned_by_name():
    module, inputs = made("mlp")
    graph = situ.torch.graph(module, inputs)
    names = [op.name for op in graph]
    fix = {"2.0": "gpu0", "1": "gpu1", "2": "gpu1"}  # the longer name counts
    plan = situ.place(module, MACHINE, example_inputs=inputs, fusion="none", fix=fix)
    assert {plan.placement[name] for name in names if name.startswith(("1.", "2.1"))} == {"gpu1"}
    assert {plan.placement[name] for name in names if name.startswith("2.0")} == {"gpu0"}
    with pytest.raises(situ.BadInput, match="no operator '99'"):
        situ.place(module, MACHINE, example_inputs=inputs, fix={"99": "gpu1"})


def test_control_flow_that_depends_on_values_is_refused_with_what_to_do():
    class Branch(nn.Module):
        def forward(self, x):
            return x + 1 if x.sum() > 0 else x - 1

    with pytest.raises(situ.Unsupported, match="Branch: .*torch.where or torch.cond"):
        situ.place(Branch(), MACHINE, example_inputs=(torch.randn(3),))


def test_plans_are_compared_under_the_measured_spread():
    """Two operators of 90 and 10 ns whose times spread by 10 and 20 %: 11 % of an average nanosecond."""
    module, inputs = made("mlp")
    profile = situ.torch.profile(module, inputs, repeats=4)
    first, *rest = profile["operators"]
    for name in profile["operators"]:
        profile["operators"][name]["cpu"], profile.spread[name]["cpu"] = (90, 0.1) if name == first else (0, 0.0)
    profile["operators"][rest[0]]["cpu"], profile.spread[rest[0]]["cpu"] = 10, 0.2
    assert profile.mean_spread() == pytest.approx(0.11)
    from situ import _inputs, _options

    def uncertainty(platform, **options):
        filled = _options.fill(options, purpose=True)
        filled.instance.platform = platform
        _inputs._set_uncertainty(filled, profile)
        return filled.solve.uncertainty

    assert uncertainty(b"2*cpu") == pytest.approx(0.11) and uncertainty(b"cpu+a100-80g") == _options.AUTO
    assert uncertainty(b"2*cpu", uncertainty=5) == pytest.approx(0.05)


def test_a_device_map_says_what_whole_modules_lose():
    """The two branches of every layer on a GPU each: with whole layers, as in the map, everything is on one."""
    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(512, 512), nn.Linear(512, 512)

        def forward(self, x):
            return self.a(x) + self.b(x)

    module = nn.Sequential(OrderedDict(layers=nn.Sequential(Layer(), Layer()))).to("meta")
    inputs = (torch.randn(8192, 512, device="meta"),)
    apart = {f"layers.{k}": "gpu0" for k in range(2)} | {f"layers.{k}.b": "gpu1" for k in range(2)}
    plan = situ.place(module, "2*a100-80g@nvlink", example_inputs=inputs, fusion="none", fix=apart)
    assert plan.value_ns < plan.best_single_ns / 1.02
    with pytest.warns(situ.SituWarning, match="the device map takes .*, the plan .*granularity"):
        assert plan.to_device_map() == {"layers.0": 0, "layers.1": 0}
    whole = situ.torch.by_modules(plan)
    assert whole.value_ns == plan.best_single_ns and set(whole.placement.values()) == {"gpu0"}


def test_split_points_are_where_the_device_changes(tmp_path):
    pytest.importorskip("torch.distributed.pipelining", reason="torch.distributed is absent")
    module, inputs = made("mlp")
    graph = situ.torch.graph(module, inputs)
    plan = situ.place(graph, MACHINE, fix={op.name: "gpu0" if op.layer[0] < "2" else "gpu1" for op in graph})
    assert list(situ.torch.split_points(plan)) == ["2.0"], "blocks in blocks, as of a ResNet, are layers of their own"
    plan.write("torch-pipelining", tmp_path / "stages.json")
    assert list(json.loads((tmp_path / "stages.json").read_text())["split_points"]) == ["2.0"]
    from torch.distributed.pipelining import pipeline

    pipe = pipeline(module, mb_args=inputs, split_spec=situ.torch.split_points(plan))
    assert pipe.num_stages == 2
    torch.testing.assert_close(call(pipe, inputs)[0], call(module, inputs))


def test_written_stages_are_loaded_by_pipelining_and_torchtitan(tmp_path):
    """As docs/run-your-plan.md says."""
    pipelining = pytest.importorskip("torch.distributed.pipelining", reason="torch.distributed is absent")
    tomllib = pytest.importorskip("tomllib", reason="Python 3.11 brings tomllib")
    torch.manual_seed(0)
    module = nn.Sequential(OrderedDict(tok_embeddings=nn.Embedding(20, 8), layers=nn.Sequential(
        *(nn.Sequential(OrderedDict(up=nn.Linear(8, 8), act=nn.ReLU())) for _ in range(4))), norm=nn.LayerNorm(8), output=nn.Linear(8, 20))).eval()
    inputs = (torch.randint(0, 20, (2, 5)),)
    graph = situ.torch.graph(module, inputs)
    first = {op.name for op in graph if op.layer in ("tok_embeddings", "layers.0", "layers.1")}
    plan = situ.place(graph, MACHINE, fix={op.name: "gpu0" if op.name in first else "gpu1" for op in graph}, objective="throughput")
    plan.write("torch-pipelining", tmp_path / "stages.json")
    stages = json.loads((tmp_path / "stages.json").read_text())
    assert stages == {"split_points": {"layers.2": "BEGINNING"}, "devices": ["gpu0", "gpu1"]}
    spec = {module: pipelining.SplitPoint[kind] for module, kind in stages["split_points"].items()}
    assert spec == situ.torch.split_points(plan)
    pipe = pipelining.pipeline(module, mb_args=inputs, split_spec=spec)
    assert pipe.num_stages == len(stages["devices"])
    torch.testing.assert_close(call(pipe, inputs)[0], call(module, inputs))
    plan.write("torchtitan", tmp_path / "stages.toml")
    parallelism = tomllib.loads((tmp_path / "stages.toml").read_text())["parallelism"]
    assert parallelism == {"pipeline_parallel_degree": 2, "module_fqns_per_model_part": [
        ["tok_embeddings", "layers.0", "layers.1"], ["layers.2", "layers.3", "norm", "output"]]}
    for part in parallelism["module_fqns_per_model_part"]:  # whatever it names is there
        assert all(module.get_submodule(name) is not None for name in part)


def test_what_cannot_be_is_said():
    module, inputs = made("mlp")
    with pytest.raises(situ.BadArgument, match="example_inputs"):
        situ.place(module, MACHINE)
    plan = situ.place(module, MACHINE, example_inputs=inputs)
    with pytest.raises(situ.BadArgument, match="no device tpu"):
        plan.to_device_map({"tpu": 0})
    with pytest.raises(situ.BadArgument, match="not for a torch module"):
        situ.place("builtin:resnet50", MACHINE, steps=5).to_device_map()


def test_a_saved_plan_is_opened_again_with_its_module(tmp_path):
    module, inputs = made("mlp")
    plan = situ.place(module, MACHINE, example_inputs=inputs)
    plan.save(tmp_path / "plan.json")
    again = situ.load_plan(tmp_path / "plan.json", situ.torch.graph(module, inputs), MACHINE)
    torch.testing.assert_close(situ.torch.run(again, *inputs, devices=HERE), call(module, inputs))
    assert again.to_device_map() == plan.to_device_map() and math.isfinite(again.gap)


@pytest.mark.parametrize("family", ["llama", "gpt2", "bert"])
def test_accelerate_loads_a_model_by_our_device_map(family, tmp_path):
    transformers = pytest.importorskip("transformers", reason="transformers is absent")
    accelerate = pytest.importorskip("accelerate", reason="accelerate is absent")
    torch.manual_seed(0)
    sizes = dict(vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2)
    if family == "llama":
        config, kind = transformers.LlamaConfig(**sizes), transformers.LlamaForCausalLM
    elif family == "gpt2":
        config, kind = transformers.GPT2Config(vocab_size=64, n_embd=32, n_layer=4, n_head=4), transformers.GPT2LMHeadModel
    else:
        config, kind = transformers.BertConfig(**{k: v for k, v in sizes.items() if k != "num_key_value_heads"}), transformers.BertForMaskedLM
    config.use_cache = False
    whole = kind(config).eval()
    whole.save_pretrained(tmp_path / "weights")
    tokens = torch.randint(0, 64, (1, 6))
    expected = call(whole, {"input_ids": tokens}).logits
    with torch.device("meta"):
        empty = kind(config).eval()
        graph = situ.torch.graph(empty, {"input_ids": torch.zeros(1, 6, dtype=torch.int64), "return_dict": False})
    layers = sorted({situ.torch.layer_of(op.layer or "") for op in graph} - {None})
    assert len(layers) == 4
    fix = {op.name: "gpu1" if situ.torch.layer_of(op.layer or "") in layers[2:] else "gpu0" for op in graph}
    for plan in (situ.place(graph, MACHINE, steps=50), situ.place(graph, MACHINE, fix=fix, fusion="none")):
        entries = plan.to_device_map()
        accelerate.utils.modeling.check_device_map(whole, entries)
        assert all(entries[layer] == (1 if layer in layers[2:] else 0) for layer in layers) or plan.solver != "fix"
        here = plan.to_device_map({"gpu0": "cpu", "gpu1": "cpu"})
        loaded = kind.from_pretrained(tmp_path / "weights", device_map=here).eval()
        torch.testing.assert_close(call(loaded, {"input_ids": tokens}).logits, expected)
        spread = plan.to_device_map({"gpu0": "cpu", "gpu1": "disk"})  # two places that this machine has
        if "disk" in spread.values():
            parts = kind.from_pretrained(tmp_path / "weights", device_map=spread, offload_folder=str(tmp_path / "disk")).eval()
            torch.testing.assert_close(call(parts, {"input_ids": tokens}).logits, expected)


def test_a_program_that_is_exported_already_is_left_as_it_is():
    module, inputs = made("tied")
    program = torch.export.export(module, inputs)
    before = str(program.graph)
    plan = situ.place(program, MACHINE, steps=50)
    torch.testing.assert_close(situ.torch.run(plan, *inputs, devices={**HERE, "cpu": "cpu"}), call(module, inputs), rtol=1e-5, atol=1e-5)
    assert str(program.graph) == before
