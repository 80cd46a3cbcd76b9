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

from test_cli import QUICK as PROVED, SITU, SMALL, main, situ, situ_json, unsearched

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import llm_files

QUICK = [*PROVED, *unsearched("auto")]


def language_model():
    """A small one, whose layers are 6 times 2.5 MB. What it computes nobody asks."""
    llm_files.write("m.gguf", *llm_files.dense("llama", 6, 512, 8, 4, 1536, 32000, kind="Q8_0", out_kind="Q8_0"))
    return "m.gguf"


def test_a_language_model_is_written_for_each_engine():
    path = language_model()
    for name in ("llama.cpp", "vllm", "device-map", "exo", "torch-pipelining", "torchtitan", "megatron"):
        situ("place", path, "--platform", "cpu+2*rtx3090", "--granularity", "block", *QUICK, "--unused", "cpu", "--write", f"{name}=out")
        assert pathlib.Path("out").stat().st_size > 30, name
    situ("place", path, "--platform", "cpu+2*rtx3090", "--granularity", "block", *QUICK, "--unused", "cpu", "--context", "700", "--write", "llama.cpp=out")
    assert " -c 700 -np 1 -b 2048 -ub 512 -fa on --fit off\n#" in pathlib.Path("out").read_text()


def test_groups_of_gpus_are_written_for_engines_that_split_operators():
    """By hand: 8 x 3090 without the host. llama.cpp has one group over the whole model; vLLM stages of equal groups."""
    path = language_model()
    on = [*QUICK, "--platform", "cpu+4*rtx3090", "--granularity", "block"]
    pins = {"token_embd": "gpu0-1", **{f"blk.{i}.attn_norm": "gpu0-1" if i < 2 else "gpu2-3" for i in range(6)}, "output": "gpu2-3"}
    pathlib.Path("pins.json").write_text(json.dumps(pins))
    stages = situ_json("place", path, *on, "--tensor-parallel", "2", "--fix", "pins.json", "--write", "vllm=vllm.txt")
    assert {d["name"]: d["memory_limit_bytes"] for d in stages["devices"]}["gpu0-1"] < 2 * 24e9
    assert pathlib.Path("vllm.txt").read_text() == ("CUDA_VISIBLE_DEVICES=0,1,2,3\nVLLM_PP_LAYER_PARTITION=2,4\n"
                                                    "--pipeline-parallel-size 2 --tensor-parallel-size 2 "
                                                    "--max-model-len 4096 --max-num-seqs 1 --gpu-memory-utilization 0.90\n")
    situ("place", path, *on, "--tensor-parallel", "2", "--fix", "pins.json", "--write", "megatron=m.txt", "--write", "torchtitan=t.toml")
    assert pathlib.Path("m.txt").read_text() == ("--pipeline-model-parallel-size 2 --tensor-model-parallel-size 2 "
                                                 "--pipeline-model-parallel-layout 'Et*2|t*4L'\n# ranks: gpu0-1 gpu2-3\n")
    assert "pipeline_parallel_degree = 2\ntensor_parallel_degree = 2\n" in pathlib.Path("t.toml").read_text()
    for file in ("m.txt", "t.toml"):
        read = json.loads(situ("judge", file, path, "--platform", "cpu+4*rtx3090", "--steps", "60", "--json"))["rows"][0]
        assert read["layers"] == "gpu0-1 2, gpu2-3 4" and read["value_ns"] == stages["value_ns"], (file, read)
    situ("place", path, *on, "--kv-type", "q8_0", "--batch", "3", "--context", "512", "--unused", "cpu", "--write", "vllm=vllm.txt")
    assert pathlib.Path("vllm.txt").read_text().endswith(
        " --max-model-len 512 --max-num-seqs 3 --kv-cache-dtype fp8 --gpu-memory-utilization 0.90\n")
    situ("place", path, *on, "--kv-type", "q4_0", "--write", "vllm=vllm.txt", code=6, err="expected --kv-type q8_0")
    situ("place", path, *on, "--tensor-parallel", "4", "--unused", "cpu", "--write", "llama.cpp=flags.txt", "-o", "plan.json",
         "--solver", "auto")
    assert pathlib.Path("flags.txt").read_text().startswith("-dev CUDA0,CUDA1,CUDA2,CUDA3 -sm tensor -ngl 7 -c 4096 -np 1 -b 2048 -ub 512 -fa on --fit off\n#")
    situ("check", "plan.json", "--require-proof")
    # Two groups hold the model, which llama.cpp cannot run: the plan of its form is on one of them, or there is none.
    situ("place", path, *on, "--tensor-parallel", "2", "--unused", "cpu", "--write", "llama.cpp=flags.txt")
    assert re.match("-dev CUDA(0,CUDA1|2,CUDA3) -sm tensor ", pathlib.Path("flags.txt").read_text())
    # Of two machines llama.cpp can use the groups of the first: it reaches the other by RPC, which splits no operators.
    two = [*QUICK, "--platform", "2*(cpu+2*rtx3090@nvlink)", "--tensor-parallel", "2"]
    situ("place", path, *two, "--write", "llama.cpp=flags.txt")
    assert pathlib.Path("flags.txt").read_text().startswith("-dev CUDA0,CUDA1 -sm tensor ")
    pathlib.Path("pins.json").write_text(json.dumps({f"blk.{i}.attn_norm": "gpu2-3" for i in range(6)}))
    situ("place", path, *two, "--fix", "pins.json", "--write", "llama.cpp=flags.txt", code=5, out="is pinned to gpu2-3, which must stay",
         err="no plan")
    situ("place", path, *on, "--tensor-parallel", "4", "--unused", "cpu", "--kv-type", "q8_0", "--write", "llama.cpp=flags.txt")
    assert " -sm tensor " in pathlib.Path("flags.txt").read_text() and "-ctk q8_0 -ctv q8_0" in pathlib.Path("flags.txt").read_text()
    vulkan = ["--names", "Vulkan"]  # which computes with all types
    situ("place", path, *on, *vulkan, "--tensor-parallel", "4", "--kv-type", "q4_1", "--write", "llama.cpp=flags.txt", code=6,
         err="cache of type q4_1, which llama.cpp does not split")
    situ("place", path, *on, "--tensor-parallel", "2", "--write", "exo=exo.txt", code=6, err="gpu0-1: .*exo")
    sized = situ_json("size", path, "--goal", "tokens/s>=1", "--tensor-parallel", "2", "--steps", "50")
    assert sized["rows"] and all(re.search(r"[248]\*", row["platform"]) for row in sized["rows"])
    situ("size", path, "--goal", "tokens/s>=1", "--tensor-parallel", "64", code=2, err="no built-in platform has groups of 64")


def test_the_best_size_of_groups_is_found_and_its_rivals_are_told():
    """Splitting pays where the weights take long to read, and not for a model of a few layers over the host."""
    llm_files.write("big.gguf", *llm_files.dense("llama", 8, 8192, 64, 8, 28672, 32000, kind="F16", out_kind="F16"))
    best = situ_json("place", "big.gguf", *QUICK, "--platform", "4*h100-80g@nvlink", "--tensor-parallel", "auto")
    single = situ_json("place", "big.gguf", *QUICK, "--platform", "4*h100-80g@nvlink")
    assert best["value_ns"] < 0.5 * single["value_ns"]
    assert any(d["name"] == "gpu0-3" and d["operators"] for d in best["devices"])
    note = next(n for n in best["notes"] if "split operators" in n)
    assert "1 " in note and " 2 " in note and " 4 " in note and "gpu0 alone takes" in note
    small = situ_json("place", language_model(), *QUICK, "--platform", "cpu+4*rtx3090", "--tensor-parallel", "auto")
    assert [d["name"] for d in small["devices"] if d["operators"]] == ["gpu0"]


def test_a_shell_passes_flags_on_as_the_pages_say():
    """`$(cat FILE)` splits at blanks and keeps quotes, which llama.cpp would take for part of a name; `eval` reads them. What
    follows the options are comments, which a shell reads as such."""
    shell = lambda line: subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True).stdout.splitlines()
    call = ["--unused", "cpu", "--granularity", "layer", *QUICK, "--write", "llama.cpp=flags.txt"]
    situ("place", language_model(), "--platform", "cpu+2*rtx3090", *call)
    words = shell("eval \"printf '%s\\n' $(cat flags.txt)\"")
    assert "^token_embd\\.weight$=CUDA0" in words and words[-2:] == ["--fit", "off"], words
    llm_files.write("e.gguf", *llm_files.moe("llama", 4, 256, 4, 2, 64, 1000, 8, 2, 512))
    found = situ_json("place", "e.gguf", "--platform", "cpu+rtx3090", *QUICK)["placement"]
    experts = {row.split(",")[0] for row in situ("costs", "e.gguf").splitlines() if re.match("blk.2.*,Experts", row)}
    pins = {name: "cpu" if name in experts else "gpu0" for name in found}
    pathlib.Path("pins.json").write_text(json.dumps(pins))
    situ("place", "e.gguf", "--platform", "cpu+rtx3090", "--fix", "pins.json", *call[4:])
    flags = pathlib.Path("flags.txt").read_text()
    assert "exps=CPU" in flags, flags
    assert not any("'" in word for word in shell(f"eval \"printf '%s\\n' $(cat flags.txt)\"")), flags


def test_devices_have_the_names_that_llama_cpp_gives_them():
    path, call = language_model(), ["--unused", "cpu", *QUICK[2:], "--context", "512"]

    def flags(platform, *more, **expected):
        situ("place", path, "--platform", platform, *call, *more, "--write", "llama.cpp=flags.txt", **expected)
        return pathlib.Path("flags.txt").read_text() if not expected else ""

    assert flags("cpu+rtx3060").startswith("-dev CUDA0 -sm layer -ts 7 -ngl 7 ")
    assert flags("cpu+rtx3060", "--names", "Vulkan").startswith("-dev Vulkan0 ")
    assert flags("cpu+rtx3060", "--names", "gpu0=Vulkan3").startswith("-dev Vulkan3 ")
    assert flags("cpu+m2-max", "--names", "Metal").startswith("-dev MTL0 ") and flags("cpu+m2-max").startswith("-dev MTL0 ")
    assert flags("cpu+radeon780m").startswith("-dev Vulkan0 ") and flags("cpu+rx7900xtx").startswith("-dev ROCm0 ")
    # A device of the second machine is never written as if it were here; its number counts from its machine.
    call = ["--unused", "cpu0", "--unused", "cpu1", "--unused", "gpu0", *QUICK[2:], "--context", "512"]
    away = flags("(cpu+rtx3060)@ethernet-10g+(cpu+rtx3090)")
    assert away.startswith("--rpc server1:50052 -dev RPC0 ") and "rpc-server -H 0.0.0.0 -d CUDA0 in the machine of gpu1" in away, away
    away = flags("(cpu+rtx3060)@ethernet-10g+(cpu+rtx3090)", "--names", "gpu1=RPC[10.0.0.2:5000]")
    assert away.startswith("--rpc 10.0.0.2:5000 -dev RPC0 ") and "RPC0[10.0.0.2:5000]" in away and "rpc-server" not in away, away
    call = ["--unused", "cpu", *QUICK[2:]]
    for name, says in (("gpu0=$(id)", "is no name of a device"), ("gpu0=A B", "is no name of a device"), ("Vulkn", "is no back end"), ("CUDA0", "is no back end"),
                       ("gpu7=CUDA0", "has no device gpu7"), ("gpu0=RPC0", "does not say where the server is")):
        flags("cpu+rtx3060", "--names", name, code=2, err=says)
    flags("cpu+rtx3060", "--kv-type", "q5_1", code=6, err="gpu0: computes with caches of type q5_1 only on the CPU .back end CUDA")
    assert "-ctk q5_1" in flags("cpu+rtx3060", "--kv-type", "q5_1", "--names", "Vulkan")


def test_a_name_in_a_platform_file_is_no_command():
    pathlib.Path("p.json").write_text(json.dumps({"situ_platform": 1, "name": "p", "devices": [
        {"name": "cpu", "base": "cpu"}, {"name": "g\ntouch hit; $(touch hit)", "base": "rtx3090"}], "links": [
            {"from": "cpu", "to": "g\ntouch hit; $(touch hit)", "kind": "pcie4"}]}))
    done = subprocess.run([SITU, "place", language_model(), "--platform", "p.json", "--unused", "cpu", *QUICK[2:], "--write",
                           "llama.cpp=flags.txt"], capture_output=True, text=True)
    if done.returncode == 0:
        subprocess.run(["sh", "-c", "eval \"true $(cat flags.txt)\""], check=True)
    assert done.returncode in (0, 3) and not pathlib.Path("hit").exists(), done.stderr


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


def test_prefill_is_told_with_and_without_overlap():
    """Four micro-batches in turn on two GPUs take their sum; overlapped, they gain at most by
    their number. A slow link between the GPUs bounds what overlap gains: it is busy once for each micro-batch."""
    path, on = language_model(), ["--platform", "cpu+2*rtx3090", "--granularity", "block", "--steps", "50"]
    pins = {"token_embd": "cpu", **{f"blk.{i}.attn_norm": "gpu0" if i < 3 else "gpu1" for i in range(6)}, "output": "gpu1"}
    pathlib.Path("moved.json").write_text(json.dumps({**pins, "token_embd": "gpu0"}))
    moved = situ_json("place", path, *on, "--prompt", "2048", "--fix", "moved.json", "--write", "llama.cpp=flags.txt")
    assert "sequential_prefill_tokens_per_second" not in moved  # a rule for a tensor switches overlap off
    assert "switches the overlap of micro-batches off" in pathlib.Path("flags.txt").read_text()
    pathlib.Path("pins.json").write_text(json.dumps(pins))
    both = situ_json("place", path, *on, "--prompt", "2048", "--fix", "pins.json")
    slow, fast = both["sequential_prefill_tokens_per_second"], both["prefill_tokens_per_second"]
    assert slow < fast < 4 * slow, (slow, fast)
    assert abs(slow - 2048e9 / both["value_ns"]) < 1e-6 * slow
    # Each of four takes L, of which its busiest device works P: in turn 4 L, in perfect overlap L + 3 P. Of what that saves two GeForce
    # cards get 0.4 through their host, and 0.9 by a link of their own.
    near = situ_json("place", path, "--platform", "cpu+2*rtx3090@nvlink-bridge", *on[2:], "--prompt", "2048", "--fix", "pins.json")
    for found, share in ((both, 0.4), (near, 0.9)):
        whole, busiest = found["value_ns"] / 4, max(d["load_ns"] for d in found["devices"]) / 4
        first = 4 * whole - 3 * share * (whole - busiest)
        assert found["time_to_first_token_ns"] > first - 10, (found["time_to_first_token_ns"], first)  # their link may be busier
        assert share == 0.4 or found["time_to_first_token_ns"] < first + 10, (found["time_to_first_token_ns"], first)
    pathlib.Path("pins.json").write_text(json.dumps({**pins, "token_embd": "cpu0"}))
    far = ["--platform", "(cpu+rtx3090)+(cpu+rtx3090)@ethernet-1g", "--granularity", "block", "--steps", "50"]
    bound = situ_json("place", path, *far, "--prompt", "2048", "--fix", "pins.json")
    ethernet_s = 4 * 512 * 512 * 4 / 0.1e9  # four micro-batches of 512 tokens, 512 numbers of 4 bytes each
    assert bound["time_to_first_token_ns"] >= 1e9 * ethernet_s, (bound["time_to_first_token_ns"], ethernet_s)
    one = situ_json("place", path, *on, "--prompt", "2048", "--solver", "single")
    assert "sequential_prefill_tokens_per_second" not in one


def test_tokens_come_from_who_asks_and_logits_return():
    """Links of 80 us and 0.1 GB/s; each hop between machines takes llama.cpp 150 us more, one between a GPU and its host 75. A token has 4 bytes, the logits of 32,000 words 128,000:
    0.04 us and 1.28 ms. Other engines choose the token where the head is. Between two machines of which neither asks llama.cpp
    goes through the one that does: twice the link."""
    path = language_model()
    two = "2*(cpu+rtx3090)@ethernet-1g"
    inside = situ_json("place", path, *QUICK, "--platform", "cpu+rtx3090", "--unused", "cpu")["value_ns"]
    away = [*QUICK, "--platform", two, "--unused", "cpu0", "--unused", "cpu1", "--unused", "gpu0"]
    alone = situ_json("place", path, *away)
    assert alone["value_ns"] - inside == 2 * (80_000 + 150_000) + 40 + 1_280_000
    assert "tokens and results between cpu0 and gpu1 take 1.74 ms" in " ".join(situ("place", path, *away).split())
    best = situ_json("place", path, *QUICK, "--platform", two)  # the first machine has the same GPU
    assert best["value_ns"] == inside
    other = [*QUICK, "--cost-engine", "eager", "--unused", "cpu0", "--unused", "gpu0", "--unused", "cpu1"]
    token = situ_json("place", path, *other, "--platform", two)["value_ns"]
    assert token - situ_json("place", path, *QUICK, "--cost-engine", "eager", "--platform", "cpu+rtx3090", "--unused", "cpu")["value_ns"] == 2 * 80_040
    # Of a prompt in 4 micro-batches the last one needs logits, and each sends 512 tokens.
    prompt = ["--prompt", "2048", "--context", "2048"]
    first = situ_json("place", path, *away, *prompt)["value_ns"]
    inside = situ_json("place", path, *QUICK, "--platform", "cpu+rtx3090", "--unused", "cpu", *prompt)["value_ns"]
    assert abs(first - inside - 4 * (230_000 + 20_480) - (230_000 + 1_280_000)) <= 4
    rate = ["--objective", "throughput", "--solver", "single"]
    assert situ_json("place", path, *away, *rate)["value_ns"] == situ_json("place", path, *QUICK, "--platform", "cpu+rtx3090", "--unused", "cpu", *rate)["value_ns"]
    pins = {"token_embd": "gpu1", **{f"blk.{i}.attn_norm": "gpu1" if i < 3 else "gpu2" for i in range(6)}, "output_norm": "gpu2", "output": "gpu2"}
    pathlib.Path("pins.json").write_text(json.dumps(pins))
    spread = situ_json("place", path, *QUICK, "--platform", "3*(cpu+rtx3090)@ethernet-1g", "--fix", "pins.json", "--granularity", "layer")
    inside = situ_json("place", path, *QUICK, "--platform", "cpu+rtx3090", "--unused", "cpu")["value_ns"]
    row = 512 * 4  # from gpu1 by cpu1, cpu0, cpu2 to gpu2
    network = 2 * (230_000 + row * 10) + 2 * 230_000 + 40 + 1_280_000
    bus = spread["value_ns"] - inside - network
    assert 2 * 75_000 < bus < 2 * 125_000, bus


def test_a_device_map_is_priced_by_what_accelerate_does():
    """What is on the CPU streams to gpu0 from memory that is not pinned, at 7 GB/s, each weight after 10 us. By hand, of a layer: 7
    products and 2 norms, 34 bytes for 32 values; two hand-overs at the ends of three such layers."""
    path = language_model()
    on = [path, *QUICK, "--platform", "cpu+rtx3090", "--granularity", "layer"]
    three = {"token_embd": "gpu0", **{f"blk.{i}.attn_norm": "cpu" if i < 3 else "gpu0" for i in range(6)}, "output_norm": "gpu0", "output": "gpu0"}
    pathlib.Path("three.json").write_text(json.dumps(three))
    pathlib.Path("none.json").write_text(json.dumps({k: "gpu0" for k in three}))
    mapped = ["--write", "device-map=map.json"]
    whole = situ_json("place", *on, "--fix", "none.json", *mapped)
    plan = situ_json("place", *on, "--fix", "three.json", *mapped, "-o", "plan.json")
    bytes_of_layer = (2 * 512 * 512 + 2 * 512 * 256 + 3 * 512 * 1536) * 34 / 32 + 2 * 512 * 4
    streamed = 3 * (9 * 10_000 + bytes_of_layer / 7)
    assert 0 <= plan["value_ns"] - whole["value_ns"] - streamed < 40_000, (plan["value_ns"], whole["value_ns"], streamed)
    assert "copies the weights that are on the CPU, 10.0 MB, to gpu0" in " ".join(plan["notes"]), plan["notes"]
    assert situ_json("check", "plan.json")["valid"]
    judged = situ_json("judge", "map.json", path, "--platform", "cpu+rtx3090", "--steps", "300")
    assert judged["rows"][0]["value_ns"] == plan["value_ns"]
    # With nothing on a GPU the CPU computes, as by PyTorch without accelerate.
    pathlib.Path("map.json").write_text(json.dumps({"": "cpu"}))
    judged = situ_json("judge", "map.json", path, "--platform", "cpu+rtx3090", "--steps", "300")
    alone = situ_json("place", path, *QUICK, "--platform", "cpu", "--cost-engine", "eager")["value_ns"]
    assert judged["rows"][0]["value_ns"] == alone
    # Caches of what streams are on the GPU too: of 96 streams of 4096 tokens 2.4 GB, which 1.5 GB cannot hold, so nothing is on it.
    many = ["--platform", "i9-13900k+rtx3050-8g", *QUICK[2:], "--batch", "96", *mapped]
    assert situ_json("place", path, *many)["devices"][1]["operators"] > 0
    tight = situ_json("place", path, *many, "--reserve", "gpu0=6.5GB")
    assert tight["devices"][1]["operators"] == 0 and "nothing is on a GPU, as in this plan" in " ".join(tight["notes"]), tight["notes"]
    priced = situ_json("place", *on, "--fix", "three.json", "--cost-engine", "eager", *mapped)
    assert "priced by eager, where the CPU computes; accelerate copies" in " ".join(priced["notes"])


def test_times_of_a_step_of_each_kind():
    """2 us in a step of prefill and 100 ns in one of decoding for each operator on the GPU, 90 us and 1 us on the CPU. Where there is
    a GPU the CPU's products of the prompt are computed there: 2 us and the copy, 10 us and 7 GB/s at most. The head takes one token."""
    path = language_model()
    gpu, cpu = {"prefill": 2000, "decode": 100}, {"prefill": 90_000, "decode": 1000}
    situ("costs", path, "--platform", "cpu+rtx3090", "-o", "all.json")
    names = list(json.loads(pathlib.Path("all.json").read_text())["operators"])
    n = len(names)
    table = {"situ_costs": 1, "unit": "ns", "operators": {name: {"rtx3090-24g": gpu, "cpu": cpu} for name in names}}
    pathlib.Path("steps.json").write_text(json.dumps(table))
    call = ["place", path, *QUICK, "--platform", "cpu+rtx3090", "--cost-table", "steps.json", "--prompt", "512", "--generate", "64", "--context", "576"]
    on_gpu = situ_json(*call, "--unused", "cpu")
    assert on_gpu["value_ns"] == n * (2000 + 64 * 100)
    assert round(on_gpu["decode_tokens_per_second"]) == round(1e9 / (100 * n)) and round(on_gpu["prefill_tokens_per_second"]) == round(512e9 / (2000 * n))
    alone = situ_json(*call, "--unused", "gpu0")
    assert alone["value_ns"] == n * (90_000 + 64 * 1000)
    pathlib.Path("cpu.json").write_text(json.dumps(dict.fromkeys(names, "cpu")))
    helped = situ_json(*call, "--fix", "cpu.json")
    weights = (2 * 512 * 512 + 2 * 512 * 256 + 3 * 512 * 1536) * 34 / 32
    products = 6 * 7
    by_hand = (n - products) * 90_000 + products * (2000 + 10_000) + 6 * weights / 7 + n * 64 * 1000
    assert abs(helped["value_ns"] - by_hand) < 200, (helped["value_ns"], by_hand)
    for name, of in (("cpu", cpu), ("rtx3090-24g", gpu)):  # in other units, joined
        rows = {op: {name: {kind: ns / 1000 for kind, ns in of.items()}} for op in names}
        pathlib.Path(f"{name}-us.json").write_text(json.dumps({"situ_costs": 1, "unit": "us", "operators": rows}))
    joined = ["cpu-us.json,rtx3090-24g-us.json" if word == "steps.json" else word for word in call]
    assert situ_json(*joined, "--fix", "cpu.json")["value_ns"] == helped["value_ns"]
    # A limit on one kind of step needs the times of both.
    limited = situ_json(*call, "--unused", "cpu", "--max-ttft", "1s")
    assert limited["value_ns"] == n * 64 * 100
    table["operators"][names[0]]["cpu"] = 90_000
    pathlib.Path("mixed.json").write_text(json.dumps(table))
    mixed = ["mixed.json" if word == "steps.json" else word for word in call]
    situ(*mixed, "--max-ttft", "1s", code=2, err="needs the times of both")
    assert "decode_tokens_per_second" not in situ_json(*mixed, "--unused", "gpu0")
    for wrong in ({"prefil": 3}, {}, {"prefill": -1, "decode": 2}, {"prefill": {"prefill": 1}}):
        table["operators"][names[0]]["cpu"] = wrong
        pathlib.Path("mixed.json").write_text(json.dumps(table))
        situ(*mixed, code=3, err='must have "prefill" and "decode"')
    pathlib.Path("cnn.json").write_text(json.dumps({"situ_costs": 1, "unit": "ns", "operators": {"conv1": {"cpu": cpu}}}))
    situ("place", "builtin:resnet50", "--platform", "cpu", "--cost-table", "cnn.json", code=3, err="takes no such steps")


def test_times_of_a_step_of_each_kind_of_kernels():
    """Those of a kernel, 2 us and 100 us, are its own as those of operators are, alone or in joined tables, where the others of the
    kernel take nothing. Where an operator cannot run in a step of one kind, no plan has it there, with a limit or without."""
    path = language_model()
    gpu, kernel = {"prefill": 2000, "decode": 100}, {"prefill": 2000, "decode": 100_000}
    situ("costs", path, "--platform", "rtx3090", "-o", "all.json")
    names = list(json.loads(pathlib.Path("all.json").read_text())["operators"])
    n, a, b = len(names), names[0], names[1]
    table = {"situ_costs": 1, "unit": "ns", "operators": {name: {"rtx3090-24g": gpu} for name in names[2:]},
             "groups": [{"operators": [a, b], "times": {"rtx3090-24g": kernel}}]}
    pathlib.Path("kernel.json").write_text(json.dumps(table))
    pathlib.Path("none.json").write_text(json.dumps({"situ_costs": 1, "unit": "us", "operators": {}}))
    call = ["place", path, *QUICK, "--platform", "rtx3090", "--prompt", "512", "--generate", "64", "--context", "576", "--cost-table"]
    for tables in ("kernel.json", "kernel.json,none.json"):
        found = situ_json(*call, tables)
        assert found["value_ns"] == (n - 2) * (2000 + 64 * 100) + 2000 + 64 * 100_000, (tables, found["value_ns"])
        assert round(found["decode_tokens_per_second"]) == round(1e9 / ((n - 2) * 100 + 100_000))
        assert situ_json(*call, tables, "--max-ttft", "1s")["value_ns"] == 64 * ((n - 2) * 100 + 100_000)
    both = ["rtx3090+rtx4090" if word == "rtx3090" else word for word in call]
    for kind in gpu:
        never = {name: {"rtx3090-24g": {**gpu, kind: None}, "rtx4090-24g": gpu} for name in names}
        pathlib.Path("never.json").write_text(json.dumps({"situ_costs": 1, "unit": "ns", "operators": never}))
        for limit in ([], ["--max-ttft", "1s"], ["--min-speed", "1"]):
            assert situ_json(*both, "never.json", *limit)["devices"][0]["operators"] == 0, (kind, limit)


def test_idle_devices_of_many_streams_are_told():
    """The shortest step of 8 streams is on one GPU of four; who wants the rate is told how to ask for it."""
    call = ["place", language_model(), "--platform", "cpu+4*rtx3090", "--solver", "single", "--unused", "cpu"]
    many = situ_json(*call, "--batch", "8", "--generate", "8")
    assert any(note.startswith("gpu1 and 2 more are idle") for note in many["notes"]), many["notes"]
    for other in (["--generate", "8"], ["--batch", "8", "--objective", "throughput", "--steps", "50"]):
        assert not any("idle" in note for note in situ_json(*call, *other)["notes"])


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
    assert " -fa on -ctk q8_0 -ctv q8_0 --fit off" in pathlib.Path("out").read_text()
    large = situ_json("place", path, "--platform", "rtx3060", "--context", "4096", "--batch", "1000", code=4)
    assert large["reason"].startswith("memory: the weights and caches need"), large["reason"]  # 25 GB of caches, 0.05 of weights
    situ("place", path, "--kv-type", "q9_0", code=2)
    situ("place", SMALL, "--kv-type", "q8_0", code=2)  # no language model


def test_a_cpu_runs_each_type_of_weights_at_a_rate_of_its_own():
    """Q3_K and IQ3_S have 110 bytes for 256 weights, but the latter's grid is looked up: measured 2.9 times slower on one core with
    AVX-512 (src/cost/cpu_rates.c). Q4_1 has 1.11 times the bytes of Q4_0, and no kernel for prompts: measured 2.8 times slower.
    Attention to 4000 tokens of a quantised cache takes longer, though its bytes are fewer."""
    def speed(kind, *options):
        llm_files.write("m.gguf", *llm_files.dense("llama", 4, 2048, 16, 4, 5632, 4096, kind=kind, out_kind="Q8_0", head=128))
        return situ_json("place", "m.gguf", "--platform", "i9-10900x", *options, *QUICK[2:])["tokens_per_second"]

    assert speed("Q3_K", "--generate", "16") > 1.2 * speed("IQ3_S", "--generate", "16")  # of 10 cores, the memory limits the former
    assert speed("Q4_0", "--prompt", "512") > 2 * speed("Q4_1", "--prompt", "512")
    long = [speed("Q4_0", "--context", "4096", "--kv-type", kind) for kind in ("f16", "q4_0")]
    assert long[0] > long[1], long


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
    situ(*call, "--cost-table", table, code=2, err='whose "operators" is {}')
    pathlib.Path("times.csv").write_text("operator,kernel,cpu\noutput,,1\n")
    situ(*call, "--cost-table", "times.csv", code=2, err="operator times in a cost table")


def test_a_machine_of_one_memory_has_one_plan():
    """There is no other memory to hand a tensor to: everything runs on the CPU, which the bound proves."""
    found = situ_json("place", language_model(), "--platform", "cpu", *PROVED[2:])
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


def test_a_saved_plan_keeps_its_costs_whatever_is_written():
    """A device map is run by another engine, but what was planned and is simulated again is the plan of the file."""
    situ("place", "builtin:llama?layers=4&tokens=1&context=64", "--platform", "cpu+2*rtx3060-12g", "--steps", "60", "-o", "plan.json")
    alone = situ_json("simulate", "plan.json")["value_ns"]
    mapped = situ_json("simulate", "plan.json", "--write", "device-map=map.json")["value_ns"]
    assert mapped == alone == json.loads(pathlib.Path("plan.json").read_text())["value_ns"], (mapped, alone)


def test_no_simple_plan_of_whole_layers_is_missed():
    """A model that almost fits: searches for speed alone split a layer for the last of the memory."""
    llm_files.write("mixtral.gguf", *llm_files.MODELS["mixtral-8x7b-q4_k_m"], with_data=False)
    call = ["place", "mixtral.gguf", "--platform", "cpu+rtx4090", "--context", "256", "--steps", "2000", *unsearched("auto")]  # little for the attention of a CPU
    any_form, layers = situ_json(*call), situ_json(*call, "--write", "llama.cpp=flags.sh")
    simple = situ_json("judge", "llama-server -m mixtral.gguf -ngl 27 -c 256 -np 1 -fa on", "--platform", "cpu+rtx4090", *unsearched("single"))["rows"][0]
    assert simple["layers"] == "cpu 6, gpu0 26" and layers["value_ns"] < simple["value_ns"], (simple, layers["value_ns"])
    assert any_form["value_ns"] <= 1.02 * layers["value_ns"], any_form["value_ns"]  # the tolerance for fewer hand-overs


def weights(folder, shapes, architecture):
    """A file of safetensors without data, with a configuration that names only the architecture."""
    header, end = {}, 0
    for name, shape in shapes.items():
        n = 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [end, end + n]}
        end += n
    text = json.dumps(header).encode()
    pathlib.Path(folder).mkdir(exist_ok=True)
    pathlib.Path(folder, "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text)
    pathlib.Path(folder, "config.json").write_text(json.dumps({"model_type": architecture, "hidden_size": 64}))


H, F, V = 64, 256, 1000
LLAMA = {"model.embed_tokens.weight": [V, H], "model.norm.weight": [H], "lm_head.weight": [V, H]}
for k in range(2):
    LLAMA |= {f"model.layers.{k}.self_attn.{name}_proj.weight": [H, H] for name in "qkvo"}
    LLAMA |= {f"model.layers.{k}.mlp.{name}_proj.weight": [F, H] for name in ("gate", "up")}
    LLAMA |= {f"model.layers.{k}.mlp.down_proj.weight": [H, F], f"model.layers.{k}.input_layernorm.weight": [H]}

# The names of one block (of many), by the modelling files of transformers or of the models' authors.
FAMILIES = {
    "gpt2": {"wte.weight": [V, H], "wpe.weight": [512, H], "h.0.attn.c_attn.weight": [H, 3 * H], "h.0.attn.c_proj.weight": [H, H],
             "h.0.mlp.c_fc.weight": [H, F], "h.0.mlp.c_proj.weight": [F, H], "h.0.ln_1.weight": [H], "ln_f.weight": [H]},
    "falcon": {"transformer.word_embeddings.weight": [V, H], "transformer.h.0.self_attention.query_key_value.weight": [3 * H, H],
               "transformer.h.0.self_attention.dense.weight": [H, H], "transformer.h.0.mlp.dense_h_to_4h.weight": [F, H],
               "transformer.h.0.mlp.dense_4h_to_h.weight": [H, F]},
    "phi": {"model.embed_tokens.weight": [V, H], **{f"model.layers.0.self_attn.{n}_proj.weight": [H, H] for n in "qkv"},
            "model.layers.0.self_attn.dense.weight": [H, H], "model.layers.0.mlp.fc1.weight": [F, H],
            "model.layers.0.mlp.fc2.weight": [H, F]},
    "phi3": {"model.embed_tokens.weight": [V, H], "model.layers.0.self_attn.qkv_proj.weight": [3 * H, H],
             "model.layers.0.self_attn.o_proj.weight": [H, H], "model.layers.0.mlp.gate_up_proj.weight": [2 * F, H],
             "model.layers.0.mlp.down_proj.weight": [H, F]},
    "mixtral": {"model.embed_tokens.weight": [V, H], **{f"model.layers.0.self_attn.{n}_proj.weight": [H, H] for n in "qkvo"},
                "model.layers.0.block_sparse_moe.gate.weight": [2, H],
                **{f"model.layers.0.block_sparse_moe.experts.{e}.{w}.weight": [H, F] if w == "w2" else [F, H]
                   for e in range(2) for w in ("w1", "w2", "w3")}},
    "deepseek_v3": {"model.embed_tokens.weight": [V, H], "model.layers.0.self_attn.q_a_proj.weight": [32, H],
                    "model.layers.0.self_attn.q_b_proj.weight": [H, 32], "model.layers.0.self_attn.kv_a_proj_with_mqa.weight": [40, H],
                    "model.layers.0.self_attn.kv_b_proj.weight": [H, 32], "model.layers.0.self_attn.o_proj.weight": [H, H],
                    "model.layers.0.mlp.gate.e_score_correction_bias": [2], "model.layers.0.mlp.gate.weight": [2, H],
                    "model.layers.0.mlp.experts.0.down_proj.weight": [H, F], "model.layers.0.mlp.experts.0.up_proj.weight": [F, H],
                    "model.layers.0.mlp.shared_experts.up_proj.weight": [F, H]},
    "internlm2": {"model.tok_embeddings.weight": [V, H], "model.layers.0.attention.wqkv.weight": [3 * H, H],
                  "model.layers.0.attention.wo.weight": [H, H], "model.layers.0.feed_forward.w1.weight": [F, H],
                  "model.layers.0.feed_forward.w2.weight": [H, F], "model.layers.0.feed_forward.w3.weight": [F, H], "output.weight": [V, H]},
    "mamba": {"backbone.embeddings.weight": [V, H], "backbone.layers.0.mixer.in_proj.weight": [2 * F, H],
              "backbone.layers.0.mixer.conv1d.weight": [F, 1, 4], "backbone.layers.0.mixer.x_proj.weight": [36, F],
              "backbone.layers.0.mixer.dt_proj.weight": [F, 4], "backbone.layers.0.mixer.A_log": [F, 16],
              "backbone.layers.0.mixer.out_proj.weight": [H, F], "backbone.norm_f.weight": [H]},
    "llava": {**{f"language_model.{name}": shape for name, shape in LLAMA.items()}, "multi_modal_projector.linear_1.weight": [H, 32],
              "vision_tower.vision_model.encoder.layers.0.self_attn.q_proj.weight": [32, 32],
              "vision_tower.vision_model.embeddings.patch_embedding.weight": [32, 3, 14, 14]},
    "llama": LLAMA,
}


def test_a_tied_head_has_the_table_of_tokens():
    """Gemma 3n has a wider table beside it, of what each layer adds to a token; the head is the product with the other."""
    layers, hidden, vocab, wide = 2, 256, 1000, 4 * 256
    keys, tensors = llm_files.dense("gemma3n", layers, hidden, 4, 2, 512, vocab, kind="Q8_0", out_kind=None)
    q8 = llm_files.TYPES["Q8_0"][0]
    llm_files.write("n.gguf", keys, [*tensors, ("per_layer_token_embd.weight", q8, (wide, vocab))])
    rows = [line.split(",") for line in situ("costs", "n.gguf", "--platform", "cpu", "--fusion", "none").splitlines()[1:]]
    heads = {row[0]: int(row[3]) for row in rows if row[0] in ("output", "lm_head")}
    assert list(heads.values()) == [2 * hidden * vocab], heads


def test_decoders_of_many_families_are_read():
    for architecture, shapes in FAMILIES.items():
        weights("family", shapes, architecture)
        found = situ_json("inspect", "family")
        assert found["operators"] > 4, (architecture, found)


def test_what_is_no_decoder_is_refused_with_what_is_missing():
    def without(part):
        return {name: shape for name, shape in LLAMA.items() if part not in name}

    for shapes, message in ((without("embed_tokens"), "no embedding of tokens"), (without("o_proj"), "no attention"),
                         (without("v_proj"), "no attention"), (without(".mlp."), "no feed-forward part or experts"),
                         ({**LLAMA, "model.layers.0.frobnicate.weight": [H, H]}, "without a role: model.layers.0.frobnicate.weight"),
                         ({**LLAMA, "extra.weight": [H, H]}, "without a role: extra.weight"),
                         ({**LLAMA, "stem.conv.weight": [H, 3, 7, 7]}, "has convolutions"),
                         ({**LLAMA, "decoder.layers.0.self_attn.q_proj.weight": [H, H]}, "two stacks of blocks"),
                         ({**LLAMA, "model.layers.0.encoder_attn.q_proj.weight": [H, H]}, "two stacks of blocks")):
        weights("other", shapes, "frob")
        situ("place", "other", "--platform", "cpu", code=3, err=f"[(]architecture frob[)].*{message}")
    for name in ("t5", "whisper"):
        llm_files.write("other.gguf", *llm_files.dense(name, 1, 64, 2, 1, 96, 100, kind="Q8_0", out_kind="F16"))
        situ("place", "other.gguf", "--platform", "cpu", code=3, err=f"architecture {name}[)]; expected a decoder")


def test_what_goes_with_a_model_is_refused_with_words():
    """Adapters, projectors and pipelines are told apart from models, and name what to give instead."""
    weights("lora", {f"base_model.model.model.layers.0.self_attn.q_proj.lora_{x}.weight": shape for x, shape in (("A", [8, H]), ("B", [H, 8]))}, "lora")
    pathlib.Path("lora/model.safetensors").rename("lora/adapter_model.safetensors")
    pathlib.Path("lora/adapter_config.json").write_text('{"peft_type": "LORA", "base_model_name_or_path": "some/model-7b"}')
    for path in ("lora", "lora/adapter_model.safetensors"):
        situ("inspect", path, code=3, err="adapter .*lora_A.* expected that model: some/model-7b")
    for keys, message in (({"general.type": "adapter"}, "adapter .LoRA."), ({"general.type": "mmproj"}, "mmproj"),
                          ({"general.architecture": "clip"}, "mmproj")):
        own, tensors = llm_files.dense("llama", 1, 64, 2, 1, 96, 100, kind="Q8_0", out_kind="F16")
        llm_files.write("side.gguf", own | keys, tensors)
        situ("inspect", "side.gguf", code=3, err=f"{message}.*expected the file of that model")
    pathlib.Path("pipe").mkdir()
    index = {"_class_name": "StableDiffusionPipeline", "_diffusers_version": "0.30.0", "unet": ["diffusers", "UNet2DConditionModel"],
             "vae": ["diffusers", "AutoencoderKL"], "safety_checker": [None, None], "requires_safety_checker": True}
    pathlib.Path("pipe/model_index.json").write_text(json.dumps(index))
    situ("inspect", "pipe", code=3, err="pipe.unet: cannot be opened")
    weights("pipe/unet", {"conv_in.weight": [H, 4, 3, 3], "down_blocks.0.attentions.0.to_q.weight": [H, H]}, "x")
    pathlib.Path("pipe/unet/model.safetensors").rename("pipe/unet/diffusion_pytorch_model.safetensors")
    pathlib.Path("pipe/unet/config.json").write_text('{"_class_name": "UNet2DConditionModel"}')
    situ("inspect", "pipe/unet", code=3, err="architecture UNet2DConditionModel.*it lacks time_embedding.linear_1")


OPT = {"model.decoder.embed_tokens.weight": [V, 32], "model.decoder.embed_positions.weight": [130, H], "model.decoder.project_in.weight": [H, 32],
       "model.decoder.project_out.weight": [32, H], "model.decoder.final_layer_norm.weight": [H],
       **{f"model.decoder.layers.0.self_attn.{n}_proj.weight": [H, H] for n in ("q", "k", "v", "out")},
       "model.decoder.layers.0.self_attn_layer_norm.weight": [H], "model.decoder.layers.0.final_layer_norm.weight": [H],
       "model.decoder.layers.0.fc1.weight": [F, H], "model.decoder.layers.0.fc2.weight": [H, F]}


def test_positions_and_projections_are_where_they_run():
    """OPT: a table of positions is read, a row for each token, and is no product; what widens the embedding comes before
    the first block; a block normalises before each of its parts."""
    weights("opt", OPT, "opt")
    found = {row.split(",")[0]: row for row in situ("costs", "opt").splitlines()}
    order = [name for name in found if name.startswith("model.decoder")]
    assert order.index("model.decoder.project_in") < order.index("model.decoder.layers.0.self_attn.q_proj"), order
    assert order.index("model.decoder.layers.0.final_layer_norm") > order.index("model.decoder.layers.0.self_attn.out_proj"), order
    assert order.index("model.decoder.project_out") > order.index("model.decoder.layers.0.fc2"), order
    assert ",Gather," in found["model.decoder.embed_positions"] and ",Gather," in found["model.decoder.embed_tokens"], found


def test_an_encoder_sends_nothing_while_its_decoder_works():
    """Where the encoder is does not matter for a step of the decoder; where it reads the prompt, each hand-over counts."""
    path = pathlib.Path(__file__).resolve().parents[1] / "golden/safetensors-t5"
    names = [row.split(",")[0] for row in situ("costs", path).splitlines()[1:]]
    apart = {name: "gpu1" if name.startswith("encoder.block.") and name[14] in "135" else "gpu0" for name in names}

    def value(pins, *load):
        pathlib.Path("pins.json").write_text(json.dumps(pins))
        return situ_json("place", path, "--platform", "cpu+2*rtx3090", "--fix", "pins.json", "--steps", "10", "--fusion", "none", *load)["value_ns"]

    together = dict.fromkeys(names, "gpu0")
    assert value(apart, "--context", "64") == value(together, "--context", "64")
    assert value(apart, "--prompt", "64") > value(together, "--prompt", "64") + 6 * 1000
    # A request is a step of the encoder and one of the decoder, whose kernels are those of its own step.
    call = ["place", path, "--platform", "rtx3090", "--steps", "10"]
    read, one = (situ_json(*call, *load)["value_ns"] for load in (("--prompt", "512"), ("--context", "1")))
    both = situ_json(*call, "--prompt", "512", "--generate", "1")["value_ns"]
    assert abs(both - read - one) < 0.1 * one, (both, read, one)


if __name__ == "__main__":
    sys.exit(main(globals()))
