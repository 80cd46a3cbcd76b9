#!/usr/bin/env python3
"""`situ judge`: commands and files of other programs, read back.

    test_judge.py SITU [NAME...]
"""
import json
import os
import pathlib
import random
import re
import sys

from test_cli import main, situ, situ_json
from test_language_models import language_model

import llm_files

LAYERS = 6
ON = ["--platform", "cpu+3*rtx3090"]


def judged(command, *call, code=0):
    return json.loads(situ("judge", command, *call, "--steps", "60", "--json", code=code))


def of_command(command, *call, code=0):
    return judged(command, *call, code=code)["rows"][0]


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


def round_trip(path, writer, runs, embedding, spilled=()):
    pathlib.Path("pins.json").write_text(json.dumps(pins_of(operators(path), runs, embedding, spilled)))
    call = [path, *ON, "--context", "2048"]
    plan = situ_json("place", *call, "--fix", "pins.json", "--write", f"{writer}=text", "--granularity", "fused")
    row = of_command("text", *call, "--format", writer)
    assert row["layers"] == split(runs), (writer, runs, row, pathlib.Path("text").read_text())
    assert row["value_ns"] == plan["value_ns"], (writer, runs, embedding, spilled, pathlib.Path("text").read_text())


def test_what_a_writer_writes_is_read_as_the_plan():
    """Random runs of layers on a host and three GPUs: layers and time of what is read are those of what was written."""
    rng, path, experts = random.Random(7), language_model(), experts_model()
    for _ in range(8 if os.environ.get("SITU_TEST_SHARE", "100") == "100" else 2):
        runs = draw(rng, hosts=True)
        gpus = [device for device, _ in runs if device != "cpu"]
        round_trip(path, "llama.cpp", runs, rng.choice(["cpu", *gpus]))
        round_trip(path, "exo", runs, runs[0][0])
        round_trip(path, "vllm", stages := draw(rng, hosts=False), stages[0][0])
        spilled = [k for k in range(LAYERS) if rng.random() < 0.5]
        round_trip(experts, "llama.cpp", draw(rng, hosts=False), "cpu", spilled)


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


def test_the_request_is_that_of_the_command():
    """-c is for all slots; options of the call win."""
    language_model()
    note = lambda *call: judged(*call)["notes"][0]
    on = ["--platform", "cpu+rtx3090"]
    assert "cache of 1024 tokens for 4 streams, in q8_0" in note("llama-server -m m.gguf -c 4096 -np 4 -ctk q8_0 -ctv q8_0 -fa on", *on)
    assert "cache of 512 tokens for 1 stream" in note("llama-server -m m.gguf -c 4096", *on, "--context", "512")
    assert "cache of 2048 tokens for 8 streams" in note("vllm serve m.gguf --max-model-len 2048 --max-num-seqs 8", *on)
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
    situ("judge", "make me a sandwich", *on, code=2, err="none of the formats that are read back: llama.cpp, vllm")
    situ("judge", "llama-server -ngl 9", "--platform", "cpu", code=2, err="names no model")
    situ("judge", "llama-server -ngl 9", path, "--platform", "rtx3090", "--format", "csv", code=2, err="none of the formats")


if __name__ == "__main__":
    sys.exit(main(globals()))
