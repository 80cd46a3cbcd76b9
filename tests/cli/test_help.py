#!/usr/bin/env python3
"""The examples of the help of every command work, on files of the names that they use.

    test_help.py SITU [NAME...]
"""
import json
import pathlib
import subprocess
import sys

from test_cli import commands, environment, main, situ, situ_json
from test_language_models import F, H, LLAMA, weights

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lab"))
import llm_files
from onnx_writer import graph, model, node, value

LAYERS = 48
# What engines print that are not installed.
NO_ENGINE = "not found in VIRTUAL_ENV", "llama-bench is not in PATH"


def files_of_the_examples():
    pathlib.Path("model.onnx").write_bytes(model(graph([node("Relu", ["x"], ["y"], "r"), node("Abs", ["y"], ["z"], "a")],
                                                       [value("x", [4])], [value("z", [4])])))
    for name, kind in (("a-Q8_0.gguf", "Q8_0"), ("b-Q4_K_M.gguf", "Q4_K")):
        llm_files.write(name, *llm_files.dense("llama", 8, 512, 8, 4, 1536, 32000, kind=kind, out_kind="Q8_0", context=32768))
    llm_files.write("model.gguf", *llm_files.dense("llama", 8, 512, 8, 4, 1536, 32000, kind="Q8_0", out_kind="Q8_0", context=32768))
    block = {name.partition("layers.0.")[2]: shape for name, shape in LLAMA.items() if "layers.0." in name}
    weights("folder", LLAMA | {f"model.layers.{k}.{name}": shape for k in range(LAYERS) for name, shape in block.items()}, "llama")
    pathlib.Path("folder/config.json").write_text(json.dumps(
        {"model_type": "llama", "num_hidden_layers": LAYERS, "hidden_size": H, "intermediate_size": F, "num_attention_heads": 4,
         "max_position_embeddings": 8192}))
    layers = {f"model.layers.{k}": int(k >= LAYERS // 2) for k in range(LAYERS)}
    pathlib.Path("device_map.json").write_text(json.dumps({"model.embed_tokens": 0, **layers, "model.norm": 1, "lm_head": 1}))


def examples_of(name):
    text = situ(name, "--help")
    return [line.strip() for line in text.partition("Examples:\n")[2].splitlines() if line.strip()]


def expect_examples_to_work(name):
    """Up to the first that needs an engine which is not installed."""
    for line in examples_of(name):
        line = line.replace("situ place builtin:inception-v3", "situ place --steps 500 builtin:inception-v3")
        done = subprocess.run(line, shell=True, capture_output=True, text=True, env=environment(), timeout=120)
        if done.returncode == 8 and any(text in done.stderr for text in NO_ENGINE):
            return
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        if "--json" in line:
            json.loads(done.stdout)


def test_examples_of_the_help_work():
    learns = len(situ_json("list", "learners")["learners"]) > 0
    files_of_the_examples()
    for name in commands():
        assert examples_of(name), name
        if name != "learn" or learns:
            expect_examples_to_work(name)


if __name__ == "__main__":
    sys.exit(main(globals()))
