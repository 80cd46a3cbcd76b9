#!/usr/bin/env python3
"""threads.py [SITU]: public threads whose author names a machine, a model, a command and a measured speed, a CSV row each.

Each row is one call of `situ judge`. Nothing was fitted to these rows. Models are headers of llm_files.py: the shapes are
those of the models, the mix of types that of the file as far as llm_files.py has it. A host in brackets is not named by
the thread and assumed. Speeds are tokens per second; where a thread gives the length of a prompt it is in the call."""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import llm_files
from llm_files import MODELS, dense, hybrid, moe

QWEN35 = ("qwen35moe", 40, 2048, 16, 2, 248320, 32, 512, 256, 8, 512)
OWN = {
    "qwen3.5-35b-a3b-q4_k_m": hybrid(*QWEN35),
    "qwen3.5-35b-a3b-q8_0": hybrid(*QWEN35, kind="Q8_0", out_kind="Q8_0"),
    "qwen3.5-35b-a3b-iq4_xs": hybrid(*QWEN35, kind="IQ4_XS"),
    "qwen3.5-122b-a10b-q4_k_m": hybrid("qwen35moe", 48, 3072, 32, 2, 248320, 64, 1024, 256, 8, 1024),
    "qwen3.8-27b-q5_k_m": hybrid("qwen35", 64, 5120, 24, 4, 248320, 48, 17408, kind="Q5_K_M"),
    "qwen3.8-27b-f16": hybrid("qwen35", 64, 5120, 24, 4, 248320, 48, 17408, kind="F16", out_kind="F16"),
    "qwen3-coder-30b-a3b-q4_k_m": moe("qwen3moe", 48, 2048, 32, 4, 128, 151936, 128, 8, 768),
    "qwen3-coder-30b-a3b-q4_0": moe("qwen3moe", 48, 2048, 32, 4, 128, 151936, 128, 8, 768, kind="Q4_0"),
    "qwen3-coder-30b-a3b-q8_0": moe("qwen3moe", 48, 2048, 32, 4, 128, 151936, 128, 8, 768, kind="Q8_0", out_kind="Q8_0"),
    "llama-3.2-3b-q4_k_m": dense("llama", 28, 3072, 24, 8, 8192, 128256, head=128, kind="Q4_K_M", out_kind=None, context=131072),
    "tinyllama-1.1b-q4_k_m": dense("llama", 22, 2048, 32, 4, 5632, 32000, kind="Q4_K_M", context=2048),
    "tinyllama-1.1b-f16": dense("llama", 22, 2048, 32, 4, 5632, 32000, kind="F16", out_kind="F16", context=2048),
}
REQUEST = ["--prompt", "512", "--generate", "256"]

# thread, model, machine (host in brackets: assumed), command, further options, measured decoding, measured prefill
THREADS = [
    ("r/LocalLLaMA, micro-batches of gpt-oss", "gpt-oss-120b-mxfp4", "[ryzen-9950x-128g]+rtx3090",
     "llama-bench -ngl 99 --n-cpu-moe 25 -fa 1 -p 4096 -ub 256", [], 33.14, 240.03),
    ("the same", "gpt-oss-120b-mxfp4", "[ryzen-9950x-128g]+rtx3090",
     "llama-bench -ngl 99 --n-cpu-moe 26 -fa 1 -p 4096 -ub 512", [], 32.29, 380.27),
    ("the same", "gpt-oss-120b-mxfp4", "[ryzen-9950x-128g]+rtx3090",
     "llama-bench -ngl 99 --n-cpu-moe 25 -fa 1 -p 4096 -ub 2048", [], 32.96, 1112.54),
    ("the same", "gpt-oss-120b-mxfp4", "[ryzen-9950x-128g]+rtx3090",
     "llama-bench -ngl 99 --n-cpu-moe 26 -fa 1 -p 4096 -b 4096 -ub 4096", [], 32.38, 1682.47),
    ("the same", "gpt-oss-120b-mxfp4", "[ryzen-9950x-128g]+rtx3090",
     "llama-bench -ngl 99 --n-cpu-moe 28 -fa 1 -p 8192 -b 8192 -ub 8192", [], 30.05, 2090.68),
    ("r/LocalLLaMA, 35B-A3B on an RTX 5080", "qwen3.5-35b-a3b-q8_0", "ryzen-9950x-128g+rtx5080",
     "llama-server -c 65536 -ngl 99 -fa on -ctk q8_0 -ctv q8_0 -ot exps=CPU", REQUEST, 35.7, None),
    ("the same", "qwen3.5-35b-a3b-q4_k_m", "ryzen-9950x-128g+rtx5080",
     "llama-server -c 65536 -ngl 99 -fa on -ctk q8_0 -ctv q8_0 -ot exps=CPU", REQUEST, 51.0, None),
    ("the same", "qwen3.5-35b-a3b-q4_k_m", "ryzen-9950x-128g+rtx5080",
     "llama-server -c 65536 -ngl 99 -fa on -ctk q8_0 -ctv q8_0 --n-cpu-moe 24", REQUEST, 69.6, None),
    ("r/LocalLLaMA, 35B-A3B on an RTX 5070 Ti", "qwen3.5-35b-a3b-q4_k_m", "ryzen-9800x3d+rtx5070ti",
     "llama-server -c 131072 -ngl 99 -fa on -ctk q8_0 -ctv q8_0 -np 1 --cpu-moe", REQUEST, 51, None),
    ("the same", "qwen3.5-35b-a3b-q4_k_m", "ryzen-9800x3d+rtx5070ti",
     "llama-server -c 131072 -ngl 99 -fa on -ctk q8_0 -ctv q8_0 -np 1 --n-cpu-moe 20", REQUEST, 79, None),
    ("kenimoto.dev, --cpu-moe on an RTX 4070", "qwen3.5-35b-a3b-q4_k_m", "[i5-12600k]+rtx4070",
     "llama-server -ngl 99 --cpu-moe -c 4096", REQUEST, 34.6, None),
    ("compiledthoughts.dev, 16 GB", "qwen3.5-35b-a3b-iq4_xs", "ryzen-9700x-32g+rtx5060ti-16g",
     "llama-server -ngl 99 --n-cpu-moe 24 -c 32768 -fa on", REQUEST, 40, None),
    ("r/LocalLLaMA, cache of experts", "qwen3.5-122b-a10b-q4_k_m", "ryzen-7950x-96g+rtx4090",
     "llama-server -c 131072 -ctk q8_0 -ctv q8_0 -b 3072 -ub 3072 -ngl 99 -fa on -ot exps=CPU",
     ["--prompt", "2928", "--generate", "300"], 15.65, 526.9),
    ("the same", "qwen3.5-122b-a10b-q4_k_m", "ryzen-7950x-96g+rtx4090",
     "llama-server -c 131072 -ctk q8_0 -ctv q8_0 -b 3072 -ub 3072 -ngl 99 -fa on --n-cpu-moe 40",
     ["--prompt", "2929", "--generate", "300"], 17.87, 585.4),
    ("llama.cpp#12237", "mistral-small-24b-q4_k_m", "ryzen-7900+rtx3060",
     "llama-server -ngl 30 -fa -c 2048 -ctk q4_0 -ctv q4_0 -t 12", ["--prompt", "971", "--generate", "19"], 17.66, 111.17),
    ("the same, by Ollama", "mistral-small-24b-q4_k_m", "ryzen-7900+rtx3060", "llama-server -ngl 30 -fa on -c 2048",
     ["--prompt", "1119", "--generate", "9"], 10.63, 512.13),
    ("bench-test-results, gpt-oss over two", "gpt-oss-120b-mxfp4", "[i7-8700]+rtx4090+rtx5070ti",
     "llama-server -c 10240 -ctk q8_0 -ctv q8_0 -b 512 -ub 512 -ngl 99 "
     "-ot blk.(13|14|15|16|17).*exps=CUDA1,blk.([0-9]|1[0-2])[.].*exps=CUDA0,exps=CPU", REQUEST, 22, None),
    ("ai-maestro, RTX 3060 and 4070 Super", "qwen3.8-27b-q4_k_m", "[cpu]+rtx3060+rtx4070super",
     "llama-bench -ngl 99 -b 128 -ub 128 -ctk q8_0 -ctv q8_0 -fa 1 -p 128 -n 32", [], 21.22, 582.6),
    ("llama.cpp#25051, split by layer", "qwen3.8-27b-q4_k_m", "[cpu]+2*rx7900xtx",
     "llama-bench -sm layer -fa 1 -p 512 -n 128", [], 34.5, 809),
    ("the same, by tensor", "qwen3.8-27b-q4_k_m", "[cpu]+2*rx7900xtx",
     "llama-bench -sm tensor -fa 1 -p 512 -n 128", [], 41.57, 1283.4),
    ("qwen38-mtp#24, split by layer", "qwen3.8-27b-q4_k_m", "[cpu]+2*rtx5060ti-16g", "llama-server -sm layer -c 8192 -np 1",
     REQUEST, 22.1, None),
    ("the same, by tensor", "qwen3.8-27b-q4_k_m", "[cpu]+2*rtx5060ti-16g", "llama-server -sm tensor -c 8192 -np 1", REQUEST,
     37.1, None),
    ("qwen38-mtp#32, by tensor", "qwen3.8-27b-q4_k_m", "[cpu]+2*rtx5060ti-16g",
     "llama-server -sm tensor -c 131072 -ctk q4_0 -ctv q4_0 -np 1", REQUEST, 38.3, None),
    ("qwen38-mtp#16", "qwen3.8-27b-q4_k_m", "[cpu]+3*rtx3060",
     "llama-server -sm layer -ts 35,37,28 -c 262144 -ctk q8_0 -ctv q8_0 -np 1", ["--prompt", "16384", "--generate", "512"],
     17.3, None),
    ("qwen38-mtp#29, by tensor", "qwen3.8-27b-q5_k_m", "[cpu]+2*p40", "llama-server -sm tensor -ts 1,1 -c 131072 -ctk q4_0 -ctv q4_0 -np 1",
     ["--prompt", "20000", "--generate", "256"], 11.7, 354),
    ("llama.cpp#6829, this machine", "tinyllama-1.1b-f16", "[cpu]+gtx1650", "llama-cli -ngl 99 -fa -c 2048",
     ["--prompt", "8", "--generate", "64"], 63, None),
    ("the same, over RPC", "tinyllama-1.1b-f16", "([cpu]+gtx1650)+(ryzen-5900x+gtx1660)@ethernet-1g",
     "llama-cli -ngl 99 -fa -c 2048 --rpc 192.168.88.2:50052 -dev RPC0", ["--prompt", "8", "--generate", "64"], 42, None),
    ("fromthematrix.dev, Strix Halo", "gpt-oss-120b-mxfp4", "ryzen-ai-max-395+radeon8060s", "llama-server -ngl 99 -c 16384 -np 1",
     ["--prompt", "7624", "--generate", "500"], 52, 404),
    ("the same", "qwen3-coder-30b-a3b-q4_k_m", "ryzen-ai-max-395+radeon8060s", "llama-server -ngl 99 -c 16384 -np 1",
     ["--prompt", "7624", "--generate", "500"], 66, 779),
    ("the same", "qwen3.5-35b-a3b-q4_k_m", "ryzen-ai-max-395+radeon8060s", "llama-server -ngl 99 -c 16384 -np 1",
     ["--prompt", "7624", "--generate", "500"], 39, 667),
    ("the same", "mistral-small-24b-q4_k_m", "ryzen-ai-max-395+radeon8060s", "llama-server -ngl 99 -c 16384 -np 1",
     ["--prompt", "7624", "--generate", "500"], 14, 281),
    ("dmatora#12, RTX 3080", "llama-3-8b-q4_k_m", "[cpu]+rtx3080-10g", "llama-bench -ngl 99", [], 111.95, 3806.9),
    ("geerlingguy/ai-benchmarks#48, M1 Ultra", "llama-3.2-3b-q4_k_m", "m1-ultra-128g", "llama-bench -ngl 99", [], None, 2142.6),
    ("the same", "tinyllama-1.1b-q4_k_m", "m1-ultra-128g", "llama-bench -ngl 99", [], 242.56, 5587.8),
    ("raspberry-pi-pcie-devices#766, RX 9070 XT", "llama-3.2-3b-q4_k_m", "rpi5+rx9070xt@pcie3x1", "llama-bench -ngl 99", [], 76.49,
     1967.3),
    ("dev.to, 70B on two RTX 3090 (18 to 22)", "llama-3-70b-q4_k_m", "[cpu]+2*rtx3090", "llama-server -ngl 99 -c 8192 -np 1", REQUEST, 20,
     None),
    ("kubis.ai, one DGX Spark", "gpt-oss-120b-mxfp4", "dgxspark", "llama-bench -ngl 99 -fa 1 -p 1024 -n 128", [], 57.5, None),
    ("llama.cpp#27334, four RX 580", "qwen3.5-35b-a3b-q4_k_m", "[xeon-e5-2620v3]+4*rx580-8g",
     "llama-server -ngl 99 -c 8192 -np 1", REQUEST, 33, 200),
    ("r/LocalLLaMA, vLLM on an RTX 5090: runs", "qwen3-coder-30b-a3b-q4_0", "[cpu]+rtx5090",
     "vllm serve m --max-model-len 122880 --gpu-memory-utilization 0.92", [], None, None),
    ("the same: out of memory", "qwen3-coder-30b-a3b-q4_0", "[cpu]+rtx5090",
     "vllm serve m --max-model-len 131072 --gpu-memory-utilization 0.92", [], None, None),
    ("vllm#34076: at most 34,736 tokens", "qwen3-coder-30b-a3b-q8_0", "[cpu]+rtx5070ti+rtx5090d",
     "VLLM_PP_LAYER_PARTITION=16,32 vllm serve m --gpu-memory-utilization 0.9 --pipeline-parallel-size 2 --max-model-len 34736", [], None,
     None),
    ("the same: out of memory", "qwen3-coder-30b-a3b-q8_0", "[cpu]+rtx5070ti+rtx5090d",
     "VLLM_PP_LAYER_PARTITION=16,32 vllm serve m --gpu-memory-utilization 0.9 --pipeline-parallel-size 2 --max-model-len 262144", [], None,
     None),
    ("club-5060ti#6", "qwen3.8-27b-f16", "i7-8700+4*rtx5060ti-16g+rtx2070", "llama-server -ngl 99 -c 102400 -np 1", REQUEST, None,
     None),
]


def number(value):
    return f"{value:.4g}" if value else ""


def main():
    situ = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/situ").resolve()
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["thread", "model", "machine", "command", "measured", "predicted", "off", "prefill measured",
                  "prefill predicted", "prefill off", "fullest memory, or why it does not run", "best plan"])
    folder = pathlib.Path(tempfile.mkdtemp())
    for name in sorted({row[1] for row in THREADS}):
        llm_files.write(str(folder / f"{name}.gguf"), *(OWN.get(name) or MODELS[name]))
    for thread, model, machine, command, options, decode, prefill in THREADS:
        call = [situ, "judge", command, f"{folder}/{model}.gguf", "--platform", machine.replace("[", "").replace("]", ""), *options,
                "--steps", "60", "--json"]
        done = subprocess.run(call, capture_output=True, text=True)
        try:
            given, best = json.loads(done.stdout)["rows"]
        except ValueError:
            given, best = {"reason": done.stderr.strip().splitlines()[0]}, {}
        found = [given.get(key) for key in ("decode_tokens_per_second", "prefill_tokens_per_second")]
        off = [f"{100 * (f / m - 1):+.0f} %" if f and m else "" for f, m in zip(found, (decode, prefill))]
        full = f"{100 * given['fullest_share']:.0f} %" if given.get("fullest_share") else given.get("reason") or ""
        out.writerow([thread, model, machine, command, number(decode), number(found[0]), off[0], number(prefill), number(found[1]),
                      off[1], full, number(best.get("decode_tokens_per_second"))])
        sys.stdout.flush()
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()


if __name__ == "__main__":
    main()
