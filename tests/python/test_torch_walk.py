"""A walk through PyTorch: ten architectures, each placed, judged, run by its plan, pickled, mapped, cut into a pipeline
and trained. Small sizes, on the CPU; weights are random."""
import concurrent.futures
import multiprocessing
import pickle
import warnings

import pytest

torch = pytest.importorskip("torch", reason="torch is absent")
transformers = pytest.importorskip("transformers", reason="transformers is absent")

import situ  # noqa: E402
import situ.torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

MACHINE = "cpu+2*a100-80g"
HERE = {"cpu": "cpu", "gpu0": "cpu", "gpu1": "cpu"}
SMALL = {"vocab_size": 100, "hidden_size": 32, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 64}
TOKENS = torch.arange(24).reshape(2, 12)


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(32, 32) for _ in range(4))

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


class Unet(nn.Module):
    """Two levels down and up, with skip connections and the time of a step."""

    def __init__(self):
        super().__init__()
        self.time, self.enter = nn.Linear(1, 8), nn.Conv2d(3, 8, 3, padding=1)
        self.down = nn.ModuleList(nn.Conv2d(8 << k, 16 << k, 3, 2, 1) for k in range(2))
        self.middle, self.norm = nn.Conv2d(32, 32, 3, padding=1), nn.GroupNorm(4, 32)
        self.up = nn.ModuleList(nn.ConvTranspose2d(32 >> k, 16 >> k, 2, 2) for k in range(2))
        self.join, self.leave = nn.ModuleList(nn.Conv2d(32 >> k, 16 >> k, 1) for k in range(2)), nn.Conv2d(8, 3, 1)

    def forward(self, x, t):
        x = self.enter(x) + self.time(t)[:, :, None, None]
        skips = []
        for down in self.down:
            skips.append(x)
            x = nn.functional.silu(down(x))
        x = self.norm(self.middle(x))
        for up, join, skip in zip(self.up, self.join, reversed(skips)):
            x = join(torch.cat([up(x), skip], 1))
        return self.leave(x)


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.cells, self.head = nn.Embedding(100, 16), nn.ModuleList([nn.LSTMCell(16, 16), nn.LSTMCell(16, 16)]), nn.Linear(16, 100)

    def forward(self, tokens):
        x = self.embed(tokens)
        state = [(x.new_zeros(x.shape[0], 16),) * 2 for _ in self.cells]
        for step in range(x.shape[1]):
            y = x[:, step]
            for k, cell in enumerate(self.cells):
                state[k] = cell(y, state[k])
                y = state[k][0]
        return self.head(y)


class Experts(nn.Module):
    """Every token goes through all experts, weighted by the two best: a mixture without routing by values."""

    def __init__(self):
        super().__init__()
        self.router = nn.Linear(32, 4)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32)) for _ in range(4))

    def forward(self, x):
        best, which = self.router(x).softmax(-1).topk(2, -1)
        share = torch.zeros(*x.shape[:-1], 4).scatter(-1, which, best)
        return sum(share[..., k : k + 1] * expert(x) for k, expert in enumerate(self.experts))


def of(config, model, **about):
    return lambda: getattr(transformers, model)(getattr(transformers, config)(**about)).eval()


PIXELS = {"pixel_values": torch.randn(1, 3, 32, 32)}
NETWORKS = {
    "mlp": (Mlp, (torch.randn(4, 32),)),
    "resnet": (of("ResNetConfig", "ResNetModel", embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic"), PIXELS),
    "bert": (of("BertConfig", "BertModel", **SMALL), {"input_ids": TOKENS}),
    "gpt2": (of("GPT2Config", "GPT2LMHeadModel", vocab_size=100, n_embd=32, n_layer=4, n_head=4, use_cache=False), {"input_ids": TOKENS}),
    "llama": (of("LlamaConfig", "LlamaForCausalLM", num_key_value_heads=2, use_cache=False, **SMALL), {"input_ids": TOKENS}),
    "t5": (of("T5Config", "T5Model", vocab_size=100, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, use_cache=False),
           {"input_ids": TOKENS, "decoder_input_ids": TOKENS[:, :5]}),
    "vit": (of("ViTConfig", "ViTModel", image_size=32, patch_size=8, **{k: v for k, v in SMALL.items() if k != "vocab_size"}), PIXELS),
    "unet": (Unet, (torch.randn(1, 3, 16, 16), torch.randn(1, 1))),
    "lstm": (Lstm, (TOKENS,)),
    "experts": (Experts, (torch.randn(2, 8, 32),)),
}
PRODUCTS = {"Conv", "ConvTranspose", "MatMul", "Gemm", "Attention", "LSTM"}
LAYERED = {"mlp", "bert", "gpt2", "llama", "vit"}  # one run of layers, which pipelines of PyTorch cut


def made_of(name):
    torch.manual_seed(0)
    build, inputs = NETWORKS[name]
    return build().eval(), inputs


def call(module, inputs):
    with torch.no_grad():
        return module(**inputs) if isinstance(inputs, dict) else module(*inputs)


def tensors(value):
    """The tensors in what a module returns."""
    if isinstance(value, torch.Tensor):
        return [value]
    values = value.values() if hasattr(value, "values") else value if isinstance(value, (tuple, list)) else []
    return [tensor for one in values for tensor in tensors(one)]


def placed(name, **options):
    module, inputs = made_of(name)
    return situ.place(module, MACHINE, example_inputs=inputs, steps=300, **options)


@pytest.fixture(scope="module", params=NETWORKS)
def walk(request):
    return request.param, placed(request.param)


def test_the_plan_is_valid_and_its_work_is_what_pytorch_counts(walk):
    name, plan = walk
    assert plan.check().valid and plan.bound_ns <= plan.value_ns <= plan.best_single_ns
    module, inputs = made_of(name)
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:  # attention as products, which it counts
        call(module, inputs)
    counted, ours = counter.get_total_flops(), sum(op.flops for op in plan.graph if op.kind in PRODUCTS)
    assert ours == pytest.approx(counted, rel=0.02), plan.unknown
    assert sum(op.weight_bytes for op in plan.graph) >= sum(p.nbytes for p in module.parameters()) * 0.99
    assert not any(guess.kind == "kind" for guess in plan.unknown), plan.unknown


def test_a_run_by_the_plan_returns_what_the_module_returns(walk):
    name, plan = walk
    module, inputs = made_of(name)
    devices, operators = ["gpu0", "gpu1"], plan.operators
    apart = situ.Problem(plan.source, MACHINE, fusion="none")
    split = {op: devices[k * 2 // len(operators)] for k, op in enumerate(operators)}
    for group in apart.units:  # what shares weights stays together
        split.update(dict.fromkeys(group, split[group[0]]))
    for one in (plan, apart.evaluate(split)):
        ran = situ.torch.run(one, *(() if isinstance(inputs, dict) else inputs), devices=HERE, **(inputs if isinstance(inputs, dict) else {}))
        expected, got = tensors(call(module, inputs)), tensors(ran)
        assert len(got) == len(expected) > 0
        for x, y in zip(expected, got):
            torch.testing.assert_close(y, x, rtol=1e-4, atol=1e-5)


def test_a_pickled_plan_makes_the_same_map(walk):
    name, plan = walk
    again = pickle.loads(pickle.dumps(plan))
    assert again.placement == plan.placement and again.value_ns == plan.value_ns
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", situ.SituWarning)
        assert situ.torch.device_map(again) == plan.to_device_map()
    with pytest.raises(AttributeError, match="in the process that exported it"):
        situ.torch.run(again, devices=HERE)


def test_the_map_covers_the_module_and_accelerate_takes_it(walk):
    accelerate = pytest.importorskip("accelerate", reason="accelerate is absent")
    name, plan = walk
    module, inputs = made_of(name)
    plan = situ.place(plan.source, MACHINE, granularity="layer", steps=100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", situ.SituWarning)
        mapped = plan.to_device_map(HERE)
    for state in [*dict(module.named_parameters()), *dict(module.named_buffers())]:
        assert sum(state == entry or state.startswith(entry + ".") for entry in mapped) >= 1, state
    accelerate.utils.check_device_map(module, mapped)
    expected = tensors(call(module, inputs))
    dispatched = accelerate.dispatch_model(module, mapped, main_device="cpu", force_hooks=True)
    for x, y in zip(expected, tensors(call(dispatched, inputs))):
        torch.testing.assert_close(y, x, rtol=1e-4, atol=1e-5)


def test_layers_are_cut_into_the_stages_of_a_pipeline(walk):
    name, plan = walk
    how = {"objective": "throughput", "writers": "torch-pipelining", "steps": 200, "unused": "cpu"}
    if name not in LAYERED:
        pytest.skip(f"{name} is no single run of layers")
    from torch.distributed.pipelining import pipeline

    module, inputs = made_of(name)
    plan = situ.place(plan.source, MACHINE, **how)
    points = situ.torch.split_points(plan)
    assert len(points) == len(set(plan.placement.values())) - 1
    try:
        cut = pipeline(module, mb_args=() if isinstance(inputs, dict) else inputs,
                       mb_kwargs=inputs if isinstance(inputs, dict) else None, split_spec=points)
    except (RuntimeError, TypeError, AssertionError) as failure:
        pytest.skip(f"PyTorch's pipeline does not take the module, whole or cut: {str(failure)[:80]}")
    assert cut.num_stages == len(points) + 1


def test_a_training_step_takes_more_of_everything(walk):
    name, plan = walk
    step = situ.place(plan.source, MACHINE, training=True, steps=100)
    forward = sum(op.flops for op in plan.graph)
    assert step.check().valid and {op.phase for op in step.graph} >= {"forward", "backward", "update"}
    assert 2 <= sum(op.flops for op in step.graph if op.phase != "update") / forward <= 3.5  # two products for each of one
    assert step.value_ns > plan.value_ns


def test_pools_return_plans_of_modules():
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        for name, plan in zip(["mlp", "lstm"], pool.map(placed, ["mlp", "lstm"])):
            assert plan.check().valid and plan.to_device_map() and plan.value_ns == placed(name).value_ns
