#!/usr/bin/env python3
"""`situ fit`: the longest context, the most streams, the largest batch that fit.

    test_fit.py SITU [NAME...]
"""
import json
import math
import pathlib
import re
import sys

from test_cli import SMALL, main, situ, situ_json
from test_language_models import language_model

import llm_files
import onnx_writer

CELL = 6 * 2 * 4 * 64 * 2  # bytes of a token in the cache: layers, keys and values, heads, numbers, bytes of each


def machine(memory_bytes, count=1):
    """GPUs of that memory without a host, with links among them."""
    gpu = {"name": "gpu", "base": "rtx3090-24g", "memory_bytes": memory_bytes, "count": count}
    links = [{"from": "gpu", "to": "gpu", "kind": "pcie4"}] if count > 1 else []
    pathlib.Path("m.json").write_text(json.dumps({"situ_platform": 1, "name": "m", "devices": [gpu], "links": links}))
    return ["--platform", "m.json", "--steps", "60"]


def fitted(*call, code=0):
    return json.loads(situ("fit", *call, "--json", code=code))


def needs(path, *call):
    """Bytes of a plan on one GPU, with room for everything."""
    return situ_json("place", path, *machine(10**12), *call)["devices"][0]["memory_bytes"]


def test_the_longest_context_is_that_of_the_memory():
    """One GPU with room for 115 blocks of 256 tokens, and for half of the cache of another."""
    path = language_model()
    on = machine(needs(path, "--context", str(256 * 115)) + 128 * CELL)
    found = fitted(path, *on, "--max", "100000")
    assert found["answer"] == 256 * 115 and found["proved"] and not found["limit_reached"], found["answer"]
    assert [row["amount"] for row in found["rows"]] == sorted(row["amount"] for row in found["rows"])
    situ("place", path, *on, "--context", str(found["answer"]))
    situ("place", path, *on, "--context", str(found["answer"] + 256), code=4)
    best = next(row for row in found["rows"] if row["amount"] == found["answer"])
    assert 0.99 < best["fullest_share"] <= 1 and best["layers"] == "gpu 6" and best["decode_tokens_per_second"] > 0
    text = situ("fit", path, *on, "--max", "100000")
    assert "answer  29,440 tokens" in text and "29,696 tokens: proved impossible" in text, text
    assert "among   plans that keep every operator whole" in " ".join(text.split("\n")), text
    # 6 layers of 2 x 4 heads x 64 elements of 2 bytes for each token; 16 bits of an element become 8.5
    cache = 6 * 2 * 4 * 64 * 2 * 256 * 115
    held, = found["memory"]
    assert held["device"] == "gpu" and cache <= held["cache_bytes"] < 1.001 * cache, held
    assert sum(held[part] for part in ("weight_bytes", "cache_bytes", "buffer_bytes")) == round(best["fullest_share"] * held["limit_bytes"]), held
    said = " ".join(text.split())
    assert f"--kv-type q8_0) would free {cache * 7.5 / 16 / 1e6:.1f} MB" in said and "of caches for 1,000 tokens more" in said, said


def test_an_answer_at_the_limit_says_so():
    found = fitted(language_model(), *machine(10**12), "--max", "9000")
    assert found["answer"] == 9000 and found["limit_reached"] and not found["proved"], found
    assert [row["finding"] for row in found["rows"]] == ["fits"] * 3, found["rows"]


def test_the_most_streams_share_the_weights():
    """Each stream has a cache of 1024 tokens; the scratch of a step grows with the streams, so place says what fits."""
    path = language_model()
    on = machine(needs(path, "--context", "1024", "--batch", "5") + 512 * CELL)
    found = fitted(path, *on, "--what", "batch", "--context", "1024")
    assert found["answer"] == 5 and found["quantity"] == "batch", found
    situ("place", path, *on, "--context", "1024", "--batch", "6", code=4)


def test_a_goal_of_speed_limits_the_context():
    """A token takes longer behind a longer context: the answer is the last one that keeps the goal."""
    path, on = language_model(), machine(10**12)
    slow = situ_json("place", path, *on, "--context", "8192")["tokens_per_second"]
    found = fitted(path, *on, "--max", "16384", "--goal", f"tokens/s>={slow * 0.9999}")
    assert found["answer"] == 8192, (found["answer"], slow)
    assert found["rows"][-1]["decode_tokens_per_second"] < slow
    situ("fit", path, *on, "--what", "batch", "--goal", "tokens/s>=5", code=2, err="ask for the time of a step")
    situ("fit", path, *on, "--goal", "tokens", code=2, err="expected one such as")


def test_a_speed_that_misses_the_goal_does_not_look_as_if_it_met_it():
    """A goal just above the speed: both are the same in four digits, so more are printed."""
    path, on = language_model(), machine(10**12)
    speed = situ_json("place", path, *on, "--context", "4096")["tokens_per_second"]
    for factor, word in ((1.0000001, "impossible"), (0.9999999, "fits")):
        text = situ("fit", path, *on, "--max", "4096", "--goal", f"tokens/s>={speed * factor:.17g}")
        row = re.search(rf"4,096 +(?:{word}) +([0-9.,]+)", text)
        assert row, text
        assert (float(row[1].replace(",", "")) >= speed * factor) == (factor < 1), (row[1], speed * factor)


def test_the_largest_batch_of_a_file_is_that_of_its_dimension():
    """One product of N x 1000 and 1000 x 1000 numbers of 4 bytes: weights of 4 MB, and 4 KB of result for each input; inputs of a network
    are in no memory. So 200 inputs need 4.8 MB."""
    node = onnx_writer.node("MatMul", ["x", "w"], ["y"], "product")
    shapes = [onnx_writer.value("x", ["N", 1000])], [onnx_writer.value("y", ["N", 1000])]
    weights = onnx_writer.tensor("w", [1000, 1000], raw=bytes(4 * 1000 * 1000))
    pathlib.Path("m.onnx").write_bytes(onnx_writer.model(onnx_writer.graph([node], *shapes, [weights])))
    found = fitted("m.onnx", *machine(4_800_000), "--what", "batch")
    assert found["answer"] == 200 and found["proved"], found
    assert all(row["inputs_per_second"] * row["value_ns"] / 1e9 - row["amount"] < 1e-6 for row in found["rows"] if "value_ns" in row)
    text = situ("fit", "m.onnx", *machine(4_800_000), "--what", "batch")
    assert "caches" not in text and "memory  gpu: 4.00 MB of weights, 800 KB of buffers" in text, text
    assert "the largest batch (dimension N)" in text and found["dimension"] == "N" and "answer  200 inputs" in text and "201 inputs: proved impossible; memory: " in text, text
    pathlib.Path("m.onnx").write_bytes(onnx_writer.model(onnx_writer.graph(
        [node], [onnx_writer.value("x", [4, 1000])], [onnx_writer.value("y", [4, 1000])], [weights])))
    situ("fit", "m.onnx", *machine(10**9), "--what", "batch", code=2, err="dynamic dimension called batch")


def test_the_largest_batch_of_a_training_step():
    model = "builtin:gpt2?layers=2&hidden=64&heads=2&vocab=100&seq=64"
    call = [model, "--training", *machine(20_000_000)]
    found = fitted(*call, "--what", "batch")
    assert found["answer"] > 1, found
    situ("place", *call, "--batch", str(found["answer"]))
    assert needs(model, "--training", "--batch", str(found["answer"] + 1)) > 20_000_000
    recomputed = fitted(model, "--training", *machine(20_000_000), "--what", "batch", "--recompute", "all")
    assert recomputed["answer"] > found["answer"], (recomputed, found)


def test_what_does_not_fit_at_all_ends_with_4():
    path = language_model()
    found = fitted(path, *machine(1000000), code=4)
    assert found["answer"] is None and found["proved"] and found["rows"][0]["reason"], found
    situ("fit", SMALL, "--platform", "cpu", code=2, err="is no language model with caches")


def test_of_several_files_the_largest_that_fits_is_the_answer():
    """Three quantisations, and a memory that the middle one fills up with a context of 8192 and half a block more."""
    files = {}
    for kind in ("F16", "Q8_0", "Q4_0"):
        llm_files.write(f"m-{kind}.gguf", *llm_files.dense("llama", 6, 512, 8, 4, 1536, 32000, kind=kind, out_kind=kind))
        files[f"m-{kind}.gguf"] = needs(f"m-{kind}.gguf", "--context", "8192")
    small, middle, large = sorted(files, key=files.get)
    on = machine(files[middle] + 128 * CELL)
    found = fitted(large, small, middle, *on, "--context", "8192")
    assert found["answer"] == middle and [row["file"] for row in found["rows"]] == [large, middle, small], found
    assert [row["finding"] for row in found["rows"]] == ["impossible", "fits", "fits"] and found["rows"][1]["amount"] == 8192
    assert [row["weight_bytes"] for row in found["rows"]] == sorted((row["weight_bytes"] for row in found["rows"]), reverse=True)
    shapes = llm_files.dense("llama", 6, 512, 8, 4, 1536, 32000, kind="F16", out_kind="F16")[1]
    assert found["rows"][0]["weight_bytes"] == sum(math.prod(dims) * (2 if kind == 1 else 4) for _, kind, dims in shapes), "no caches"
    longest = fitted(middle, small, *on, "--max", "100000")
    assert longest["answer"] == middle and longest["rows"][0]["amount"] == 8192 < longest["rows"][1]["amount"], longest
    text = situ("fit", small, middle, large, *on, "--context", "8192")
    assert re.search(rf"the largest file for 8,192 tokens\n(.|\n)*answer  {re.escape(middle)}, [0-9.]+ MB of weights", text), text
    assert 0 < fitted(large, *on, "--context", "8192")["answer"] < 8192, "a single file is asked for its longest context"
    assert fitted(large, middle, *machine(1000000), code=4)["answer"] is None
    fast = next(row for row in found["rows"] if row["file"] == small)["decode_tokens_per_second"]
    assert fitted(small, middle, *machine(10**12), "--context", "8192", "--goal", f"tokens/s>={fast * 0.999}")["answer"] == small
    situ("fit", small, "nothing.gguf", *on, code=3, err="nothing.gguf")


def test_a_prompt_has_room_in_every_context():
    """A request of 5000 and 100 tokens starts at the next multiple of 256."""
    path = language_model()
    found = fitted(path, *machine(10**12), "--prompt", "5000", "--generate", "100", "--max", "6000")
    assert [row["amount"] for row in found["rows"]] == [5120, 6000], found["rows"]


if __name__ == "__main__":
    sys.exit(main(globals()))
