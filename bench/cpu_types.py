#!/usr/bin/env python3
"""llama.cpp's speed on this CPU by type of weights and of caches, beside what situ predicts.

    python3 bench/cpu_types.py SITU LLAMACPP [--before SITU] [--library FOLDER] [--peak-gflops G] [-o ROWS.csv]

LLAMACPP is the folder with llama-bench, --library one with a ggml of other instruction sets. Models have random weights, ten layers
or eight; src/cost/cpu_rates.c was fitted to others of two layers, on one thread. Where chrt is allowed, nothing else disturbs.
The predictions are for the machine as `this-host` describes it, or with that peak of each core: the committed rows are of a machine
that measures its bandwidth differently whenever other work runs, so they have --peak-gflops 240."""
import argparse
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(ROOT / "bench"), str(ROOT / "tests/cli")]
import gguf_models
import llm_files

BYTES_PER_S = 25e9  # of a core, where --peak-gflops describes the machine
THREADS = 2
CACHES = ("f16", "q8_0", "q4_0")


def experts(kind, n, used, layers, hidden, ff):
    keys, t = llm_files.moe("qwen3moe", layers, hidden, 8, 4, 128, 1024, n, used, ff, kind=kind, out_kind=kind)
    keys["qwen3moe.expert_feed_forward_length"], keys["qwen3moe.feed_forward_length"] = ff, 2 * ff
    return keys, gguf_models.with_norms(layers, 128, t)


MODELS = {"dense": lambda kind: gguf_models.llama(10, 1024, 16, 4, 2816, 4096, kind=kind, head=64),
          "experts": lambda kind: experts(kind, 16, 4, 8, 768, 512)}


def measure(program, path, threads, library, prompt, generate, depth=0, cache="f16"):
    """Microseconds per token of a test, the shortest of three."""
    words = [program, "-m", path, "-p", str(prompt), "-n", str(generate), "-d", str(depth), "-t", str(threads), "-r", "3", "-fa",
             "on", "-dev", "none", "-ctk", cache, "-ctv", cache, "-o", "jsonl"]
    if subprocess.run(["chrt", "-r", "1", "true"], capture_output=True).returncode == 0:
        words = ["chrt", "-r", "1", *words]
    env = {**os.environ, **({"LD_LIBRARY_PATH": library} if library else {})}
    done = subprocess.run(words, capture_output=True, text=True, env=env)
    row = next((json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")), None)
    if not row:
        raise SystemExit(f"llama-bench gave no times: {done.stderr[-500:]}")
    return min(row["samples_ns"]) / (prompt or generate) / 1e3


def predict(situ, path, platform, options):
    words = [situ, "place", path, "--platform", platform, "--json", "--steps", "1", *options]
    if platform == "this-host":
        words = ["taskset", "-c", f"0-{THREADS - 1}", *words]
    return 1e6 / json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)["tokens_per_second"]


def described(folder, gflops, with_family):
    """A platform of THREADS cores with that peak each; from 200 on they have AVX-512 and VNNI. Older situ know no such family."""
    device = {"name": "cpu", "class": "cpu", "host": True, "memory_bytes": 24 << 30, "memory_bytes_per_s": THREADS * BYTES_PER_S,
              "launch_ns": 1000, "peak_flops": {"f32": THREADS * gflops * 1e9, "f64": THREADS * gflops * 5e8}}
    if gflops >= 200:
        device["peak_flops"]["i8"] = 4 * device["peak_flops"]["f32"]
        device.update({"family": "cpu-avx512"} if with_family else {})
    path = f"{folder}/platform{with_family}.json"
    pathlib.Path(path).write_text(json.dumps({"situ_platform": 1, "name": "cpu", "links": [], "devices": [device]}))
    return path


def cases():
    """Model, type, phase, tokens before it, cache."""
    for model in MODELS:
        for kind in llm_files.TYPES:
            yield from ((model, kind, phase, 0, "f16") for phase in ("decode", "prefill"))
    for cache in CACHES:
        yield "dense", "Q4_0", "decode", 2048, cache


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("situ")
    ask.add_argument("llamacpp")
    ask.add_argument("--before")
    ask.add_argument("--library")
    ask.add_argument("--peak-gflops", type=float)
    ask.add_argument("-o", default="/dev/stdout")
    o = ask.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path, there = f"{folder}/m.gguf", None
        for model, kind, phase, depth, cache in cases():
            if there != (model, kind):
                gguf_models.write(path, *MODELS[model](kind))
                there = (model, kind)
            prompt, generate = (0, 24) if phase == "decode" else (128, 0)
            options = (["--prompt", "128"] if prompt else ["--generate", "24"]) + ["--kv-type", cache]
            measured = measure(f"{o.llamacpp}/llama-bench", path, THREADS, o.library, prompt, generate, depth, cache)
            if depth:
                options = ["--prompt", str(depth), *options]
            row = {"model": model, "type": kind, "phase": phase, "after": depth, "cache": cache, "measured_us": round(measured, 1)}
            for name, situ in (("predicted_us", o.situ), ("before_us", o.before)):
                platform = described(folder, o.peak_gflops, situ == o.situ) if o.peak_gflops else "this-host"
                row[name] = round(predict(situ, path, platform, options), 1) if situ else ""
            rows.append(row)
            print(*row.values(), file=sys.stderr)
    for phase in ("decode", "prefill"):
        for name in ("predicted_us", "before_us"):
            errors = [abs(r[name] / r["measured_us"] - 1) for r in rows if r["phase"] == phase and r[name]]
            if errors:
                print(f"{phase} {name}: median {statistics.median(errors):.0%}, at most {max(errors):.0%}", file=sys.stderr)
    with open(o.o, "w", newline="") as f:
        out = csv.DictWriter(f, list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


if __name__ == "__main__":
    main()
