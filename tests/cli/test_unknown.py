#!/usr/bin/env python3
"""What is unknown: nothing of models that situ understands, something of those that it does not, in every output.

    test_unknown.py SITU [NAME...]
"""
import json
import math
import pathlib
import re
import sys

from test_cli import HERE, SMALL, main, situ, situ_json
from test_language_models import F, FAMILIES, H, LLAMA, V, weights

sys.path.insert(0, str(HERE.parents[1] / "bench"))
import llm_files
from onnx_writer import BOOL, F32, I64, function, graph, model, node, value

ON = ["--platform", "cpu+rtx3090", "--steps", "200"]


def unknown(path, *options):
    return situ_json("inspect", path, *ON[:2], *options)["unknown"]


# ---- what is understood ----

def test_nothing_of_built_in_networks_is_unknown():
    for network in situ_json("list", "models")["models"]:
        for training in ([], ["--training"]):
            found = situ_json("inspect", f"builtin:{network['name']}", *training)
            assert (found["unknown"], found["unknown_share"], found["guessed"], found["not_inferred"]) == ([], 0, False, 0), found["model"]


# What config.json says of the families, in small.
CONFIG = {"hidden_size": H, "num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 16, "vocab_size": V}
MORE = {"mixtral": {"num_local_experts": 2, "num_experts_per_tok": 1},
        "deepseek_v3": {"kv_lora_rank": 32, "q_lora_rank": 32, "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 16,
                        "n_routed_experts": 1, "num_experts_per_tok": 1},
        "mamba": {"state_size": 16, "intermediate_size": F, "conv_kernel": 4}, "llava": {"num_hidden_layers": 2}}


def test_nothing_of_sixteen_architectures_is_unknown():
    """Those of llama.cpp's files, and of safetensors with a configuration that says heads, experts and states."""
    seen = set()
    for name, (keys, tensors) in llm_files.MODELS.items():
        llm_files.write("m.gguf", keys, tensors, with_data=False)
        assert unknown("m.gguf") == [], (name, unknown("m.gguf"))
        seen.add(keys["general.architecture"])
    for architecture, shapes in FAMILIES.items():
        weights("family", shapes, architecture)
        config = {"model_type": architecture, "num_hidden_layers": 2 if shapes is LLAMA else 1, **CONFIG, **MORE.get(architecture, {})}
        pathlib.Path("family/config.json").write_text(json.dumps(config))
        assert unknown("family") == [], (architecture, unknown("family"))
        seen.add(architecture)
    assert len(seen) >= 16, seen


def test_a_batch_of_one_is_no_guess():
    """One input is what latency is of; other sizes that nobody gave are guesses."""
    def sized(*shape):
        pathlib.Path("m.onnx").write_bytes(model(graph([node("Relu", ["x"], ["y"], "r")], [value("x", shape)], [value("y", shape)])))
        return [(row["kind"], row["subject"], row["operators"], row["share"]) for row in unknown("m.onnx")]

    assert sized("batch", 4) == sized("N", 3, 224, 224) == sized(2, 4) == []
    assert sized("batch", "seq") == [("size", "seq", 1, 1)]
    assert {row[1] for row in sized("N", 3, "height", "width")} == {"height", "width"}
    assert sized("sequence_length", 4) == [("size", "sequence_length", 1, 1)]
    for given in (["--dim", "sequence_length=7"], ["--default-dim", "7"]):
        assert unknown("m.onnx", *given) == []


# ---- what is not ----

def onnx(nodes, inputs=(value("x", [64, 64]),), outputs=(value("y", [64, 64]),), **more):
    pathlib.Path("m.onnx").write_bytes(model(graph(nodes, inputs, outputs), **more))
    return "m.onnx"


def loop(body, carried="x"):
    """`body` makes `o` of `i`, as often as an input says."""
    parts = graph([node("Identity", ["c"], ["d"], "next"), *body], [value("n", [], I64), value("c", [], BOOL), value("i", [64, 64])],
                  [value("d", [], BOOL), value("o", [64, 64])])
    return onnx([node("Loop", ["trips", "", carried], ["y"], "loop", body=parts)], [value("x", [64, 64]), value("trips", [], I64)])


def branches(one, other):
    def branch(kinds):
        steps = [node(kind, ["x" if k == 0 else f"t{k}"], ["b" if k + 1 == len(kinds) else f"t{k + 1}"]) for k, kind in enumerate(kinds)]
        return graph(steps, [], [value("b", [64, 64])])

    return onnx([node("If", ["c"], ["y"], "choice", then_branch=branch(one), else_branch=branch(other))],
                [value("x", [64, 64]), value("c", [], BOOL)])


def ir(kind, dims=(1, 8), data="", made=None, name="x"):
    """A Parameter, one layer of that kind, whose output may have other dimensions, a Result."""
    read = "".join(f"<dim>{d}</dim>" for d in dims)
    port = "".join(f"<dim>{d}</dim>" for d in made or dims)
    pathlib.Path("m.xml").write_text(f"""<?xml version="1.0"?><net name="m" version="11"><layers>
<layer id="0" name="{name}" type="Parameter" version="opset1"><output><port id="0" precision="FP32">{read}</port></output></layer>
<layer id="1" name="one" type="{kind}" version="opset1">{data}<input><port id="0">{read}</port></input>
<output><port id="1" precision="FP32">{port}</port></output></layer>
<layer id="2" name="y" type="Result" version="opset1"><input><port id="0">{port}</port></input></layer></layers>
<edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/><edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>""")
    return "m.xml"


def gguf(drop=(), more=(), base=None, without=()):
    """A small model without some keys and tensors, and with others."""
    keys, tensors = base or llm_files.dense("llama", 2, 256, 4, 2, 512, 1000, kind="Q8_0", out_kind="Q8_0")
    keys = {name: v for name, v in keys.items() if not any(name.endswith(end) for end in drop)}
    tensors = [t for t in tensors if not any(t[0].startswith(begin) for begin in without)] + list(more)
    llm_files.write("m.gguf", keys, tensors)
    return "m.gguf"


def experts():
    return llm_files.moe("llama", 2, 256, 4, 2, 64, 1000, 8, 2, 512)


def linear():
    return llm_files.hybrid("qwen35", 4, 256, 4, 2, 1000, 4, 512)


def safetensors(**config):
    weights("folder", LLAMA, "llama")
    if config:
        pathlib.Path("folder/config.json").write_text(json.dumps(config))
    else:
        pathlib.Path("folder/config.json").unlink()
    return "folder"


def packed(dtype, name, columns):
    """The products of the small model packed into words or bytes, and nothing that says how."""
    weights("folder", LLAMA, "llama")
    pathlib.Path("folder/config.json").write_text(json.dumps({"model_type": "llama", "num_hidden_layers": 2, **CONFIG}))
    header, end = {}, 0
    for tensor_name, shape in LLAMA.items():
        product = tensor_name.endswith("_proj.weight")
        shape = [shape[0], columns] if product else shape
        n = math.prod(shape) * (1 if product and dtype == "U8" else 4)
        header[tensor_name.replace("_proj.weight", f"_proj.{name}")] = {
            "dtype": dtype if product else "F32", "shape": shape, "data_offsets": [end, end + n]}
        end += n
    text = json.dumps(header).encode()
    pathlib.Path("folder/model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text)
    return "folder"


def graph_file(**of_second):
    operators = [{"name": "a", "kind": "MatMul", "dtype": "f32", "flops": 10**9, "moved_bytes": 10**6},
                 {"name": "b", "kind": "Frobnicate", "dtype": "f32", "flops": 10**9, "moved_bytes": 10**6, **of_second}]
    tensors = [{"name": "t", "from": "a", "to": ["b"], "dtype": "f32", "dims": [250], "bytes": 1000}]
    pathlib.Path("g.json").write_text(json.dumps({"situ_graph": 1, "name": "g", "operators": operators, "tensors": tensors}))
    return "g.json"


def with_guesses(*guesses):
    path = pathlib.Path(graph_file())
    path.write_text(json.dumps({**json.loads(path.read_text()), "guesses": guesses}))
    return "g.json"


GEMM = function("Twice", ["a"], ["b"], [node("Frobnicate", ["a"], ["b"], domain="other")])
MADE_UP = {
    "an operator of another domain": (lambda: onnx([node("Frobnicate", ["x"], ["y"], "f", "own")]), "kind", "own:Frobnicate"),
    "one with the name of a known kind": (lambda: onnx([node("Relu", ["x"], ["y"], "f", "own")]), "kind", "own:Relu"),
    "one within a function": (lambda: onnx([node("Twice", ["x"], ["y"], "f", "own")], functions=[GEMM]), "kind", "other:Frobnicate"),
    "one within a loop": (lambda: loop([node("Frobnicate", ["i"], ["o"], domain="own")]), "kind", "own:Frobnicate"),
    "a kind with a graph of its own": (lambda: onnx([node("Each", ["x"], ["y"], "f", "own", body=graph([], [], []))]), "kind", "own:Each"),
    "a loop of unknown length": (lambda: loop([node("Relu", ["i"], ["o"])]), "control", "loop"),
    "branches of unlike work": (lambda: branches(["Relu"], ["Relu", "Sqrt", "Exp"]), "control", "choice"),
    "a length": (lambda: onnx([node("Relu", ["x"], ["y"])], [value("x", ["batch", "seq", 64])], [value("y", ["batch", "seq", 64])]),
                 "size", "seq"),
    "sides of a picture": (lambda: onnx([node("Relu", ["x"], ["y"])], [value("x", [1, 3, "h", "w"])], [value("y", [1, 3, "h", "w"])]), "size", "h"),
    "a past": (lambda: onnx([node("Add", ["x", "p"], ["y"])], [value("x", [1, 64]), value("p", ["past_len", 64])], [value("y", ["n", 64])]),
               "size", "past_len"),
    "shapes by content": (lambda: onnx([node("NonZero", ["x"], ["i"]), node("Cast", ["i"], ["y"], to=F32)], outputs=[value("y", [2, "n"])]),
                          "shape", "Cast"),
    "a sequence of tensors": (lambda: onnx([node("SequenceConstruct", ["x"], ["y"])], outputs=[]), "shape", "SequenceConstruct"),
    "an element type": (lambda: onnx([node("Relu", ["x"], ["y"])], [value("x", [64], 0)], [value("y", [64], 0)]), "type", "Relu"),
    "a layer of OpenVINO": (lambda: ir("Frobnicate"), "kind", "Frobnicate"),
    "a side of a layer": (lambda: ir("ReLU", (1, -1)), "size", "x[1]"),
    "keys of the past": (lambda: ir("ReLU", (1, -1, 8), name="past_keys"), "size", "past"),
    "a state that grows": (lambda: ir("ReadValue", (1, 0, 8), '<data variable_id="k" variable_type="f32" variable_shape="?,?,8"/>', (1, -1, 8)),
                           "size", "past"),
    "a weight of no known use": (lambda: gguf(more=[("blk.0.frobnicate.weight", 0, (256, 256))]), "role", "frobnicate"),
    "one outside of blocks": (lambda: gguf(more=[("frobnicate.weight", 0, (256, 256))]), "role", "frobnicate"),
    "heads": (lambda: gguf(drop=["head_count", "head_count_kv", "key_length", "value_length"]), "structure", "heads of attention"),
    "experts": (lambda: gguf(base=experts(), drop=["expert_used_count"]), "structure", "experts that a token uses"),
    "a state": (lambda: gguf(base=linear(), drop=["ssm.state_size"]), "structure", "how blocks mix tokens"),
    "an embedding": (lambda: gguf(without=["token_embd"]), "structure", "embedding of tokens"),
    "a head": (lambda: gguf(without=["token_embd", "output.weight"]), "structure", "head"),
    "a configuration": (safetensors, "structure", "heads of attention"),
    "work": (lambda: graph_file(inferred=False), "kind", "Frobnicate"),
    "a guess of a graph file": (lambda: with_guesses({"kind": "packing", "subject": "w", "operators": ["a"]}), "packing", "w"),
    "one about all of its operators": (lambda: with_guesses({"kind": "size", "subject": "seq"}), "size", "seq"),
    "work of a known kind": (lambda: graph_file(inferred=False, kind="Conv"), "shape", "Conv"),
}


def changed(config=None, rename=None, more=None, drop=(), resize=None):
    """The small decoder as safetensors with its configuration, and something that no model has which situ knows."""
    tensors = {n.replace(*rename) if rename else n: s for n, s in LLAMA.items() if not any(part in n for part in drop)}
    for k in range(2):
        tensors |= {f"model.layers.{k}.{n}.weight": s for n, s in (more or {}).items()}
    tensors = {n: next((s for part, s in (resize or {}).items() if part in n), shape) for n, shape in tensors.items()}
    weights("folder", tensors, "llama")
    said = {"model_type": "llama", "num_hidden_layers": 2, "intermediate_size": F, **CONFIG, **(config or {})}
    pathlib.Path("folder/config.json").write_text(json.dumps({name: v for name, v in said.items() if v is not None}))
    return "folder"


def bank(path, n=4):
    """Experts one by one."""
    return {f"{path}.{e}.{m}_proj": [H, F] if m == "down" else [F, H] for e in range(n) for m in ("gate", "up", "down")}


ROUTED, USES = {**bank("mlp.experts"), "mlp.gate": [4, H]}, {"num_experts": 4, "num_experts_per_tok": 2}
# What is guessed of it, or None where it is refused.
CHANGED = {
    "an architecture of another name": (lambda: changed({"model_type": "frobnicate"}), "architecture"),
    "one without a name": (lambda: changed({"model_type": None}), "architecture"),
    "another module around attention": (lambda: changed(rename=("self_attn", "retention")), "retention.q_proj"),
    "another module around products": (lambda: changed(rename=("mlp.", "frob.")), "frob.up_proj"),
    "a second query": (lambda: changed(more={"self_attn.q_proj_2": [H, H]}), "self_attn.q_proj_2"),
    "a second attention": (lambda: changed(more={f"self_attn2.{m}_proj": [H, H] for m in "qkvo"}), "self_attn2.q_proj"),
    "a second feed-forward part": (lambda: changed(more={"mlp2.up_proj": [F, H], "mlp2.down_proj": [H, F]}), "mlp2.up_proj"),
    "a convolution of each channel": (lambda: changed(more={"conv": [H, 1, 3]}), "convolutions of blocks"),
    "a convolution": (lambda: changed(more={"conv": [H, H, 3]}), None),
    "a convolution of places": (lambda: changed(more={"conv": [H, H, 3, 3]}), None),
    "experts of another name": (lambda: changed(drop=["mlp"], more={**bank("ffn_pool"), "ffn_pool.selector": [4, H]}), "ffn_pool.0.up_proj"),
    "experts without a choice": (lambda: changed(USES, drop=["mlp"], more=bank("mlp.experts")), "choice of experts"),
    "fewer experts than are said": (lambda: changed({**USES, "num_experts": 8}, drop=["mlp"], more=ROUTED), "number of experts"),
    "experts of which nobody says how many work": (lambda: changed(drop=["mlp"], more=ROUTED), "experts that a token uses"),
    "a bank of matrices": (lambda: changed(more={"mlp.bank": [8, F, H]}), None),
    "another matrix in each block": (lambda: changed(more={"adapter": [H, H]}), None),
    "a renamed query": (lambda: changed(rename=("q_proj", "frob")), None),
    "a renamed embedding": (lambda: changed(rename=("embed_tokens", "lookup")), None),
    "a renamed head": (lambda: changed(rename=("lm_head", "final")), None),
    "renamed blocks": (lambda: changed(rename=("layers", "stages")), None),
    "a second head": (lambda: changed(more={"lm_head2": [V, H]}), None),
    "no values": (lambda: changed(drop=["1.self_attn.v_proj"]), "values of attention"),
    "no way out of a feed-forward part": (lambda: changed(drop=["1.mlp.down_proj"]), "outputs of feed-forward parts"),
    "a product wider than its input": (lambda: changed(resize={"gate_proj": [F, 2 * H]}), "mlp.gate_proj"),
    "fewer blocks than are said": (lambda: changed({"num_hidden_layers": 4}), "blocks that are absent"),
    "blocks that are absent": (lambda: changed({"num_hidden_layers": 6}, rename=("layers.1", "layers.5")), "blocks that are absent"),
    "heads that nothing says": (lambda: changed({"num_attention_heads": None, "head_dim": None, "num_key_value_heads": None}), "heads of attention"),
    "a mixer without a state": (lambda: changed(drop=["self_attn"], more={"mixer.in_proj": [3 * H, H], "mixer.out_proj": [H, H]}), "how blocks mix tokens"),
}
# Weights of unknown packing are refused or unknown.
PACKED = {"words of four bits": ("I32", "qweight", H // 8), "words of MLX": ("U32", "weight", H // 8), "bytes": ("U8", "weight", H // 2)}


def test_something_of_made_up_models_is_unknown():
    assert len(MADE_UP) >= 20
    for name, (make, kind, subject) in MADE_UP.items():
        found = unknown(make())
        assert any(row["kind"] == kind and row["subject"].startswith(subject) and row["operators"] > 0 for row in found), (name, found)
        assert all(0 <= row["share"] <= 1 for row in found), found
        shares = [row["share"] for row in found]
        assert shares == sorted(shares, reverse=True), found


def test_changed_decoders_are_refused_or_unknown():
    """More than 5 % of the time, so that no claim is made that rests on it."""
    assert unknown(changed()) == [] and unknown(changed(USES, drop=["mlp"], more=ROUTED)) == []
    for name, (make, subject) in CHANGED.items():
        path = make()
        if subject is None:
            situ("inspect", path, code=3, err="is not a language model as situ reads them")
            continue
        said = situ_json("inspect", path, *ON[:2])
        assert subject in [row["subject"] for row in said["unknown"]], (name, said["unknown"])
        assert said["guessed"] is True, (name, said["unknown"])


def test_guesses_of_graph_files_are_read_strictly():
    for wrong, message in (({"kind": "frob", "subject": "w"}, '"kind" must be'), ({"kind": "size"}, '"subject" is missing'),
                           ({"kind": "size", "subject": "s", "operators": []}, '"operators" must be'),
                           ({"kind": "size", "subject": "s", "operators": ["z"]}, "not an operator"), ({"kinds": "size"}, "kinds")):
        situ("inspect", with_guesses(wrong), code=3, err=message)
    assert [row["operators"] for row in unknown(with_guesses({"kind": "size", "subject": "seq"}, {"kind": "role", "subject": "w", "operators": ["b", "b"]}))] == [2, 1]


def test_a_packing_that_nothing_states_is_refused_or_unknown():
    for name, how in PACKED.items():
        path = packed(*how)
        try:
            assert any(row["kind"] == "packing" for row in unknown(path)), name
        except AssertionError:
            situ("inspect", path, code=3, err="pack")


def test_a_custom_operator_is_not_fused_as_its_namesake():
    def kernels(domain):
        return situ_json("inspect", onnx([node("MatMul", ["x", "x"], ["m"], "m"), node("Relu", ["m"], ["y"], "r", domain)]))

    assert kernels("")["kernels"] == 1 and kernels("own")["kernels"] == 2
    assert {row["kind"] for row in kernels("own")["kinds"]} == {"MatMul", "own:Relu"}


# ---- what is said of it ----

def half():
    """a is known, b is not, and both take the same time."""
    return graph_file(inferred=False)


CLAIM = re.compile(r"optimal|verified|no split can|improvement")


def squeeze(text):
    return re.sub(r"\s+", " ", text)


def test_every_output_says_what_is_unknown():
    path = half()
    place = ["place", path, *ON]
    line = "unknown 1 operator, 50 % of the time: no cost rule for Frobnicate"
    for call in (place, ["compare", path, *ON, "--solver", "single,tabu"], ["inspect", path, *ON[:2]], [*place, "-o", "plan.json"],
                 ["check", "plan.json"], ["explain", "plan.json", "--steps", "50"],
                 ["pareto", path, *ON], ["size", path, "--goal", "latency<=1ms", "--among", "cpu+rtx3090"]):
        said = squeeze(situ(*call))
        assert line in said, (call, said)
        assert "proved optimal" not in said and "no split can be better" not in said, said
    assert "optimal for guessed costs" in squeeze(situ(*place)), situ(*place)
    situ("report", "plan.json", "-o", "page.html")
    assert "no cost rule for Frobnicate" in pathlib.Path("page.html").read_text()
    for call in (place, ["compare", path, *ON, "--solver", "single"], ["check", "plan.json"], ["explain", "plan.json", "--no-what-if"],
                 ["pareto", path, *ON], ["inspect", path, *ON[:2]]):
        said = situ_json(*call)
        assert said["unknown"] == [{"kind": "kind", "subject": "Frobnicate", "operators": 1, "share": 0.5}], said
        assert said["unknown_share"] == 0.5 and said["guessed"] is True, said
    row = situ_json("size", path, "--goal", "latency<=1ms", "--among", "cpu+rtx3090")["rows"][0]
    assert row["unknown"][0]["subject"] == "Frobnicate" and row["guessed"] is True, row
    goal = squeeze(situ("size", path, "--goal", "latency<=1ns", "--among", "cpu+rtx3090", code=4))
    assert "for guessed costs" in goal and "proved" not in goal, goal


def test_what_fits_is_said_with_what_is_unknown():
    """A weight of no known use, as large as all others of the model together."""
    path = gguf(more=[("blk.0.frobnicate.weight", 0, (256, 16384))])
    call = ["fit", path, "--platform", "cpu", "--max", "8192", "--steps", "50"]
    assert "role of frobnicate" in squeeze(situ(*call))
    said = situ_json(*call)
    assert said["unknown"][0]["subject"] == "frobnicate" and said["guessed"] is True, said
    goal = squeeze(situ(*call, "--goal", "latency<=1us", code=4))
    assert "impossible for guessed costs" in goal and "proved" not in goal, goal
    situ(*call, "--strict", code=9, err="role of frobnicate")


def test_a_command_is_judged_with_what_is_unknown():
    path = gguf(more=[("blk.0.frobnicate.weight", 0, (256, 16384))])
    call = ["judge", f"llama-server -m {path} -ngl 99", path, "--platform", "cpu+rtx3090", "--steps", "50"]
    said = squeeze(situ(*call))
    assert "role of frobnicate" in said and re.search("no plan takes less than [^,]*, for guessed costs", said), said
    assert situ_json(*call)["unknown"][0]["subject"] == "frobnicate"
    situ(*call, "--strict", code=9, err="role of frobnicate")


def test_up_to_the_limit_claims_are_as_they_were():
    path = half()
    assert "proved optimal for these costs" in situ("place", path, *ON, "--max-unknown", "50")
    assert "optimal for guessed costs" in situ("place", path, *ON, "--max-unknown", "49.9", "-o", "plan.json")
    assert "proved optimal for these costs" in situ("place", SMALL, *ON, "--max-unknown", "0.001", "--solver", "single", "--unused", "cpu")
    situ("place", path, "--max-unknown", "0", code=2)
    situ("place", path, "--max-unknown", "101", code=2)
    # the plan file knows its limit
    situ("place", path, *ON, "--max-unknown", "60", "-o", "plan.json")
    assert situ_json("check", "plan.json")["guessed"] is False
    assert situ_json("check", "plan.json", "--max-unknown", "40")["guessed"] is True
    judged = situ("check", "plan.json", "--max-unknown", "40", "--require-proof")
    assert "for guessed costs" in squeeze(judged), judged  # the bound is that of the plan, and still verified
    assert "max_unknown_percent" in pathlib.Path("plan.json").read_text()


def test_strict_calls_refuse_with_9():
    path = half()
    err = "more than 5 % is guessed .*no cost rule for Frobnicate.*; measure times .--cost-table., or allow more"
    for call in (["place", path, *ON, "-o", "plan.json"], ["inspect", path], ["compare", path, *ON], ["pareto", path, *ON],
                 ["size", path, "--goal", "latency<=1ms"]):
        situ(*call, "--strict", code=9, err=err)
        assert not pathlib.Path("plan.json").exists()
    situ("place", path, *ON, "--strict", "--max-unknown", "50", "-o", "plan.json")
    for command in ("check", "explain", "simulate", "report"):
        more = ["-o", "page.html"] if command == "report" else []
        situ(command, "plan.json", "--strict", *more)
        situ(command, "plan.json", "--strict", "--max-unknown", "10", *more, code=9, err="more than 10 %")
    situ("inspect", SMALL, "--strict", "--max-unknown", "0.001")
    assert "9 more is guessed" in situ("--help")


def test_a_measured_time_is_no_guess():
    """On both devices; on one alone the other is still a guess."""
    path = half()
    def table(*classes):
        times = {"b": {name: 5000 for name in classes}}
        pathlib.Path("t.json").write_text(json.dumps({"situ_costs": 1, "unit": "ns", "classes": ["cpu", "rtx3090-24g"], "operators": times}))
        return situ_json("inspect", path, "--platform", "cpu+rtx3090", "--cost-table", "t.json")

    names = {row["class"] for row in situ_json("place", path, *ON)["devices"]}
    assert table("cpu")["unknown"] and names, names
    known = table(*names)
    assert known["unknown"] == [] and known["unknown_share"] == 0, known
    situ("place", path, *ON, "--cost-table", "t.json", "--strict", out="optimal for these costs|gap")


def test_times_of_the_file_are_no_guess():
    profile = ("node1 -- Frobnicate(3) -- forward_compute_time=1.0, backward_compute_time=2.0, activation_size=100.0, parameter_size=10.0\n"
               "node2 -- Linear -- forward_compute_time=2.0, backward_compute_time=2.0, activation_size=100.0, parameter_size=10.0\n\tnode1 -- node2\n")
    pathlib.Path("p.txt").write_text(profile)
    assert situ_json("inspect", "p.txt")["unknown"] == []
    assert situ_json("inspect", "p.txt", "--platform", "v100-16g")["unknown"] == []  # it was measured on that
    elsewhere = situ_json("inspect", "p.txt", "--platform", "a100-40g")
    assert {row["kind"] for row in elsewhere["unknown"]} == {"work"} and elsewhere["unknown_share"] == 1, elsewhere


def test_a_past_that_is_given_is_no_guess():
    path = MADE_UP["a state that grows"][0]()
    assert [row["subject"] for row in unknown(path)] == ["past"]
    assert unknown(path, "--dim", "past=7") == []


def test_a_plan_file_remembers_which_sizes_were_guessed():
    """Its sizes are given when it is read again, whatever they were when it was made."""
    shape = ["batch", 3, "height", 32]
    pathlib.Path("m.onnx").write_bytes(model(graph([node("Relu", ["x"], ["y"], "r")], [value("x", shape), value("q", [4, "rest"], I64)],
                                                   [value("y", shape)])))
    made = situ_json("place", "m.onnx", *ON, "-o", "plan.json")
    assert {row["subject"] for row in made["unknown"]} == {"height", "rest"}, made["unknown"]
    instance = json.loads(pathlib.Path("plan.json").read_text())["instance"]
    assert sorted(instance["assumed_dims"]) == ["height", "rest"] and instance["dims"]["height"] == 32
    for command in (["check"], ["explain", "--no-what-if"], ["simulate"]):
        said = situ_json(*command, "plan.json")
        assert said["unknown"] == made["unknown"] and said["guessed"] is True, (said, made["unknown"])
    given = situ_json("place", "m.onnx", *ON, "--dim", "height=32", "--dim", "rest=1", "-o", "plan.json")
    assert given["unknown"] == [] and situ_json("check", "plan.json")["unknown"] == []
    assert "assumed_dims" not in pathlib.Path("plan.json").read_text()
    for wrong in ("height", [1], {"height": 1}):
        changed = json.loads(pathlib.Path("plan.json").read_text())
        changed["instance"]["assumed_dims"] = wrong
        pathlib.Path("bad.json").write_text(json.dumps(changed))
        situ("check", "bad.json", code=3, err="instance.assumed_dims: expected")


if __name__ == "__main__":
    sys.exit(main(globals()))
