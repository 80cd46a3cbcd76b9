#!/usr/bin/env python3
"""Plans of groups for engines that split operators: what each gets, and what it cannot do.

    test_parallel_writers.py SITU [NAME...]
"""
import json
import math
import pathlib
import struct
import sys

from test_cli import main, situ

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
    situ("place", decoder(8, 1), *PAIR, "--write", "torch-tensor-parallel=x")  # one head: keys, values and attention are whole
    styles = json.loads(pathlib.Path("x").read_text())["stages"][0]["modules"]
    assert styles["model.layers.0.self_attn.k_proj"] == {"style": "ColwiseParallel", "output_layouts": "Replicate"}, styles


if __name__ == "__main__":
    sys.exit(main(globals()))
