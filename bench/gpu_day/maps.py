#!/usr/bin/env python3
"""Layers of a language model in the host's memory, by a device map of accelerate: predicted and measured tokens per second.

    maps.py OUT.csv SITU_FOLDER [--seconds 60] [--small]

A map puts the last layers on "cpu": accelerate copies their weights to the GPU in each step."""
import argparse
import json
import pathlib
import tempfile

import accelerate
import torch
import transformers
from common import CUDA, GPU, Rows, card, each, median_ms, scratch, situ

HEAD = ["layers on the host", "of", "phase", "tokens", "predicted_ms", "measured_ms", "card"]
PROMPT, GENERATE = 512, 64


def config(small):
    k = 8 if small else 1
    return transformers.LlamaConfig(vocab_size=32000, hidden_size=4096 // k, intermediate_size=11008 // k, num_hidden_layers=16,
                                    num_attention_heads=32, num_key_value_heads=32, max_position_embeddings=4096)


def shapes_file(folder, module):
    """config.json and the header of a safetensors file without data, which is all that situ reads."""
    about, at = {}, 0
    for name, p in module.named_parameters():
        size = p.numel() * p.element_size()
        about[name] = {"dtype": "BF16", "shape": list(p.shape), "data_offsets": [at, at + size]}
        at += size
    head = json.dumps(about).encode()
    with open(folder / "model.safetensors", "wb") as f:
        f.write(len(head).to_bytes(8, "little") + head)
        f.truncate(8 + len(head) + at)
    module.config.save_pretrained(folder)
    made = json.loads((folder / "config.json").read_text())
    made["torch_dtype"] = "bfloat16"
    made.setdefault("architectures", ["LlamaForCausalLM"])
    (folder / "config.json").write_text(json.dumps(made))


def map_of(n, on_host):
    made = {"model.embed_tokens": 0, "model.rotary_emb": 0, "model.norm": 0, "lm_head": 0}
    return made | {f"model.layers.{i}": 0 if i < n - on_host else "cpu" for i in range(n)}


def predicted(folder, tool, entries, *request):
    (folder / "map.json").write_text(json.dumps(entries))
    done = situ(tool, "judge", str(folder / "map.json"), str(folder), "--format", "device-map", "--platform", f"cpu+{card()[1]}",
                *request, "--steps", "50", "--json")
    if not done.stdout:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)["rows"][0]["value_ns"] / 1e6


def built(small):
    torch.manual_seed(1)
    with torch.device(GPU):
        return transformers.LlamaForCausalLM(config(small)).to(torch.bfloat16).eval()


def measure(rows, on_host, small, tool, folder):
    module, title = built(small), card()[0]
    n = len(module.model.layers)
    shapes_file(folder, module)
    entries = map_of(n, on_host)
    guess = {"prefill": predicted(folder, tool, entries, "--prompt", str(PROMPT)),
             "decode": predicted(folder, tool, entries, "--context", str(PROMPT + GENERATE))}
    if CUDA:
        # What is on the GPU when it is dispatched is copied from there, not from the host.
        module = accelerate.dispatch_model(module.to("cpu") if on_host else module, entries, main_device=0)
    tokens = torch.randint(0, 32000, (1, PROMPT), device=GPU)
    with torch.inference_mode():
        prefill = median_ms(lambda: module(tokens, use_cache=True, logits_to_keep=1), 3, 1)
        cache = module(tokens, use_cache=True, logits_to_keep=1).past_key_values
        decode = median_ms(lambda: module(tokens[:, :1], past_key_values=cache, use_cache=True), 8, 2)
    rows.add(on_host, n, "prefill", PROMPT, guess["prefill"], prefill, title)
    rows.add(on_host, n, "decode", 1, guess["decode"], decode, title)


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("out")
    ask.add_argument("situ", type=pathlib.Path)
    ask.add_argument("--seconds", type=float, default=60)
    ask.add_argument("--small", action="store_true")
    o = ask.parse_args()
    rows = Rows(o.out, HEAD, o.seconds)
    with tempfile.TemporaryDirectory(dir=scratch()) as folder:
        each(rows, [(k, o.small, o.situ, pathlib.Path(folder)) for k in (8, 0, 16, 4, 0)], measure)


if __name__ == "__main__":
    main()
