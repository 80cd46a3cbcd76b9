#!/usr/bin/env python3
"""Language models from outside: requests, rules and formats of engines.

    test_language_models.py SITU [NAME...]
"""
import json
import math
import pathlib
import re
import struct
import subprocess
import sys

from test_cli import QUICK, SMALL, main, situ, situ_json

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import llm_files


def language_model():
    """A small one, whose layers are 6 times 2.5 MB. What it computes nobody asks."""
    llm_files.write("m.gguf", *llm_files.dense("llama", 6, 512, 8, 4, 1536, 32000, kind="Q8_0", out_kind="Q8_0"))
    return "m.gguf"


def test_a_language_model_is_written_for_each_engine():
    path = language_model()
    for name in ("llama.cpp", "vllm", "device-map", "exo", "torch-pipelining", "torchtitan"):
        situ("place", path, "--platform", "cpu+2*rtx3090", "--granularity", "block", *QUICK, "--unused", "cpu", "--write", f"{name}=out")
        assert pathlib.Path("out").stat().st_size > 30, name
    situ("place", path, "--platform", "cpu+2*rtx3090", "--granularity", "block", *QUICK, "--unused", "cpu", "--context", "700", "--write", "llama.cpp=out")
    assert " -c 700 --fit off" in pathlib.Path("out").read_text()


def test_a_shell_passes_flags_on_as_the_pages_say():
    """`$(cat FILE)` splits at blanks and keeps quotes, which llama.cpp would take for part of a name; `eval` reads them."""
    shell = lambda line: subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True).stdout.splitlines()
    call = ["--unused", "cpu", "--granularity", "layer", *QUICK, "--write", "llama.cpp=flags.txt"]
    situ("place", language_model(), "--platform", "cpu+2*rtx3090", *call)
    assert "token_embd.weight=CUDA0" in shell("printf '%s\\n' $(cat flags.txt)")
    llm_files.write("e.gguf", *llm_files.moe("llama", 4, 256, 4, 2, 64, 1000, 8, 2, 512))
    found = situ_json("place", "e.gguf", "--platform", "cpu+rtx3090", *QUICK)["placement"]
    experts = {row.split(",")[0] for row in situ("costs", "e.gguf").splitlines() if re.match("blk.2.*,Experts", row)}
    pins = {name: "cpu" if name in experts else "gpu0" for name in found}
    pathlib.Path("pins.json").write_text(json.dumps(pins))
    situ("place", "e.gguf", "--platform", "cpu+rtx3090", "--fix", "pins.json", *call[4:])
    flags = pathlib.Path("flags.txt").read_text()
    assert "exps=CPU" in flags, flags
    assert not any("'" in word for word in shell(f"eval \"printf '%s\\n' $(cat flags.txt)\"")), flags


def test_a_request_takes_as_long_as_its_steps():
    """A prompt of 600 tokens is two micro-batches of 300; 10 steps of decoding follow, behind 600 .. 609 tokens. On one
    device, a step at the mean, 604.5, costs what the steps cost on average: attention grows linearly."""
    path = language_model()
    call = [path, "--platform", "cpu+rtx3090", "--solver", "single", "--context", "1024", "--unused", "cpu"]
    whole = situ_json("place", *call, "--prompt", "600", "--generate", "10", "-o", "plan.json")
    prompt = situ_json("place", *call, "--prompt", "600")
    decoding = 10 * 1e9 / whole["decode_tokens_per_second"]
    assert abs(whole["value_ns"] - prompt["value_ns"] - decoding) < 1e-6 * whole["value_ns"], (whole, prompt)
    assert abs(600e9 / prompt["value_ns"] - prompt["tokens_per_second"]) < 1e-6 * prompt["tokens_per_second"]
    assert abs(whole["prefill_tokens_per_second"] - prompt["tokens_per_second"]) < 1e-6 * prompt["tokens_per_second"]
    situ("check", "plan.json")
    one = situ_json("place", *call)
    assert abs(1e9 / one["value_ns"] - one["tokens_per_second"]) < 1e-6 * one["tokens_per_second"]
    situ("place", SMALL, "--prompt", "5", code=2, err="has no tokens to count")
    ours = situ_json("inspect", "builtin:llama?layers=1", "--prompt", "64", "--batch", "2")["total"]
    assert ours == situ_json("inspect", "builtin:llama?layers=1&tokens=64&batch=2")["total"]


def test_a_cache_of_another_type_has_its_bytes():
    """6 layers x 4096 cells x 2 x 4 heads x 64 elements: of 2 bytes, or of blocks of 32 in 34 (q8_0) and 18 (q4_0)."""
    path = language_model()

    def weights(*options):
        return situ_json("inspect", path, *options)["total"]["weight_bytes"]

    elements = 6 * 4096 * 512
    assert weights() - weights("--kv-type", "q8_0") == elements * 2 - elements * 34 // 32
    assert weights() - weights("--kv-type", "q4_0") == elements * 2 - elements * 18 // 32
    assert weights("--kv-type", "f16") == weights()
    situ("place", path, "--platform", "cpu+rtx3090", "--granularity", "block", *QUICK, "--kv-type", "q8_0", "--write", "llama.cpp=out")
    assert " -ctk q8_0 -ctv q8_0 -fa on" in pathlib.Path("out").read_text()
    large = situ_json("place", path, "--platform", "rtx3060", "--context", "4096", "--batch", "1000", code=4)
    assert large["reason"].startswith("memory: the weights and caches need"), large["reason"]  # 25 GB of caches, 0.05 of weights
    situ("place", path, "--kv-type", "q9_0", code=2)
    situ("place", SMALL, "--kv-type", "q8_0", code=2)  # no language model


def test_a_draft_adds_the_tokens_that_are_expected():
    """Four guesses, each right with 0.7: 1 + 0.7 + 0.49 + 0.343 + 0.2401 = 2.7731 tokens a step; 30 tokens take 11 steps."""
    path = language_model()
    call = ["place", path, "--platform", "cpu+rtx3090", "--solver", "single", "--unused", "cpu", "--draft", "4"]
    one = situ_json(*call)
    assert abs(one["value_ns"] * one["tokens_per_second"] / 1e9 - 2.7731) < 1e-6, one
    plain = situ_json(*call[:-2])
    assert plain["value_ns"] <= one["value_ns"] < 5 * plain["value_ns"], (plain, one)  # it verifies five tokens at once
    whole, prompt = (situ_json(*call, "--context", "512", "--prompt", "64", *more) for more in (["--generate", "30"], []))
    steps = (whole["value_ns"] - prompt["value_ns"]) / (2.7731e9 / whole["decode_tokens_per_second"])
    assert abs(steps - 11) < 1e-6, steps
    situ("place", path, "--acceptance", "0.5", code=2)  # of what?


def test_one_objective_under_a_limit_on_the_other():
    """The ends of the limits are the plans without any; a plan file with a tighter limit is refused; both limits are
    judged by the steps that the other objective has."""
    machine = ["--platform", "(gb10-128g)@ethernet-10g+(m3-ultra)@ethernet-10g", "--prompt", "512"]
    call = ["place", language_model(), *machine, "--steps", "300"]
    plan = pathlib.Path("limited.json")
    prompt = situ_json(*call)
    decode = situ_json(*call, "--max-ttft", "100s", "-o", plan)
    assert decode["other_limit"] == {"of": "time to first token", "max_ns": 10**11}, decode
    assert decode["other_ns"] >= prompt["value_ns"] and decode["value_ns"] > 0, (decode, prompt)
    assert decode["tokens_per_second"] == decode["decode_tokens_per_second"], decode
    under = situ_json(*call, "--max-ttft", f'{prompt["value_ns"]}ns')
    assert under["other_ns"] == prompt["value_ns"] and under["value_ns"] >= decode["value_ns"], under
    fast = situ_json(*call, "--min-speed", "1e-3")
    assert fast["value_ns"] == prompt["value_ns"] and fast["other_limit"]["of"] == "time of a decoding step", fast
    situ("check", plan)
    tight = plan.read_text().replace('"max_ttft_ns": 100000000000', f'"max_ttft_ns": {decode["other_ns"] - 1}')
    plan.write_text(tight)
    situ("check", plan, code=7, out="time to first token")
    none = situ_json(*call, "--max-ttft", "1ns", code=4)
    assert none["outcome"] == "infeasible" and "the best plan found takes" in none["reason"], none
    situ(*call, "--max-ttft", "5", "--min-speed", "5", code=2, err="cannot both be limited")
    situ("place", "builtin:resnet50", "--max-ttft", "5", code=2, err="needs a language model")


def test_measured_hand_overs_count_on_both_sides_of_a_limit():
    """The embedding is on the host and the head on the GPU, so a second for a hand-over is in a token and in a prompt."""
    pins, table = pathlib.Path("ends.json"), pathlib.Path("links.json")
    pins.write_text(json.dumps({"token_embd": "cpu", "output": "gpu0"}))
    measured = {"situ_costs": 1, "unit": "s", "operators": {},
                "links": [{"from": "cpu", "to": "rtx3090-24g", "latency": 1, "bytes_per_s": 1e10}]}
    table.write_text(json.dumps(measured))
    call = ["place", language_model(), "--platform", "cpu+rtx3090", "--prompt", "64", "--fix", pins, "--max-ttft", "99s", "--steps", "300"]
    usual, slow = situ_json(*call), situ_json(*call, "--cost-table", table, "-o", "slow.json")
    assert max(usual["value_ns"], usual["other_ns"]) < 10**9 <= min(slow["value_ns"], slow["other_ns"]), (usual, slow)
    situ("check", "slow.json")
    measured["operators"] = {"output": {"cpu": 1}}
    table.write_text(json.dumps(measured))
    situ(*call, "--cost-table", table, code=2, err='JSON table whose "operators" is {}')
    pathlib.Path("times.csv").write_text("operator,kernel,cpu\noutput,,1\n")
    situ(*call, "--cost-table", "times.csv", code=2, err="operator times in a cost table")


def test_a_machine_of_one_memory_has_one_plan():
    """There is no other memory to hand a tensor to: everything runs on the CPU, which the bound proves."""
    found = situ_json("place", language_model(), "--platform", "cpu", *QUICK[2:])
    assert found["outcome"] == "optimal" and found["value_ns"] == found["best_single_ns"] == found["verified_ns"], found


def bert(layers, hidden, inner, vocab):
    """A file of an encoder by the names of Hugging Face, headers only, with its configuration."""
    shapes = {"embeddings.word_embeddings.weight": [vocab, hidden], "embeddings.LayerNorm.weight": [hidden]}
    for k in range(layers):
        at = f"encoder.layer.{k}."
        for name in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            shapes |= {f"{at}{name}.weight": [hidden, hidden], f"{at}{name}.bias": [hidden]}
        shapes |= {f"{at}intermediate.dense.weight": [inner, hidden], f"{at}output.dense.weight": [hidden, inner],
                   f"{at}attention.output.LayerNorm.weight": [hidden], f"{at}output.LayerNorm.weight": [hidden]}
    header, end = {}, 0
    for name, shape in shapes.items():
        n = 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [end, end + n]}
        end += n
    text = json.dumps(header).encode()
    pathlib.Path("bert").mkdir()
    pathlib.Path("bert/model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text)
    pathlib.Path("bert/config.json").write_text(json.dumps({
        "model_type": "bert", "hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": 4,
        "intermediate_size": inner, "vocab_size": vocab, "max_position_embeddings": 256}))
    return end


def test_a_model_in_a_folder_has_the_name_of_the_folder():
    """Every such file is called model.safetensors."""
    bert(2, 64, 256, 1000)
    for path in ("bert", "bert/", "bert/model.safetensors", "./bert//model.safetensors"):
        assert situ_json("inspect", path)["model"] == "bert", path
    pathlib.Path("model.safetensors").write_bytes(pathlib.Path("bert/model.safetensors").read_bytes())
    for path in ("model.safetensors", "./model.safetensors", "bert/../model.safetensors"):
        assert situ_json("inspect", path)["model"] == "model.safetensors", path


def test_an_encoder_reads_all_tokens_at_once():
    """Each token meets each other one, 2 FLOP for every element of its key and its value; there is no cache, and no head."""
    layers, hidden, inner, tokens = 3, 64, 256, 100
    weights = bert(layers, hidden, inner, 1000)
    found = situ_json("inspect", "bert", "--prompt", tokens)["total"]
    products = 2 * tokens * (4 * hidden * hidden + 2 * hidden * inner)
    attention = 4 * tokens * tokens * hidden
    assert abs(found["flops"] - layers * (products + attention)) < 0.02 * found["flops"], found
    assert abs(found["weight_bytes"] - weights) < 0.01 * weights, (found, weights)
    twice = situ_json("inspect", "bert", "--prompt", tokens, "--batch", 2)["total"]
    assert twice["flops"] == 2 * found["flops"], twice
    plan = situ_json("place", "bert", "--platform", "cpu+rtx3060", "--granularity", "layer", *QUICK, "-o", "plan.json")
    assert plan["lower_bound_ns"] <= plan["value_ns"] and "tokens_per_second" not in plan, plan
    situ("check", "plan.json")
    assert situ_json("inspect", "bert")["total"] == situ_json("inspect", "bert", "--prompt", 256)["total"]
    for option in ("--generate", "--context", "--draft"):
        situ("place", "bert", option, "5", code=2, err="is an encoder")
    situ("place", "bert", "--prompt", "300", code=2, err="at most 256")


def test_rules_of_engines_are_no_better_than_ours():
    path = language_model()
    peers = ["llamacpp_default", "llamacpp_fit", "accelerate_auto", "vllm_equal", "exo_ring"]
    call = ["compare", path, "--platform", "cpu+rtx4090+rtx3060", "--granularity", "layer", "--steps", "2000"]
    rows = situ_json(*call, "--solver", ",".join(["layers", "tabu", *peers]))["rows"]
    values = {r["solver"]: r["value_ns"] for r in rows}
    assert all(values[p] for p in peers), values  # all fit
    assert all(abs(r["tokens_per_second"] * r["value_ns"] / 1e9 - 1) < 1e-6 for r in rows), rows  # a token a step
    assert min(values["layers"], values["tabu"]) <= min(values[p] for p in peers), values


if __name__ == "__main__":
    sys.exit(main(globals()))
