#!/usr/bin/env python3
"""llama.cpp on one GPU and its host: predicted and measured speeds of splits, with and without a calibration, and memory.

    engine.py OUT_FOLDER SITU_FOLDER LLAMACPP_BIN [--seconds 150] [--small]

Models have random weights and the shapes of known ones. The platform is what `situ platform this-host` finds."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import gguf_models
import llm_files
from common import scratch

HEAD = ["model", "flags", "phase", "predicted", "calibrated", "measured", "situ_mib", "engine_mib"]
PROMPT, GENERATE = 512, 32


def experts(layers, kind):
    keys, t = llm_files.moe("qwen3moe", layers, 2048, 32, 4, 128, 32768, 128, 8, 768, kind=kind, out_kind=kind)
    keys.update({"qwen3moe.expert_feed_forward_length": 768, "qwen3moe.feed_forward_length": 6144})
    return keys, gguf_models.with_norms(layers, 128, t)


def dense(layers, kind):
    return gguf_models.llama(layers, 4096, 32, 8, 14336, 32768, kind=kind, head=128)


# Of a model the splits; "-ngl 99" is all of it on the GPU.
CASES = {"8B Q4_0": (lambda k: dense(32 // k, "Q4_0"), ["-ngl 99", "-ngl 24", "-ngl 16", "-ngl 8", "-ngl 0"]),
         "30B-A3B Q4_0, 12 layers": (lambda k: experts(12 // k, "Q4_0"), ["-ngl 99", "-ngl 99 -ncmoe 4", "-ngl 99 -ncmoe 8", "-ngl 99 -ncmoe 12"]),
         "8B Q8_0, 8 layers": (lambda k: dense(8 // k, "Q8_0"), ["-ngl 99", "-ngl 4", "-ngl 0", "-dev none -ngl 0", "-dev none -ngl 0 -t 8"]),
         "8B F16, 8 layers": (lambda k: dense(8 // k, "F16"), ["-ngl 99", "-ngl 4"]),
         "8B Q6_K, 8 layers": (lambda k: dense(8 // k, "Q6_K"), ["-ngl 99"])}


class Rig:
    def __init__(self, o, folder):
        self.o, self.folder, self.until = o, folder, time.monotonic() + o.seconds
        self.log = (o.out / "engine.log").open("a")
        self.rig = str(o.out / "rig.json")
        self.situ("platform", "this-host", "-o", self.rig)

    def run(self, words):
        begin = time.monotonic()
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "SITU_LLAMACPP": str(self.o.bin), "LD_LIBRARY_PATH": f"{self.o.bin}:{self.o.situ}/lib:{os.environ.get('LD_LIBRARY_PATH', '')}"})
        self.log.write(f"$ {' '.join(map(str, words))}  [{done.returncode}, {time.monotonic() - begin:.1f} s]\n{done.stdout}{done.stderr[-3000:]}\n")
        self.log.flush()
        return done.stdout

    def situ(self, *words):
        return self.run([self.o.situ / "situ", *words])

    def bench(self, model, flags):
        text = self.run([self.o.bin / "llama-bench", "-m", model, *flags.split(), "-p", PROMPT, "-n", GENERATE, "-r", "2", "-fa", "on", "-o", "jsonl"])
        rows = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        return {"prefill" if r["n_prompt"] else "decode": r["avg_ts"] for r in rows}

    def judged(self, model, flags, tables=()):
        text = self.situ("judge", f"llama-server -m {model} {flags} -c {PROMPT + GENERATE} -np 1 -fa on", "--platform", self.rig, "--prompt", PROMPT,
                         "--generate", GENERATE, "--steps", "50", "--json", *(x for t in tables for x in ("--cost-table", t)))
        row = json.loads(text)["rows"][0] if text.startswith("{") else {}
        return {phase: row.get(f"{phase}_tokens_per_second") for phase in ("prefill", "decode")}, row

    def profiles(self, model):
        made = []
        for name, where in (("cpu", []), ("gpu0", ["--device", "CUDA0"])):
            table = str(self.o.out / f"{name}.json")
            pathlib.Path(table).unlink(missing_ok=True)
            self.situ("profile", model, "--prompt", PROMPT, "--generate", GENERATE, "--items", "3", *where, "-o", table)
            made += [table] if os.path.exists(table) else []
        return made

    def memory(self, model, flags):
        """What llama.cpp says that each device takes."""
        return self.run([self.o.bin / "llama-fit-params", "-m", model, *flags.split(), "-c", PROMPT + GENERATE, "-np", "1", "-fa", "on", "-fitp", "on"])


def measure(rig, out, name, build, splits):
    model = rig.folder / "m.gguf"
    keys, tensors = build(4 if rig.o.small else 1)
    gguf_models.write(model, keys, tensors)
    tables = rig.profiles(model)
    for flags in splits:
        if time.monotonic() > rig.until:
            return
        got, (guess, row), (fitted, calibrated) = rig.bench(model, flags), rig.judged(model, flags), rig.judged(model, flags, tables)
        out.write(json.dumps({"model": name, "flags": flags, "measured": got, "predicted": guess, "calibrated": fitted, "row": row, "calibrated_row": calibrated,
                              "memory": rig.memory(model, flags).splitlines()[-6:]}) + "\n")
        out.flush()
        print(name, flags, got, guess, fitted, sep="\t", flush=True)


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("out", type=pathlib.Path)
    ask.add_argument("situ", type=pathlib.Path)
    ask.add_argument("bin", type=pathlib.Path)
    ask.add_argument("--seconds", type=float, default=150)
    ask.add_argument("--models", help="only those whose name has one of these words")
    ask.add_argument("--small", action="store_true")
    o = ask.parse_args()
    with tempfile.TemporaryDirectory(dir=scratch()) as folder, (o.out / "engine.jsonl").open("w") as out:
        rig = Rig(o, pathlib.Path(folder))
        for name, (build, splits) in CASES.items():
            if time.monotonic() < rig.until and (not o.models or any(word in name for word in o.models.split(","))):
                try:
                    measure(rig, out, name, build, splits)
                except (subprocess.SubprocessError, OSError, ValueError, KeyError) as error:
                    print(name, repr(error)[:400], file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
