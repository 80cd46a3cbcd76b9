#!/usr/bin/env python3
"""Plans of groups of devices that split operators: what engines get, what they cannot do, and why a group.

    test_tensor_parallel.py SITU [NAME...]
"""
import json
import math
import pathlib
import re
import struct
import subprocess
import sys

from test_cli import SITU, main, situ, situ_json

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import llm_files

STEPS = ["--steps", "300"]
PAIR = ["--platform", "4*h100-80g@nvlink", "--tensor-parallel", "2", *STEPS]


def decoder(heads, kv_heads, layers=4, **more):
    """The header of a decoder by the names of Hugging Face, with its configuration."""
    hidden, inner, vocab = 16 * heads, 96, 300
    shapes = {"model.embed_tokens.weight": [vocab, hidden], "model.norm.weight": [hidden], "lm_head.weight": [vocab, hidden]}
    for k in range(layers):
        at = f"model.layers.{k}."
        shapes |= {f"{at}self_attn.{name}_proj.weight": [16 * n, hidden] for name, n in (("q", heads), ("k", kv_heads), ("v", kv_heads))}
        shapes |= {f"{at}self_attn.o_proj.weight": [hidden, 16 * heads], f"{at}mlp.gate_proj.weight": [inner, hidden],
                   f"{at}mlp.up_proj.weight": [inner, hidden], f"{at}mlp.down_proj.weight": [hidden, inner],
                   f"{at}input_layernorm.weight": [hidden], f"{at}post_attention_layernorm.weight": [hidden]}
    header, end = {}, 0
    for name, shape in shapes.items():
        n = 2 * math.prod(shape)
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [end, end + n]}
        end += n
    text = json.dumps(header).encode()
    pathlib.Path("decoder").mkdir(exist_ok=True)
    pathlib.Path("decoder/model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text)
    pathlib.Path("decoder/config.json").write_text(json.dumps({
        "model_type": "llama", "hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads, "num_key_value_heads": kv_heads,
        "intermediate_size": inner, "vocab_size": vocab, "max_position_embeddings": 256, **more}))
    return "decoder"


def pins(layers, cut, embedding="model.embed_tokens", block="model.layers.{}.input_layernorm", head="lm_head"):
    """Layers before `cut` on the first pair of GPUs, the others on the second."""
    devices = {embedding: "gpu0-1", **{block.format(k): "gpu0-1" if k < cut else "gpu2-3" for k in range(layers)}, head: "gpu2-3"}
    pathlib.Path("pins.json").write_text(json.dumps(devices))
    return ["--fix", "pins.json"]


def test_pytorch_gets_the_style_of_each_module():
    """Two stages of two GPUs: by columns what makes heads and hidden units, by rows what sums over them."""
    path = decoder(8, 4)
    situ("place", path, *PAIR, *pins(4, 1), "--write", "torch-tensor-parallel=split.json")
    found = json.loads(pathlib.Path("split.json").read_text())
    columns, rows = {"style": "ColwiseParallel"}, {"style": "RowwiseParallel"}
    layer = {"self_attn.q_proj": columns, "self_attn.k_proj": columns, "self_attn.v_proj": columns, "self_attn.o_proj": rows,
             "mlp.gate_proj": columns, "mlp.up_proj": columns, "mlp.down_proj": rows}
    modules = [{"model.embed_tokens": {**rows, "input_layouts": "Replicate"}}, {"lm_head": {**columns, "output_layouts": "Replicate"}}]
    for k in range(4):
        modules[k > 0] |= {f"model.layers.{k}.{name}": style for name, style in layer.items()}
    assert found == {"mesh": {"pp": 2, "tp": 2}, "split_points": {"model.layers.1": "BEGINNING"},
                     "stages": [{"device": device, "modules": of} for device, of in zip(("gpu0-1", "gpu2-3"), modules)]}, found


def test_what_pytorch_cannot_split_is_refused():
    llm_files.write("m.gguf", *llm_files.dense("llama", 4, 512, 8, 4, 1536, 3200))
    situ("place", "m.gguf", *PAIR, "--write", "torch-tensor-parallel=x", code=6, err="name the model's folder of safetensors instead")
    four = ["--platform", "4*h100-80g@nvlink", "--tensor-parallel", "4", *STEPS]
    situ("place", decoder(8, 2), *four, "--write", "torch-tensor-parallel=x", code=6, err="2 equal parts .* which 4 devices do not share evenly")
    situ("place", decoder(8, 4), *four, "--write", "torch-tensor-parallel=x")
    situ("place", decoder(8, 4), *four, "--copies", "2", "--write", "torch-tensor-parallel=x", code=6, err="is placed in 2 copies")
    situ("place", decoder(8, 1), *PAIR, "--write", "torch-tensor-parallel=x")  # one head: keys, values and attention are whole
    styles = json.loads(pathlib.Path("x").read_text())["stages"][0]["modules"]
    assert styles["model.layers.0.self_attn.k_proj"] == {"style": "ColwiseParallel", "output_layouts": "Replicate"}, styles


def test_engines_refuse_shares_that_are_not_equal():
    """12 heads, 3 of keys and values: three devices share them; two have no equal share of keys; six get copies of them,
    but not from torchtitan; four share neither. 96 hidden units among nine have no equal share either."""
    path = decoder(12, 3)
    over = lambda n: [path, "--platform", f"{n}*h100-80g@nvlink", "--tensor-parallel", str(n), *STEPS]
    for n, refused in ((3, []), (6, ["torchtitan"]), (2, ["vllm", "megatron", "torchtitan"]), (4, ["vllm", "megatron", "torchtitan"])):
        for engine in ("vllm", "megatron", "torchtitan"):
            says = {"code": 6, "err": f"has 3 heads of keys and values, which {n} devices of .* cannot share evenly"} if engine in refused else {}
            situ("place", *over(n), "--write", f"{engine}=out", **says)
    situ("place", *over(5), "--write", "vllm=out", code=6, err="has 12 heads, which 5 devices of vLLM")
    path = decoder(18, 9)
    situ("place", *over(9), "--write", "vllm=out", code=6, err="has 96 hidden units, which 9 devices of vLLM")


def test_what_llamacpp_cannot_split_is_refused():
    """By its own list (llm_arch_supports_sm_tensor) and its maximum of 16 devices; whole layers of them are placed."""
    on = ["--platform", "cpu+2*rtx3090", *STEPS, "--unused", "cpu", "--write", "llama.cpp=out"]
    for name in ("olmo2", "olmoe", "falcon-h1"):
        llm_files.write("m.gguf", *llm_files.dense(name, 4, 512, 8, 4, 1536, 3200))
        situ("place", "m.gguf", *on, "--tensor-parallel", "2", code=6, err=f"has the architecture {name}, whose operators llama.cpp does not split")
        situ("place", "m.gguf", *on, "--tensor-parallel", "auto")
        assert " -sm layer " in pathlib.Path("out").read_text()
    for name in ("llama", "qwen2"):
        llm_files.write("m.gguf", *llm_files.dense(name, 4, 512, 8, 4, 1536, 3200))
        situ("place", "m.gguf", *on, "--tensor-parallel", "2")
        assert " -sm tensor " in pathlib.Path("out").read_text()
    situ("place", "m.gguf", "--platform", "cpu+32*rtx3090", *STEPS, "--unused", "cpu", "--tensor-parallel", "32", "--write", "llama.cpp=out", code=6,
         err="has groups of 32, but llama.cpp splits over 16")
    situ("place", "m.gguf", *on, "--tensor-parallel", "2", "--kv-type", "bf16")
    for kind in ("q8_0", "q4_0"):  # since June 2026
        situ("place", "m.gguf", *on, "--tensor-parallel", "2", "--kv-type", kind)
    situ("place", "m.gguf", *on, "--tensor-parallel", "2", "--kv-type", "q5_1", code=6, err="cache")


def test_a_proof_about_groups_is_not_about_their_members_alone():
    """One GPU alone takes less than both together, which wait for each other. So nothing may be claimed of plans that keep
    operators whole on a GPU of a group, nor of other shares."""
    path = decoder(8, 4)
    rig = [path, "--platform", "cpu+2*rtx3090", "--unused", "cpu", *STEPS]
    alone = situ_json("place", *rig, "--unused", "gpu1")["value_ns"]
    other = situ_json("place", *rig, "--tensor-parallel", "1,1")["value_ns"]
    for shares, words in (("2", "one group of 2"), ("15,1", "one group with shares 93.75:6.25")):
        found = situ_json("place", *rig, "--tensor-parallel", shares)
        assert alone < found["lower_bound_ns"] and (shares == "2" or other < found["lower_bound_ns"]), (alone, other, found)
        assert f"plans that keep every operator on {words} or whole on one device outside groups, " in found["space"], found["space"]
        text = re.sub(r"\s+", " ", situ("place", *rig, "--tensor-parallel", shares))
        assert "the group gpu0-1 alone; no plan with these groups can be better" in text and "no split" not in text, text
    found = situ_json("place", path, *PAIR)["space"]
    assert found.startswith("plans that keep every operator on one group of 2, "), found
    note = re.sub(r"\s+", " ", situ("place", *rig, "--tensor-parallel", "auto"))
    assert "no plan takes less than" not in note and "no plan whose groups are all of one of these takes less than" in note, note


def test_experts_are_split_as_the_flags_say():
    """The costs split experts by hidden units, which is what vLLM does without --enable-expert-parallel; who judges a
    command with it is told."""
    llm_files.write("e.gguf", *llm_files.moe("llama", 4, 256, 4, 2, 64, 1000, 8, 2, 512))
    on = ["e.gguf", "--platform", "2*h100-80g@nvlink"]
    situ("place", *on, "--tensor-parallel", "2", *STEPS, "--write", "vllm=out")
    flags = pathlib.Path("out").read_text()
    assert "--tensor-parallel-size 2" in flags and "expert" not in flags, flags
    judged = situ("judge", "vllm serve e.gguf --tensor-parallel-size 2 --enable-expert-parallel", *on, *STEPS)
    assert "--enable-expert-parallel is not modelled" in judged, judged


def test_experts_beside_a_group():
    """Two GPUs split what they hold, the CPU has experts of some layers: the best of all 16 sets of layers that fit."""
    llm_files.write("e.gguf", *llm_files.moe("qwen3moe", 4, 1024, 16, 8, 64, 2000, 64, 8, 2048), with_data=False)
    gpu = {"name": "gpu", "base": "rtx3090", "count": 2, "memory_bytes": 350_000_000}  # a layer has 225 MB of experts
    platform = {"situ_platform": 1, "name": "small", "devices": [{"name": "cpu", "base": "celeron-j4105"}, gpu],
                "links": [{"from": "cpu", "to": "gpu", "kind": "pcie4"}]}
    pathlib.Path("small.json").write_text(json.dumps(platform))
    on = ["e.gguf", "--platform", "small.json", "--context", "512"]
    names = list(situ_json("place", *on, "--solver", "single")["placement"])
    experts = [re.compile(rf"blk\.{k}\.(ffn_(gate|up|down)_exps|experts_.*|ffn_moe.*)") for k in range(4)]
    best = math.inf
    for away in range(16):
        where = {n: "cpu" if any(away >> k & 1 and e.match(n) for k, e in enumerate(experts)) else "gpu0-1" for n in names}
        pathlib.Path("pins.json").write_text(json.dumps(where))
        fixed = subprocess.run([SITU, "place", *on, "--tensor-parallel", "2", "--fix", "pins.json", "--json"], capture_output=True, text=True)
        best = min(best, json.loads(fixed.stdout)["value_ns"]) if fixed.returncode == 0 else best
    exact = ["--tolerance", "0", "--min-gain", "0", "--uncertainty", "0", *STEPS]
    found = situ_json("place", *on, "--tensor-parallel", "2", *exact, "--write", "llama.cpp=out")
    assert found["value_ns"] <= best < math.inf, (found["value_ns"], best)
    flags = pathlib.Path("out").read_text().splitlines()[0]
    assert " -sm tensor " in flags and "exps=CPU" in flags, flags
    judged = situ_json("judge", f"llama-server {flags}", *on[:3], *STEPS)["rows"][0]
    assert judged["value_ns"] == found["value_ns"], (judged, found["value_ns"])
    assert situ_json("place", *on, *exact)["value_ns"] > found["value_ns"], "a group wins"


def large_model():
    """Layers whose weights take long to read: half a second of 1 GB/s for each."""
    llm_files.write("big.gguf", *llm_files.dense("llama", 4, 8192, 64, 8, 28672, 32000, kind="F16", out_kind="F16"), with_data=False)
    return "big.gguf"


def test_a_group_is_explained_by_what_it_saves_and_what_it_pays():
    """On one device as long as the plan without groups; the rest is collectives: two for each of four layers, one for the
    logits (the embedding is on the host, or is one more). An all-reduce of 8192 numbers in F32 over the host, four
    members, by hand: 15 us of the engine, and two steps of a third of 30 us and of two hops of 32 kB at 50.4 GB/s."""
    path, over = large_model(), ["--platform", "cpu+4*h100-80g", *STEPS]
    found, whole = (situ_json("place", path, *over, "--tensor-parallel", size, "--unused", "cpu", "-o", "plan.json") for size in ("4", "1"))
    (group,) = found["groups"]
    assert group["device"] == "gpu0-3" and group["members"] == 4 and group["links"] == 2, group
    assert group["one_member_ns"] == whole["value_ns"] and "groups" not in whole, (group, whole["value_ns"])
    assert group["split_ns"] + group["collective_ns"] == found["value_ns"], (group, found["value_ns"])
    assert group["one_member_ns"] / 4 < group["split_ns"] < group["one_member_ns"] / 3, group
    assert group["collectives"] == 2 * 4 + 2, group
    hop_ns = 4 * 8192 / 25.2e9 * 1e9
    reduce_ns = 15000 + 2 * (10000 + hop_ns)
    gather_ns = 15000 + 2 * 10000 + 0.75 * 4 * 32000 / 25.2e9 * 1e9
    assert group["step_latency_ns"] == 10000 and abs(group["collective_ns"] - 9 * reduce_ns - gather_ns) <= 10, group
    text = situ("place", path, *over, "--tensor-parallel", "4", "--unused", "cpu")
    assert "split over 4; collectives" in text and "through the" in text, text


def test_what_other_links_among_members_would_give_is_priced():
    """The change is a machine that can be named: the plan there is the second opinion. What is there already is not asked."""
    path = large_model()
    call = ["place", path, *STEPS, "--tensor-parallel", "4", "--unused", "cpu", "-o", "plan.json"]
    situ(*call, "--platform", "cpu+4*h100-80g")
    rows = {row["change"]: row["value_ns"] for row in situ_json("explain", "plan.json", *STEPS)["what_if"]}
    for kind in ("pcie4-p2p", "nvlink4"):
        asked = rows[f"members of groups like gpu0-3 joined by {kind}"]
        assert asked == situ_json(*call, "--platform", f"cpu+4*h100-80g@{kind}")["value_ns"], (kind, rows)
    situ(*call, "--platform", "cpu+4*h100-80g@nvlink")
    assert not any("joined" in row["change"] for row in situ_json("explain", "plan.json", *STEPS)["what_if"])


def test_a_plan_without_groups_says_what_groups_would_pay():
    """A small model over the host: the collectives of a group alone take longer than all of it on one GPU."""
    llm_files.write("m.gguf", *llm_files.dense("llama", 6, 512, 8, 4, 1536, 32000, kind="Q8_0", out_kind="Q8_0"))
    found = situ_json("place", "m.gguf", *STEPS, "--platform", "cpu+4*rtx3090", "--tensor-parallel", "auto", "--context", "256")
    assert [d["name"] for d in found["devices"] if d["operators"]] == ["gpu0"] and "groups" not in found
    assert any(re.search(r" 4 \S+ us \(at least [^;]*; split \S+ us, \S+ us of it collectives\)", note) for note in found["notes"]), found["notes"]


if __name__ == "__main__":
    sys.exit(main(globals()))
