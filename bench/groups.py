#!/usr/bin/env python3
"""Whole operators against operators split over groups of devices: the best plan of each size of groups, its bound, and flags of
engines, as CSV.

    groups.py SITU groups.csv
"""
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from llm_files import dense, moe, write

MODELS = {"Llama 3 8B, F16": dense("llama", 32, 4096, 32, 8, 14336, 128256, kind="F16", out_kind="F16"),
          "Llama 2 13B, F16": dense("llama", 40, 5120, 40, 40, 13824, 32000, kind="F16", out_kind="F16"),
          "Llama 3 70B, F16": dense("llama", 80, 8192, 64, 8, 28672, 128256, kind="F16", out_kind="F16"),
          "Llama 3 70B, Q4_K_M": dense("llama", 80, 8192, 64, 8, 28672, 128256, kind="Q4_K_M"),
          "Qwen3 30B A3B, Q4_K_M": moe("qwen3moe", 48, 2048, 32, 4, 128, 151936, 128, 8, 768)}
CASES = [("Llama 3 8B, F16", "cpu+2*rtx4090-24g"), ("Llama 3 8B, F16", "cpu+4*a100-80g@nvlink"), ("Llama 2 13B, F16", "cpu+2*rtx3090-24g"),
         ("Llama 3 70B, F16", "cpu+8*h100-80g@nvlink"), ("Llama 3 70B, F16", "2*(cpu+4*h100-80g@nvlink)"),
         ("Llama 3 70B, Q4_K_M", "cpu+2*rtx3090-24g"), ("Llama 3 70B, Q4_K_M", "cpu+2*rtx3090-24g@nvlink-bridge"),
         ("Llama 3 70B, Q4_K_M", "cpu+2*rtx4090-24g+2*rtx3090-24g"), ("Qwen3 30B A3B, Q4_K_M", "cpu+2*rtx3090-24g"),
         ("Qwen3 30B A3B, Q4_K_M", "cpu+4*a100-80g@nvlink")]
COLUMNS = ["model", "platform", "size", "token_ns", "bound_ns", "tokens_per_s", "best_ns", "best_bound_ns", "llama.cpp", "vllm"]


def place(situ, path, platform, *options):
    done = subprocess.run([situ, "place", path, "--platform", platform, "--json", "--steps", "3000", *options], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def flags(situ, folder, path, platform, size, writer):
    """What the writer says of the best plan of its form with groups of that size; "" where it takes none."""
    out = pathlib.Path(folder) / "flags.txt"
    out.unlink(missing_ok=True)
    place(situ, path, platform, "--tensor-parallel", str(size), "--write", f"{writer}={out}")
    lines = [line for line in out.read_text().splitlines() if line[:1] != "#"] if out.exists() else []
    return " ".join(lines)


def main():
    situ, table = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder, open(table, "w", newline="") as f:
        rows = csv.DictWriter(f, COLUMNS, lineterminator="\n")
        rows.writeheader()
        for model, platform in CASES:
            path = f"{folder}/{re.sub('[^a-z0-9]+', '-', model.lower())}.gguf"
            write(path, *MODELS[model])
            found, size = {}, 1
            while (plan := place(situ, path, platform, "--tensor-parallel", str(size))) is not None:
                found[size] = plan
                size *= 2
            best = min((k for k in found if found[k]["value_ns"]), key=lambda k: found[k]["value_ns"])
            for k, plan in found.items():
                engines = {w: flags(situ, folder, path, platform, k, w) for w in ("llama.cpp", "vllm")} if k == best else {}
                rows.writerow({"model": model, "platform": platform, "size": k, "token_ns": plan["value_ns"],
                               "bound_ns": plan["lower_bound_ns"], "tokens_per_s": round(plan["tokens_per_second"]["decode"], 2)
                               if isinstance(plan["tokens_per_second"], dict) else round(plan["tokens_per_second"], 2),
                               "best_ns": found[best]["value_ns"], "best_bound_ns": min(p["lower_bound_ns"] for p in found.values()),
                               **engines})
                f.flush()


if __name__ == "__main__":
    main()
