#!/usr/bin/env python3
"""`situ judge`: commands and files of other programs, read back.

    test_judge.py SITU [NAME...]
"""
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

from test_cli import SHARE, SITU, main, situ, situ_json, unsearched
from test_language_models import language_model

import llm_files
from onnx_writer import graph, model, node, tensor, value

LAYERS = 6
ON = ["--platform", "cpu+3*rtx3090"]


def judged(command, *call, code=0):
    return json.loads(situ("judge", command, *call, "--steps", "60", "--json", code=code))


def read(command, *call):
    """What is said of the command itself, without a search for a better plan, and without bounds."""
    return judged(command, *call, *unsearched("single"))


def of_command(command, *call):
    return read(command, *call)["rows"][0]


def split(counts):
    """Layers by device as a row of the report says them."""
    return ", ".join(f"{device} {n}" for device, n in counts)


def experts_model():
    llm_files.write("e.gguf", *llm_files.moe("llama", LAYERS, 256, 4, 2, 64, 1000, 8, 2, 512))
    return "e.gguf"


def draw(rng, hosts):
    """Runs of layers on unlike devices, a host first or not at all."""
    devices = rng.sample(["gpu0", "gpu1", "gpu2"], rng.randint(1, 3))
    if hosts and rng.random() < 0.5:
        devices.insert(0, "cpu")
    cuts = sorted(rng.sample(range(1, LAYERS), len(devices) - 1))
    return list(zip(devices, [b - a for a, b in zip([0, *cuts], [*cuts, LAYERS])]))


def pins_of(names, runs, embedding, spilled=()):
    """Devices of all operators: of a layer its run's, of experts of some layers the host."""
    of_layer = [device for device, n in runs for _ in range(n)]
    pins = {}
    for name, kind in names:
        layer = re.match(r"(?:blk|model\.layers)\.(\d+)\.", name)
        if layer:
            away = int(layer.group(1)) in spilled and kind.startswith("Experts")
            pins[name] = "cpu" if away else of_layer[int(layer.group(1))]
        else:
            pins[name] = embedding if "embd" in name or "embed" in name else runs[-1][0]
    return pins


def operators(path):
    return [(row.split(",")[0], row.split(",")[2]) for row in situ("costs", path, "--platform", "cpu", "--fusion", "none").splitlines()[1:]]


def round_trip(path, writer, runs, embedding, spilled=(), read_as=None):
    pathlib.Path("pins.json").write_text(json.dumps(pins_of(operators(path), runs, embedding, spilled)))
    call = [path, *ON, "--context", "2048"]
    plan = situ_json("place", *call, "--fix", "pins.json", "--write", f"{writer}=text", "--granularity", "fused", *unsearched("auto"))
    row = of_command("text", *call, "--format", read_as or writer)
    assert row["layers"] == split(runs), (writer, runs, row, pathlib.Path("text").read_text())
    assert row["value_ns"] == plan["value_ns"], (writer, runs, embedding, spilled, pathlib.Path("text").read_text())


def test_what_a_writer_writes_is_read_as_the_plan():
    """Random runs of layers on a host and three GPUs: layers and time of what is read are those of what was written."""
    rng, path, experts = random.Random(7), language_model(), experts_model()
    for _ in range(8 if os.environ.get("SITU_TEST_SHARE", "100") == "100" else 1):
        runs = draw(rng, hosts=True)
        gpus = [device for device, _ in runs if device != "cpu"]
        round_trip(path, "llama.cpp", runs, rng.choice(["cpu", *gpus]))
        for writer in ("exo", "device-map", "torch-pipelining", "torchtitan"):
            round_trip(path, writer, runs, runs[0][0])
        for writer in ("vllm", "megatron"):
            round_trip(path, writer, stages := draw(rng, hosts=False), stages[0][0])
        round_trip(path, "llama-bench", stages, stages[0][0], read_as="llama.cpp")
        spilled = [k for k in range(LAYERS) if rng.random() < 0.5]
        round_trip(experts, "llama.cpp", draw(rng, hosts=False), "cpu", spilled)


def test_caches_on_the_host_are_read_there():
    """-nkvo: what keeps caches is on the host, and a cache that no GPU could hold costs its reading from that memory."""
    path = language_model()
    call = [path, "--platform", "cpu+rtx3090", "--context", "4096"]
    on_gpu, on_host = (of_command(f"llama-cli -m m.gguf -ngl 99 {more} -c 4096", *call) for more in ("", "-nkvo"))
    pins = {name: "cpu" if kind == "Attention" or "embd" in name else "gpu0" for name, kind in operators(path)}
    pathlib.Path("pins.json").write_text(json.dumps(pins))
    assert on_host["value_ns"] == situ_json("place", *call, "--fix", "pins.json", "--granularity", "fused")["value_ns"]
    assert on_host["value_ns"] > on_gpu["value_ns"]
    cache = 6 * 2 * 4096 * 4 * 64 * 2  # layers, keys and values, tokens, heads, elements, bytes
    huge = of_command("llama-cli -m m.gguf -ngl 99 -nkvo", path, "--platform", "cpu+rtx3090(1GB)", "--context", str(4096 * 64))
    assert huge["reason"] is None and cache * 64 > 1e9 and huge["value_ns"] > cache * 64 / 256e9 * 1e9
    situ("judge", "llama-cli -m m.gguf -ngl 99", path, "--platform", "cpu+rtx3090(1GB)", "--context", str(4096 * 64), "--steps", "20", code=4)


def test_words_of_programs_that_run_llamacpp():
    """Six layers and the head: the same words as options of llama.cpp place the same."""
    path = language_model()
    ps = ("NAME        ID      SIZE     PROCESSOR          CONTEXT    UNTIL\n"
          "m:latest    a6eb    46 GB    43%/57% CPU/GPU    2048       4 minutes from now\n")
    pathlib.Path("ps.txt").write_text(ps)
    pathlib.Path("Modelfile").write_text("FROM ./m.gguf\nPARAMETER num_gpu 4\nPARAMETER num_ctx 2048\n")
    for said, meant in (("ps.txt", "-ngl 4 -c 2048"), ("Modelfile", "-ngl 4 -c 2048"),
                        (ps.replace("43%/57% CPU/GPU", "100% GPU"), "-ngl 99 -c 2048"), (ps.replace("43%/57% CPU/GPU", "100% CPU"), "-ngl 0 -c 2048"),
                        ('{"model":"m","options":{"num_gpu":4,"num_ctx":2048}}', "-ngl 4 -c 2048"),
                        ("OLLAMA_NUM_PARALLEL=2 OLLAMA_KV_CACHE_TYPE=q8_0 PARAMETER num_gpu 9 PARAMETER num_ctx 1024",
                         "-ngl 99 -np 2 -c 2048 -ctk q8_0 -ctv q8_0"),
                        ("koboldcpp --model m.gguf --gpulayers 5 --contextsize 2048 --tensor_split 3 1 1 --quantkv 1 --lowvram",
                         "-ngl 5 -c 2048 -ts 3,1,1 -ctk q8_0 -ctv q8_0 -nkvo"),
                        ("python -m llama_cpp.server --model m.gguf --n_gpu_layers 4 --n_ctx 2048", "-ngl 4 -c 2048"),
                        ("lms load m --gpu 0.5 --context-length 2048", "-ngl 4 -c 2048"), ("lms load m --gpu max --context-length 2048", "-ngl 7 -c 2048")):
        theirs, ours = read(said, path, *ON), read(f"llama-server {meant}", path, *ON)
        assert theirs["rows"][0] == ours["rows"][0], (said, theirs["rows"][0], ours["rows"][0])
        assert any("runs llama.cpp" in note for note in theirs["command_notes"]), theirs["command_notes"]
    asked = '{"options":{"num_gpu":4,"num_ctx":2048},"model":"m","prompt":"what is num_gpu 0?"}'  # a prompt is no option
    assert of_command(asked, path, *ON) == of_command("llama-server -ngl 4 -c 2048", path, *ON)
    for said, why in (("lms load m --gpu nan", "expected a whole number"), ("lms load m --gpu -0.5", "expected a whole number"),
                      ("NAME ID SIZE PROCESSOR CONTEXT UNTIL", "no model that is loaded")):
        situ("judge", said, path, *ON, code=3, err=why)


def test_speed_is_told_with_a_full_cache_and_an_empty_one():
    path = language_model()
    row = of_command("llama-cli -m m.gguf -ngl 99 -c 65536", path, *ON)
    short = of_command("llama-cli -m m.gguf -ngl 99", path, *ON, "--context", "1")
    assert row["empty_cache_tokens_per_second"] == short["decode_tokens_per_second"], (row, short)
    assert row["empty_cache_tokens_per_second"] > row["decode_tokens_per_second"]


def test_what_names_nodes_is_read_as_the_plan():
    """Random devices of the nodes of an ONNX file, by the settings of ONNX Runtime and the affinities of OpenVINO."""
    rng, n = random.Random(11), 8
    names = [f"node{k}" for k in range(n)]
    steps = [node("MatMul", [f"t{k}", f"w{k}"], [f"t{k + 1}"], name=names[k]) for k in range(n)]
    weights = [tensor(f"w{k}", [64, 64]) for k in range(n)]
    pathlib.Path("m.onnx").write_bytes(model(graph(steps, [value("t0", [1, 64])], [value(f"t{n}", [1, 64])], weights)))
    for devices, platform, formats in ((["cpu", "gpu0", "npu1"], "cpu+rtx3090+npu-200v", ["ort-names", "openvino-affinity", "ort-annotation", "onnx-multidevice", "csv"]),
                                       (["cpu", "gpu0", "gpu1"], "cpu+2*rtx3090", ["openvino-affinity", "onnx-multidevice", "csv"])):
        for _ in range(3):
            pathlib.Path("pins.json").write_text(json.dumps({name: rng.choice(devices) for name in names}))
            call = ["m.onnx", "--platform", platform, "--fusion", "none"]
            for writer in formats:
                plan = situ_json("place", *call, "--fix", "pins.json", "--granularity", "operator", "--write", f"{writer}=out", *unsearched("auto"))
                file = {"openvino-affinity": "out/affinity.json", "onnx-multidevice": "out/model.onnx", "csv": "out"}.get(writer, "out/session.json")
                within = writer in ("ort-annotation", "onnx-multidevice")  # the placement stands in the model
                found = judged(file, *(["out/model.onnx", *call[1:]] if within else call))
                shutil.rmtree("out") if pathlib.Path("out").is_dir() else pathlib.Path("out").unlink()
                assert found["format"] == writer and found["rows"][0]["value_ns"] == plan["value_ns"], (writer, found["rows"])
    on = ["m.onnx", "--platform", "cpu+rtx3090"]
    session = lambda text: json.dumps({"session.name_based_layer_assignment": text})
    best = situ("judge", session("cpu(node)"), *on, "--steps", "20")
    assert "better: situ place MODEL --write ort-names=FOLDER" in best, best
    assert of_command(session("gpu(node);cpu(node3)"), *on)["value_ns"] > of_command(session("gpu(node)"), *on)["value_ns"], "the longest counts"
    situ("judge", session("npu(node)"), *on, code=3, err="has no npu")
    for text in (session("gpu(=another)"), '{"openvino_affinity": 1, "affinity": {"another": "GPU"}}'):
        situ("judge", text, *on, code=3, err="names no node of .*; expected names such as node0")
    situ("judge", session("gpu(node"), *on, code=3, err="a bracket does not end")
    situ("judge", session("gpu"), *on, code=3, err="expected DEVICE")
    situ("judge", '{"session.layer_assignment_settings": "cpu(=d0)"}', *on, code=3, err="has no labels .layer_ann. at its nodes")
    situ("judge", '{"openvino_affinity": 1, "affinity": {"node1": "GPU.3"}}', *on, code=3, err="node1: is on GPU.3, which cpu.rtx3090 has not")


def test_labels_without_a_sign_are_how_they_begin():
    """Of ONNX Runtime: "=NAME" is all of a label, NAME its beginning, and the longest counts."""
    steps = [node("MatMul", [f"t{k}", f"w{k}"], [f"t{k + 1}"], name=f"node{k}") for k in range(2)]
    weights = [tensor(f"w{k}", [64, 64]) for k in range(2)]
    pathlib.Path("m.onnx").write_bytes(model(graph(steps, [value("t0", [1, 64])], [value("t2", [1, 64])], weights)))
    pathlib.Path("pins.json").write_text(json.dumps({"node0": "cpu", "node1": "gpu0"}))
    on = ["--platform", "cpu+rtx3090", "--fusion", "none"]
    situ("place", "m.onnx", *on, "--fix", "pins.json", "--write", "ort-annotation=out", "--steps", "9")
    labels = json.loads(pathlib.Path("out/session.json").read_text())["session.layer_assignment_settings"]
    alike = [of_command(json.dumps({"session.layer_assignment_settings": text}), "out/model.onnx", *on) for text in (labels, labels.replace("=", ""))]
    assert alike[0] == alike[1] and alike[0]["value_ns"], (labels, alike)


def test_a_placement_that_cuts_a_kernel_is_judged_without_kernels():
    steps = [node("MatMul", ["t0", "w0"], ["a"], name="mm"), node("Relu", ["a"], ["b"], name="relu"), node("MatMul", ["b", "w1"], ["c"], name="mm2")]
    pathlib.Path("m.onnx").write_bytes(model(graph(steps, [value("t0", [1, 64])], [value("c", [1, 64])], [tensor("w0", [64, 64]), tensor("w1", [64, 64])])))
    session = json.dumps({"session.name_based_layer_assignment": "cpu(=mm);gpu(=relu,=mm2)"})
    on = ["m.onnx", "--platform", "cpu+rtx3090"]
    found = read(session, *on)
    assert found["rows"][0]["value_ns"] == of_command(session, *on, "--fusion", "none")["value_ns"], found["rows"]
    assert any("--fusion none" in note for note in found["command_notes"]), found["command_notes"]


# What is no placement that a program keeps, or that is read as another row's text; each writer is here or is read back.
NOT_READ = {"trace", "dot", "split", "onnx-parts", "openvino-parts", "iree", "torch-tensor-parallel", "llama-bench"}


def test_each_writer_is_read_back_or_named_here():
    writers = {row["name"] for row in situ_json("list", "writers")["writers"]}
    refusal = subprocess.run([SITU, "judge", "make me a sandwich", *ON], capture_output=True, text=True, check=False).stderr
    read = set(refusal.strip().split("read back: ")[1].split(", "))
    assert read | NOT_READ == writers and not read & NOT_READ, (sorted(read), sorted(writers))


def test_stages_of_torchtitan_and_megatron():
    """Six layers. torchtitan counts embedding and head as a layer each: 8 in 3 parts are 3, 3, 2, less the ends 2, 3, 1."""
    path = language_model()
    on = [path, "--platform", "cpu+4*rtx3090"]
    row = lambda words: of_command(words, *on)["layers"]
    degree = "[parallelism]\npipeline_parallel_degree = "
    assert row(degree + "3") == "gpu0 2, gpu1 3, gpu2 1"
    assert row(degree + "2\n") == "gpu0 3, gpu1 3"
    assert row("./run_train.sh --parallelism.pipeline_parallel_degree 2 --parallelism.pipeline_parallel_split_points layers.1") == "gpu0 1, gpu1 5"
    assert row(degree + '3\npipeline_parallel_split_points = ["layers.2", "layers.3"]') == "gpu0 2, gpu1 1, gpu2 3"
    own = degree + '2\nmodule_fqns_per_model_part = [\n  ["tok_embeddings", "layers.0"], # "gpu3"\n  [%s, "norm"],\n]\n'
    assert row(own % ", ".join(f'"layers.{k}"' for k in range(1, 6))) == "gpu3 1, gpu1 5"
    assert row(degree + "1\ntensor_parallel_degree = 4") == "gpu0-3 6"
    for text, why in ((own % '"layers.2"', "layers.2: expected layer 1 here"), (degree + "none", "pipeline_parallel_degree: expected a whole"),
                      (degree + "9", "9 stages are too many for 6 layers"), (own.replace("2", "3", 1) % '"layers.1"', "is 3, but 2 stages"),
                      (degree + "2\nmodule_fqns_per_model_part = 7", "expected a list of lists"), (degree + "5\ndata_parallel_shard_degree = 2", "too many")):
        situ("judge", text, *on, code=3, err=re.escape(why))
    size = "torchrun pretrain_gpt.py --pipeline-model-parallel-size "
    assert row(f"{size}3") == "gpu0 2, gpu1 2, gpu2 2"
    assert row(f"{size}3 --decoder-first-pipeline-num-layers 1 --decoder-last-pipeline-num-layers 3") == "gpu0 1, gpu1 2, gpu2 3"
    layout = f"{size}2 --pipeline-model-parallel-layout "
    assert row(layout + "'Et|ttttt,L'") == row(layout + "'Et|t*5L'") == row(layout + '"Et|(tt)*2tL"') == "gpu0 1, gpu1 5"
    assert row(layout + "'Et*2|t|t|t*2L'") == "gpu0 2, gpu1 1, gpu0 1, gpu1 2", "virtual stages in turn"
    assert row(f"{size}2 --num-virtual-stages-per-pipeline-rank 3") == row(f"{size}2 --num-layers-per-virtual-pipeline-stage 1")
    assert row(f"{size}2 --num-layers-per-virtual-pipeline-stage 1") == "gpu0 1, gpu1 1, gpu0 1, gpu1 1, gpu0 1, gpu1 1"
    situ("judge", f"{size}2 --num-layers-per-virtual-pipeline-stage 2", *on, code=3, err="no multiple of 2 for each of 2 ranks")
    assert row(degree + '2\npipeline_parallel_schedule = "ZBVZeroBubble"\nmodule_fqns_per_model_part = [["layers.0"], ["layers.1"], '
               '["layers.2"], ["layers.3", "layers.4", "layers.5"]]') == "gpu0 1, gpu1 2, gpu0 3", "there and back"
    assert row(f"{size}2 --tensor-model-parallel-size 2") == "gpu0-1 3, gpu2-3 3"
    for text, why in ((size + "4", "6 layers, which 4 stages cannot share evenly"), (size + "6", "has no GPU 4"),
                      (layout + "Et*7|L", "6 layers, but the layout has 7"), (layout + "'Et*3|t|t*2L'", "3 stages, no multiple of 2"),
                      (layout + "'Et*3|(t*3L'", "expected stages such as"), (layout + "'Et*99999|tL'", "expected stages such as"),
                      (layout + "'x'", "expected stages such as")):
        situ("judge", text, *on, code=3, err=re.escape(why))


def test_the_rule_of_llamacpp_places_layers():
    """By hand: 7 rows (6 layers and the head) by shares 3 and 1 of two GPUs: row i is on the first while i / 7 < 3 / 4,
    so 0 to 5; with -ngl 5 the last 5 rows are: i / 5 < 3 / 4 for i to 3, rows 2 to 5."""
    path = language_model()
    on = [path, "--platform", "cpu+2*rtx3090"]
    row = lambda words, **how: of_command(f"llama-server {words} -c 2048", *on, **how)["layers"]
    assert row("-ts 3,1 -ngl 99") == "gpu0 6"
    assert row("-ts 1,1") == "gpu0 4, gpu1 2", "rows below 3.5: 0 to 3"
    assert row("-ts 3,1 -ngl 5") == "cpu 2, gpu0 4"
    assert row("-ngl 0") == "cpu 6"
    assert row("-dev none") == "cpu 6"
    assert row("-dev CUDA1,CUDA0 -ts 1/1") == "gpu1 4, gpu0 2"
    assert row("-sm none -mg 1") == "gpu1 6"
    assert row("") == "gpu0 4, gpu1 2", "equal memories have equal shares"
    assert of_command("llama-server -sm tensor -c 2048", *on)["layers"] == "gpu0-1 6"
    for shares in ("1,0", "2,1,1", "1,x"):
        situ("judge", f"llama-server -sm tensor -dev CUDA0,CUDA1 -ts {shares}", *on, code=3, err=f"-ts {shares}: with -sm tensor each device needs")


def test_a_command_that_overfills_a_device_is_told_and_bettered():
    """The first GPU is to hold all of the model, but has room for half of it."""
    path = language_model()
    whole = situ_json("place", path, "--platform", "cpu+rtx3090", "--context", "4096", "--solver", "single", "--unused", "cpu")
    room = next(d["memory_bytes"] for d in whole["devices"] if d["name"] == "gpu0") * 2 // 3
    gpu = {"name": "gpu", "base": "rtx3090-24g", "memory_bytes": room, "count": 2}
    links = [{"from": "cpu", "to": "gpu", "kind": "pcie4"}]
    pathlib.Path("m.json").write_text(json.dumps({"situ_platform": 1, "name": "m", "devices": [{"name": "cpu", "base": "cpu"}, gpu], "links": links}))
    found = judged("llama-server -m m.gguf -ts 1,0 -c 4096", "--platform", "m.json", code=4)
    assert not found["runs"] and "memory of gpu0" in found["rows"][0]["reason"], found["rows"]
    assert found["rows"][1]["value_ns"] >= found["lower_bound_ns"] > 0
    pathlib.Path("better").write_text(found["better"])
    better = judged("better", path, "--platform", "m.json")
    assert better["runs"] and better["rows"][0]["value_ns"] == found["rows"][1]["value_ns"], better["rows"]
    text = situ("judge", "llama-server -m m.gguf -ts 1,0 -c 4096", "--platform", "m.json", "--steps", "60", code=4)
    verdict = re.search(r"verdict  memory: the memory of gpu0 must hold ([0-9.]+) MB; the\s+capacity is ([0-9.]+) MB\n", text)
    assert verdict and abs(float(verdict[2]) * 1e6 - room) < 1e6 and float(verdict[1]) > float(verdict[2]), text
    assert "better, for llama.cpp" in text and "--fit off" in text, text


def test_vllm_uses_a_share_of_the_memory():
    """Of a GPU with a true memory of 1.074 of what the catalogue counts, the share of the command less 2 %."""
    path = language_model()
    one = of_command("vllm serve m --max-model-len 4096 --gpu-memory-utilization 1", path, "--platform", "rtx3090")
    taken = one["fullest_share"] * 24e9
    for share, more in ((0.5, 1.02), (0.5, 0.98), (None, 1.02), (None, 0.98)):
        usable = 1.074 * (share or 0.92) - 0.02
        gpu = {"name": "gpu", "base": "rtx3090-24g", "memory_bytes": round(taken / usable * more)}
        pathlib.Path("m.json").write_text(json.dumps({"situ_platform": 1, "name": "m", "devices": [gpu]}))
        command = "vllm serve m --max-model-len 4096" + (f" --gpu-memory-utilization {share}" if share else "")
        found = judged(command, path, "--platform", "m.json", code=0 if more > 1 else 4)
        assert found["runs"] == (more > 1), (share, more, found["rows"])
    situ("judge", "vllm serve m --gpu-memory-utilization 90", path, "--platform", "rtx3090", code=3, err="expected a share of at most 1")


def test_the_request_is_that_of_the_command():
    """-c is for all slots; options of the call win."""
    language_model()
    note = lambda *call: judged(*call)["notes"][0]
    on = ["--platform", "cpu+rtx3090"]
    assert "cache of 1024 tokens for 4 streams, in q8_0" in note("llama-server -m m.gguf -c 4096 -np 4 -ctk q8_0 -ctv q8_0 -fa on", *on)
    assert "cache of 512 tokens for 1 stream" in note("llama-server -m m.gguf -c 4096", *on, "--context", "512")
    vllm = judged("vllm serve m.gguf --max-model-len 2048 --max-num-seqs 8", *on)
    assert "cache of 2048 tokens for 1 stream" in vllm["notes"][0] and "8 requests share them" in vllm["command_notes"][0], vllm
    assert "cache of 2048 tokens for 8 streams" in note("vllm serve m.gguf --max-model-len 2048 --max-num-seqs 8", *on, "--batch", "8")
    found = judged("llama-server -m m.gguf", *on)
    assert "4096 tokens" in found["notes"][0], "what the model was trained for"
    assert any("without -c" in line for line in found["command_notes"]), found["command_notes"]


def test_a_device_map_is_read_with_prefixes_and_the_cpu():
    path = language_model()
    layers = {f"blk.{i}": "cpu" if i < 2 else 0 if i < 5 else "cuda:1" for i in range(LAYERS)}
    pathlib.Path("map.json").write_text(json.dumps({"token_embd": "cpu", **layers, "output_norm": 1, "output": 1}))
    row = of_command("map.json", path, "--platform", "cpu+2*rtx3090", "--context", "1024")
    assert row["layers"] == "cpu 2, gpu0 3, gpu1 1", row
    assert of_command('{"": 0}', path, "--platform", "cpu+2*rtx3090", "--context", "1024")["layers"] == "gpu0 6"
    situ("judge", '{"": "disk"}', path, "--platform", "cpu+2*rtx3090", code=3, err="a device that the platform has not")
    situ("judge", '{"blk.0": 0}', path, "--platform", "cpu+2*rtx3090", code=3, err="covered by no key")


def test_split_points_are_read_as_stages():
    path = language_model()
    stages = {"split_points": {"blk.2": "BEGINNING", "blk.3": "BEGINNING"}, "devices": ["gpu1", "cpu", "gpu0"]}
    row = of_command(json.dumps(stages), path, "--platform", "cpu+2*rtx3090", "--context", "1024")
    assert row["layers"] == "gpu1 2, cpu 1, gpu0 3", row
    stages["devices"].pop()
    situ("judge", json.dumps(stages), path, "--platform", "cpu+2*rtx3090", code=3, err="2 stages have 2 split points, not 1")


def test_command_lines_as_people_paste_them():
    """Short invocations in the forms of the programs' documentation: each is read as that placement of six layers on
    four equal GPUs, or refused with the reason. Seven rows (six layers and the head) in four parts are 2, 2, 2, 1."""
    path = language_model()
    on = [path, "--platform", "cpu+4*rtx3090"]
    each, vllm = "gpu0 2, gpu1 2, gpu2 2", "python -m vllm.entrypoints.openai.api_server --model org/model"
    exo = json.dumps({"shards": [{"node": "gpu1", "start_layer": 0, "end_layer": 2}, {"node": "gpu0", "start_layer": 2, "end_layer": 6}]})
    titan = "[parallelism]\ndata_parallel_shard_degree = -1\n"
    commands = (
            ("llama-server -m model.gguf -c 2048", each),
            ("llama-server -m model.gguf -ngl 99 --host 0.0.0.0 --port 8080", each),
            ("llama-server -hf org/model-GGUF:Q4_K_M -ngl all --jinja -fa on", each),
            ("./build/bin/llama-cli -m model.gguf -p 'Once upon a time' -n 128 -ngl 33 -t 8 --color", each),
            ("llama-cli -m model.gguf -ngl 0", "cpu 6"),
            ("llama-server -m model.gguf -ngl 4 --no-mmap", "cpu 3, gpu0 1, gpu1 1, gpu2 1"),  # rows 3 to 6, one each; the head on gpu3
            ("llama-server -m model.gguf -ts 3,1", "gpu0 6"),
            ("CUDA_VISIBLE_DEVICES=2 llama-server -m model.gguf -ngl 99", "gpu2 6"),
            ("CUDA_VISIBLE_DEVICES=3,1 llama-server -m model.gguf -ngl 99 -ts 1,1", "gpu3 4, gpu1 2"),
            ("CUDA_VISIBLE_DEVICES=3,1 llama-server -m model.gguf -dev CUDA1", "gpu1 6"),
            ("CUDA_VISIBLE_DEVICES= llama-cli -m model.gguf -ngl 99", "cpu 6"),
            ("CUDA_VISIBLE_DEVICES=-1 llama-server -m model.gguf", "cpu 6"),
            ("llama-server -m model.gguf -dev none", "cpu 6"),
            ("llama-server -m model.gguf -sm none -mg 2 -c 8192", "gpu2 6"),
            ("llama-server -m model.gguf -sm row -ts 1,0,0,1 -mg 1", "gpu0 4, gpu3 2"),
            ("llama-server -m model.gguf -dev CUDA0,CUDA2 -c 16384 -np 4", "gpu0 4, gpu2 2"),
            ("llama-server -m model.gguf --cpu-moe -ngl 99 -c 32768 -ctk q8_0 -ctv q8_0", each),
            ("llama-server -m model.gguf -ngl 99 -ot 'ffn_.*_exps.=CPU' -b 4096 -ub 4096", each),
            ("llama-server -m model.gguf -ngl 99 --n-cpu-moe 20 --no-warmup", each),
            ("llama-bench -m model.gguf -ngl 99 -p 512 -n 128 -ts 1/1", "gpu0 4, gpu1 2"),
            ("llama-server -m model.gguf -md draft.gguf -ngl 99 -ngld 99", each),
            ("./bin/llama-server -m model.gguf -fa -fmoe -mla 3 -amb 512 -rtr -ngl 99 -ot exps=CPU", each),  # ik_llama.cpp
            ("./bin/llama-server -m model.gguf -sm graph -ngl 99", "gpu0-3 6"),
            ("llama-server -m model.gguf -sm tensor -ts 1,1,1,1 -ngl 99", "gpu0-3 6"),
            ("LLAMA_ARG_N_GPU_LAYERS=99 LLAMA_ARG_TENSOR_SPLIT=3,1 LLAMA_ARG_CTX_SIZE=2048 llama-server -m model.gguf", "gpu0 6"),
            ("LLAMA_ARG_OVERRIDE_TENSOR=ffn=CUDA0,attn=CUDA0 llama-server -m model.gguf --override-tensor=norm=CUDA0 -ts 1,0", "gpu0 6"),
            ("python -m sglang.launch_server --model-path org/model --tp 2 --pp-size 2 --mem-fraction-static 0.85", "gpu0-1 3, gpu2-3 3"),
            ("llama-server -m model.gguf -sm tensor -ts 4,3,3,2 -ngl 99", "gpu0-3 6"),
            ("vllm serve org/model --tensor-parallel-size 4", "gpu0-3 6"),
            ("vllm serve org/model -tp 2 -pp 2 --max-model-len 8192", "gpu0-1 3, gpu2-3 3"),
            ("vllm serve org/model --data-parallel-size 4 --enable-expert-parallel", "gpu0 6"),
            (f"{vllm} --pipeline-parallel-size=2 --gpu-memory-utilization 0.95", "gpu0 3, gpu1 3"),
            ("VLLM_PP_LAYER_PARTITION=1,2,2,1 vllm serve org/model -pp 4", "gpu0 1, gpu1 2, gpu2 2, gpu3 1"),
            ("CUDA_VISIBLE_DEVICES=2,3 vllm serve org/model --tensor-parallel-size 2", "gpu2-3 6"),
            (exo, "gpu1 2, gpu0 4"),
            ('{"": 1}', "gpu1 6"),
            ('{"token_embd": 0, "blk.0": 0, "blk.1": 0, "blk": "cuda:3", "output_norm": 3, "output": "cuda:3"}', "gpu0 2, gpu3 4"),
            ("NGPU=4 ./run_train.sh --parallelism.pipeline_parallel_degree 2 --parallelism.pipeline_parallel_schedule 1F1B", "gpu0 3, gpu1 3"),
            (titan + "tensor_parallel_degree = 2\npipeline_parallel_degree = 2\n", "gpu0-1 3, gpu2-3 3"),
            ("torchrun --nproc-per-node 4 pretrain_gpt.py --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 --seq-length 4096",
             "gpu0-1 3, gpu2-3 3"))
    for command, found in commands if SHARE >= 100 else commands[::4]:
        row = of_command(command, *on)
        assert row["layers"] == found, (command, row)
    for command, why, code in (
            ("exo run llama-3.2-3b", "none of the formats that are read back", 2),
            ("accelerate launch --multi_gpu --num_processes 4 train.py", "a device_map does", 2),
            ("ollama run llama3", "ollama chooses the layers itself", 2),
            ("python main.py --model x --gpu-split 22,24", "fills GPUs in turn", 2),
            ("mlx_lm.server --model x", "MLX runs on one Mac", 2),
            ("deepspeed --num_gpus 4 train.py", "stages of DeepSpeed", 2),
            ("text-generation-launcher --model-id m --num-shard 2", "--num-shard as --tensor-parallel-size", 2),
            ("trtllm-serve m --tp_size 2", "--tp_size as --tensor-parallel-size", 2),
            ("lmdeploy serve api_server m --tp 2", "--tp as --tensor-parallel-size", 2),
            ("HETERO:GPU.0,GPU.1", "openvino-affinity", 2),
            ("llama-server -m model.gguf --rpc 192.168.1.10:50052,192.168.1.11:50052 -ngl 99", "the platform is one machine", 3),
            ("llama-server -m model.gguf -sm wide", "expected none, layer, row or tensor", 3),
            ("CUDA_VISIBLE_DEVICES=7 llama-server -m model.gguf", "has no single GPU 7", 3),
            ("vllm serve org/model -tp 8", "has no 8 equal devices", 2),
            ('{"model": "cpu", "lm_head": "disk"}', "is covered by no key", 3)):
        situ("judge", command, *on, code=code, err=why)


def test_without_a_gpu_the_cpu_computes_the_prompt():
    """With one it computes the products of a prompt that the CPU has, unless the command hides it."""
    os.replace(language_model(), "model.gguf")
    on = ["model.gguf", "--platform", "cpu+rtx3090", "--prompt", "512"]
    helped = of_command("llama-server -m model.gguf -ngl 0", *on)
    for command in ("llama-server -m model.gguf -dev none", "CUDA_VISIBLE_DEVICES= llama-server -m model.gguf"):
        assert of_command(command, *on)["value_ns"] > 2 * helped["value_ns"], command
    alone = of_command("llama-server -m model.gguf", "model.gguf", "--platform", "cpu", "--prompt", "512")
    assert of_command("llama-server -m model.gguf -dev none", *on)["value_ns"] == alone["value_ns"]


def test_the_bound_is_none_above_a_cpu_that_computes_the_prompt_itself():
    """Copies of weights may take longer than the CPU. The plan hides the GPU where it would be faster even if the CPU took 3.4 times as
    long as predicted, else a note says so. Nothing is claimed that the command without a GPU refutes. Where the GPU helps a plan on the
    CPU, the command shows it."""
    llm_files.write("m.gguf", *llm_files.moe("qwen3moe", 8, 256, 8, 2, 64, 3200, 4, 2, 512, kind="Q4_0", out_kind="Q8_0"))
    for rig, hidden in ("cpu+v100-16g", False), ("cpu+4*v100-16g@nvlink", False), ("cpu+v100-16g@pcie3x1", True):
        on = ["m.gguf", "--platform", rig, "--context", "512", "--prompt", "64", "--generate", "8", "--steps", "60"]
        on += ["--reserve", "gpu0=15999MB"] if hidden else []  # no layer fits the GPU
        helped, alone = ([of_command(f"llama-server -m m.gguf {flags}", *on)["value_ns"] for flags in ("-ngl 0", "-dev none -ngl 0")])
        assert (helped > 3.4 * alone) == hidden and alone < helped, (rig, helped, alone)
        for groups in ([], ["--tensor-parallel", "auto"], ["--tensor-parallel", "1"]):
            found = situ_json("place", *on, *groups, "--write", "llama.cpp=flags")
            flags, notes = pathlib.Path("flags").read_text(), " ".join(found["notes"])
            assert (found["value_ns"] == alone and "-dev none" in flags) == hidden, (rig, groups, alone, helped, found)
            assert ("measure before you hide the GPU" in notes) == (not hidden) or found["value_ns"] <= alone, (rig, groups, notes)
            codes = [row["code"] for row in found["scope"]]
            assert "offload" in codes or found["lower_bound_ns"] <= alone, (rig, groups, codes)
        judged = situ_json("judge", "llama-server -m m.gguf -dev none -ngl 0", *on)
        assert judged["lower_bound_ns"] is None or judged["lower_bound_ns"] <= alone, (judged["lower_bound_ns"], alone)
    on = ["m.gguf", "--platform", "cpu+rtx3090", "--context", "2048", "--prompt", "1024", "--steps", "60", "--fix", "cpu.json", "--granularity", "layer"]
    names = [row[0] for row in json.loads(situ("place", "m.gguf", "--platform", "cpu", "--steps", "1", "-o", "p.json") and pathlib.Path("p.json").read_text())["operators"]]
    pathlib.Path("cpu.json").write_text(json.dumps(dict.fromkeys(names, "cpu")))
    found = situ_json("place", *on, "--write", "llama.cpp=flags")
    assert pathlib.Path("flags").read_text().startswith("-dev CUDA0 -ngl 0 "), pathlib.Path("flags").read_text()
    assert "offload" in [row["code"] for row in found["scope"]], found["scope"]
    command = f"llama-server -m m.gguf {pathlib.Path('flags').read_text().splitlines()[0]}"
    assert of_command(command, *on[:7])["value_ns"] == found["value_ns"], command


def test_vllm_reads_tokens_with_units():
    """By its help: 1k is 1,000, 1K is 1,024, 25.6k is 25,600; auto and -1 let it choose."""
    on = [language_model(), "--platform", "cpu+2*rtx3090"]
    notes = lambda words: " ".join(read(f"vllm serve org/model {words}", *on)["notes"])
    for text, tokens in (("1k", 1000), ("1K", 1024), ("25.6k", 25600), ("32K", 32768), ("4096", 4096)):
        assert f"cache of {tokens} tokens" in notes(f"--max-model-len {text}"), (text, notes(f"--max-model-len {text}"))
    read("vllm serve org/model --max-num-batched-tokens 8k", *on)
    for text in ("auto", "-1"):
        told = read(f"vllm serve org/model --max-model-len {text}", *on)["command_notes"]
        assert any("longest context that fits" in note for note in told), told
    for text in ("k", "x", "3x", "0", "0k", "1e300k", "1 k"):
        situ("judge", f"vllm serve org/model --max-model-len '{text}'", *on, code=3, err="--max-model-len .*: expected a")
    situ("judge", "llama-server -m f.gguf -sm none -mg 7", *on, code=3, err="-mg 7: is not among the devices")
    situ("judge", "llama-server -m f.gguf -ts 1e308,1e308", *on, code=3, err="-ts 1e308,1e308: gives no device a share")


def test_vllm_options_that_are_not_modelled_are_named():
    on = [language_model(), "--platform", "cpu+2*rtx3090"]
    situ("judge", "vllm serve org/model --cpu-offload-gb 100", *on, code=3, err="fetches from the CPU at each step are not modelled")
    assert read("vllm serve org/model --cpu-offload-gb 0", *on)["command_notes"] == read("vllm serve org/model", *on)["command_notes"]
    for words, says in (("--quantization fp8", "weights are taken as they are in the file"), ("--kv-cache-memory-bytes 4G", "--gpu-memory-utilization"),
                        ("--speculative-config '{\"method\": \"mtp\"}'", "speculative decoding is not modelled")):
        assert any(says in note for note in read(f"vllm serve org/model {words}", *on)["command_notes"]), words


def test_micro_batches_and_lists_of_a_command_count():
    """-ub decides how often weights in the host's memory are copied; llama-bench says what it measures, the first of each list."""
    path, on = experts_model(), ["--platform", "cpu-64g+rtx3090"]
    speeds = {}
    for ub in (128, 256, 1024):
        command = f"llama-server -m {path} -c 4096 -ngl 99 --cpu-moe -ub {ub}"
        found = judged(command, *on, "--prompt", "1024", "--generate", "16")
        speeds[ub] = found["rows"][0]["prefill_tokens_per_second"]
        same = of_command(f"llama-server -m {path} -c 4096 -ngl 99 --cpu-moe", *on, "--prompt", "1024", "--generate", "16", "--ubatch", str(ub))
        assert same == found["rows"][0], ub
        assert "better" not in found or f" -ub {ub} " in found["better"], found["better"]
    assert speeds[128] < 0.6 * speeds[256] < 0.6 * 0.6 * speeds[1024], speeds
    less = of_command(f"llama-server -m {path} -c 4096 -ngl 99 --cpu-moe -b 128 -ub 1024", *on, "--prompt", "1024", "--generate", "16")
    assert less["prefill_tokens_per_second"] == speeds[128], "a micro-batch is not larger than the batch"
    bench = f"llama-bench -m {path} -ngl 99 -p 640,2048 -n 64,128 -d 0,4096 -sm layer,row -ub 128,512"
    listed, plain = read(bench, *on), read(f"llama-server -m {path} -ngl 99 -c 704 -ub 128", *on, "--prompt", "640", "--generate", "64")
    assert listed["rows"][0] == plain["rows"][0], (listed["rows"], plain["rows"])
    assert "the first of each is judged" in json.dumps(listed)


def test_patterns_are_those_of_ecmascript():
    """\\d and (?:...) stand in many commands; POSIX knows neither. Experts of two of six layers are on the host."""
    path = experts_model()
    on = ["--platform", "desktop+rtx3090"]
    same = [r"blk\.(1|2)\.ffn_.*_exps=CPU", r"blk\.[12]\.ffn_\w+_exps=CPU", r"blk\.(?:1|2)\.ffn_.*?_exps=CPU", r"blk[\.][12]\.ffn_(up|down|gate)_exps=CUDA_Host",
            r"blk\.0\..*=CUDA0,blk\.[3-5]\..*=CUDA0,blk\.\d+\.ffn_.*_exps=CPU", r"blk\.0\..*=CUDA0,blk\.[3-5]\..*=CUDA0,blk\.[\d]\.ffn_.*_exps=CPU"]
    same.append("|".join(rf"blk\.{k}\.ffn_(up|down|gate)_exps\.weight" for k in (1, 2, *range(10, 40))) + "=CPU")  # 1,100 letters
    rows = [of_command(f"llama-server -m {path} -ngl 99 -c 2048 -ot '{rule}'", *on) for rule in same]
    none = of_command(f"llama-server -m {path} -ngl 99 -c 2048", *on)
    for rule, row in zip(same, rows):
        assert row["value_ns"] == rows[0]["value_ns"] > none["value_ns"], (rule, row)
    situ("judge", "llama-server -ot '(?!a)exps=CPU'", path, *on, code=3, err="is no pattern that situ understands")


def test_a_generic_server_beside_a_card_of_desktops_is_told():
    path = experts_model()
    for machine, told in (("cpu+rtx3090", True), ("desktop+rtx3090", False), ("ryzen-9950x+rtx3090", False), ("cpu+a100-80g", False)):
        notes = read(f"llama-server -m {path} -ngl 0 -c 4096", "--platform", machine)["notes"]
        assert any("generic server CPU" in line for line in notes) == told, (machine, notes)


def test_containers_and_servers_of_a_command():
    """What docker is told about the container is no option of the engine; addresses of --rpc are the other machines in turn."""
    path = language_model()
    docker = "docker run -it --rm --gpus all --device=/dev/dri --device /dev/kfd -v /srv/llama:/models -p 8000:8000 -e CUDA_VISIBLE_DEVICES=1"
    for image, options in (("ghcr.io/ggml-org/llama.cpp:server-cuda", "-m /models/m.gguf -ngl 99 -c 2048"),
                           ("vllm/vllm-openai:latest", "--model org/model --max-model-len 2048")):
        row = of_command(f"{docker} {image} {options}", path, "--platform", "cpu+2*rtx3090")
        assert row["layers"] == "gpu1 6", (image, row)
    on = [path, "--platform", "(cpu+rtx3090)+(cpu+rtx4090)+(cpu+rtx3060)@ethernet-1g"]
    for servers, split_by in (("10.0.0.2:50052", "gpu1 4, gpu0 2"), ("10.0.0.2:50052,10.0.0.3:50052", "gpu1 3, gpu2 2, gpu0 1")):
        row = of_command(f"llama-cli -m m.gguf -ngl 99 -ts {','.join('1' * (2 + servers.count(',')))} --rpc {servers}", *on)
        assert row["layers"] == split_by, (servers, row)
    row = of_command("llama-cli -m m.gguf -ngl 99 -ts 1,1 --rpc h:9", *on, "--names", "gpu2=RPC[h:9]")
    assert row["layers"] == "gpu2 4, gpu0 2", row


def test_manifests_are_commands():
    """What compose files and Kubernetes say: lists in lines or in brackets, variables by name and value, folded text; and
    the file of --config, which the command overrules."""
    pathlib.Path("c.yaml").write_text("# of vLLM\nmodel: org/model\ntensor-parallel-size: 2\nmax-model-len: 2048\n")
    on = [language_model(), "--platform", "cpu+4*rtx3090"]
    variable = "    env:\n    - name: CUDA_VISIBLE_DEVICES\n      value: \"3,2\"\n"
    for name, text, layers, tokens in (
            ("pod.yaml", f"""containers:\n  - name: vllm\n    command: ["vllm", "serve", "org/model"]\n    args:\n    - "--tensor-parallel-size"
    - "2"\n    - --max-model-len=1024\n{variable}""", "gpu2-3 6", 1024),
            ("list.yaml", """    command: ["python3","-m","vllm.entrypoints.openai.api_server"]\n    args: ["--model", 'm', "-pp", "2", "--max_model_len", "512"]\n""",
             "gpu0 3, gpu1 3", 512),
            ("compose.yaml", """services:\n  sg:\n    image: lmsysorg/sglang\n    environment:\n      CUDA_VISIBLE_DEVICES: "1"\n    command: >
      --model-path m\n      --context-length 4096\n    deploy:\n      devices:\n        - count: all\n""", "gpu1 6", 4096),
            ("llama.yml", "services:\n  llama:\n    image: llama.cpp:server-cuda\n    command: -m m.gguf -ngl 99 -c 1024 --tensor-split 3,1,0,0\n", "gpu0 6", 1024),
            ("plain.yml", "services:\n  llama:\n    image: llama.cpp:server-cuda\n    command: [ -m, m.gguf, -ngl, 99, -c, 1024, -ts, \"3,1,0,0\" ]\n", "gpu0 6", 1024),
            ("Dockerfile", 'CMD [ "llama-server", "-m", "m.gguf", "-ngl", "99", "-c", "1024", "-ts", "3,1,0,0" ]\n', "gpu0 6", 1024),
            (None, "vllm serve --config c.yaml", "gpu0-1 6", 2048),
            (None, "vllm serve --config=c.yaml --max-model-len 512", "gpu0-1 6", 512)):
        if name:
            pathlib.Path(name).write_text(text)
        found = read(name or text, *on)
        assert found["rows"][0]["layers"] == layers, (text, found["rows"])
        assert any(f"cache of {tokens} tokens" in note for note in found["notes"]), (text, found["notes"])
    pathlib.Path("off.yaml").write_text("model: org/model\nenable-expert-parallel: false\nmax-model-len: 2048\n")
    assert not any("expert-parallel" in note for note in read("vllm serve --config off.yaml", *on)["command_notes"])
    situ("judge", "vllm serve --config none.yaml", *on, code=3, err="none.yaml: cannot be opened")


def test_options_alone_are_a_command():
    """The program is that whose options they are; names of several letters are written with - or _."""
    on = [language_model(), "--platform", "cpu+2*rtx3090"]
    for words, same in (("-ngl 99 -ts 3,1 -c 2048", "llama-server -ngl 99 -ts 3,1 -c 2048"), ("-ot exps=CPU -c 2048", "llama-server -ot exps=CPU -c 2048"),
                        ("--tensor-parallel-size 2 --max-model-len 2048", "vllm serve m -tp 2 --max-model-len 2048"),
                        ("vllm serve m --tensor_parallel_size=2 --max_model_len 2048", "vllm serve m -tp 2 --max-model-len 2048"),
                        ("llama-server --n_gpu_layers 3 --ctx_size 2048", "llama-server -ngl 3 -c 2048")):
        assert of_command(words, *on) == of_command(same, *on), words


def test_files_beside_the_model_have_room():
    """A draft of 23.5 GB leaves no room on a GPU of 24 GB; one that is not here is only named."""
    path, on = language_model(), ["--platform", "cpu+rtx3090-24g"]
    with open("draft.gguf", "wb") as f:
        f.truncate(24_200_000_000)
    command = f"llama-server -m {path} -ngl 99 -c 2048 -md"
    told = judged(f"{command} draft.gguf", *on, *unsearched("single"), code=4)
    assert "24.2 GB of the draft model" in told["command_notes"][0], told
    for rest in ("none.gguf", "draft.gguf -devd none", "draft.gguf -ngld 0"):
        assert any("that is not counted" in note for note in read(f"{command} {rest}", *on)["command_notes"]), rest
    with open("small.gguf", "wb") as f:
        f.truncate(2_000_000_000)
    told = judged(f"{command} small.gguf", path, "--platform", "cpu+2*rtx3090-24g")  # groups are tried, of which gpu0 is a member
    assert len(told["rows"]) == 2 and "2.00 GB of the draft model" in told["command_notes"][0], told


def test_a_file_that_is_not_there_is_no_command():
    path = language_model()
    for name in ("device_map.json", "runs/flags.txt"):
        situ("judge", name, path, "--platform", "cpu+2*rtx3090", code=3, err=f"{name}: cannot be opened: No such file or directory")


def test_bad_commands_are_refused_with_the_option():
    path = language_model()
    on = [path, "--platform", "cpu+2*rtx3090"]
    for command, why in (("llama-server -ts 1,2,3", "-ts 1,2,3: has more shares than there are devices"),
                         ("llama-server -ts 1,x", "expected numbers with commas"),
                         ("llama-server -ts 0,0", "gives no device a share"),
                         ("llama-server -dev CUDA7", "names a device that the platform has not"),
                         ("llama-server -ngl many", "-ngl many: expected a whole number"),
                         ("llama-server -c -4", "-c -4: expected a whole number"),
                         ("llama-server -ot 'blk=CUDA9'", "names a buffer that the platform has not"),
                         ("llama-server -ot '(=CPU'", "is no pattern"),
                         ("llama-server -m 'a", "a quote (') does not end"),
                         ("vllm serve x -pp 3", "has no GPU 2"),
                         ("VLLM_PP_LAYER_PARTITION=1,2 vllm serve x -pp 2", "has 6 layers, but the stages have 3"),
                         ('{"shards": [{"node": "gpu0", "start_layer": 1, "end_layer": 6}]}', "expected layers from 0 on")):
        situ("judge", command, *on, code=3, err=re.escape(why))
    situ("judge", "make me a sandwich", *on, code=2, err="none of the formats that are read back: csv, llama.cpp, vllm")
    situ("judge", "llama-server -ngl 9", "--platform", "cpu", code=2, err="names no model")
    situ("judge", "llama-server -ngl 9", path, "--platform", "rtx3090", "--format", "dot", code=2, err="none of the formats")


if __name__ == "__main__":
    sys.exit(main(globals()))
