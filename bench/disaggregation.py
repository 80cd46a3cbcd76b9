#!/usr/bin/env python3
"""Where prompts on some devices and decoding on others win: `situ pareto --disaggregate` on unlike and on equal devices.

    python3 bench/disaggregation.py SITU > bench/disaggregation.csv

Times of both copies are those of llama.cpp's rates; 10 Gbit/s Ethernet or PCI Express between the devices."""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from llm_files import write
from parallel import HEADS, SHAPES

MODELS = {"Llama 3 8B, F16": ("llama-3-8b", "F16"), "Llama 3 70B, Q4_K_M": ("llama-3-70b", "Q4_K_M"),
          "Qwen3 30B A3B, Q4_K_M": ("qwen3-30b-a3b", "Q4_K_M")}
ROWS = (("Llama 3 8B, F16", "gb10-128g+m3-ultra@ethernet-10g", 8192, 32), ("Llama 3 8B, F16", "gb10-128g+m3-ultra@ethernet-10g", 8192, 256),
        ("Llama 3 8B, F16", "rtx4090-24g+m3-ultra@ethernet-10g", 8192, 256), ("Llama 3 8B, F16", "rtx5090-32g+a100-80g", 4096, 256),
        ("Llama 3 8B, F16", "4*rtx4090-24g", 4096, 256), ("Llama 3 70B, Q4_K_M", "gb10-128g+m3-ultra@ethernet-10g", 4096, 256),
        ("Llama 3 70B, Q4_K_M", "2*rtx5090-32g+m3-ultra@ethernet-10g", 4096, 256), ("Llama 3 70B, Q4_K_M", "8*h100-80g@nvlink", 4096, 256),
        ("Qwen3 30B A3B, Q4_K_M", "gb10-128g+m3-ultra@ethernet-10g", 8192, 256), ("Qwen3 30B A3B, Q4_K_M", "rtx4090-24g+rtx3090-24g", 4096, 256))


def ask(situ, path, platform, prompt, generate):
    done = subprocess.run([situ, "pareto", path, "--platform", platform, "--prompt", str(prompt), "--generate", str(generate), "--streams", "16",
                           "--disaggregate", "--granularity", "layer", "--time-limit", "0.1", "--json"], capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout.startswith("{") else sys.exit(done.stderr)


def main():
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["model", "platform", "prompt", "generate", "together requests/s", "apart requests/s", "gain", "at most", "prompts on", "streams",
                  "caches GB", "transfer s", "together request s", "apart request s"])
    with tempfile.TemporaryDirectory() as folder:
        for model, platform, prompt, generate in ROWS:
            shape, kind = MODELS[model]
            path = pathlib.Path(f"{folder}/{shape}-{kind}.gguf")
            if not path.exists():
                write(path, *SHAPES[shape](kind, HEADS.get(kind, "Q6_K")))
            found = ask(sys.argv[1], str(path), platform, prompt, generate)
            best = max(found["rows"], key=lambda row: row["requests_per_second"])
            first = min(found["rows"], key=lambda row: row["request_ns"])
            together, alone = found["together_requests_per_second"] or 0, found["together_request_ns"]
            bound = found["max_requests_per_second"]
            out.writerow([model, platform, prompt, generate, f"{together:.4g}", f"{best['requests_per_second']:.4g}",
                          f"{best['requests_per_second'] / together:.2f}" if together else "", f"{bound:.4g}" if bound else "", best["prefill_devices"],
                          best["streams"], f"{best['transfer_bytes'] / 1e9:.2f}", f"{best['transfer_ns'] / 1e9:.3f}",
                          f"{alone / 1e9:.3f}" if alone else "", f"{first['request_ns'] / 1e9:.3f}"])
            sys.stdout.flush()


if __name__ == "__main__":
    main()
