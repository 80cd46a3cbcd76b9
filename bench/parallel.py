#!/usr/bin/env python3
"""Predicted against published speeds of language models on groups of GPUs (tensor splits), on splits by layer and on one device.

    python3 bench/parallel.py SITU published_parallel.csv [-o ROWS.csv] [--no-overlap]

Rows are taken whose model has a shape in SHAPES, whose GPUs are in the catalogue and in one server, and whose setting situ
can express; the others are counted by reason. A tensor split is the plan with everything on the one group of all GPUs, a
split by layer that of llama.cpp's own rule; with --no-overlap its micro-batches wait for each other in prefill.
docs/results/parallel.md says what was fitted to which rows."""
import collections
import csv
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from llm_files import TYPES, dense, gpt_oss, hybrid, llama2_7b, llama3, moe, write


def gemma3(layers, hidden, heads, kv, head, ff, kind):
    """The head has the weights of the embedding, which stay in 16 bits where others have 4."""
    keys, tensors = dense("gemma3", layers, hidden, heads, kv, ff, 262144, head=head, kind=kind, out_kind=None, context=131072)
    return keys, [(name, TYPES["F16"][0] if name == "token_embd.weight" else t, dims) for name, t, dims in tensors]


# Shape: (a type of weights, the type of the head) -> header.
SHAPES = {
    "llama-1b": lambda k, o: dense("llama", 16, 2048, 32, 8, 8192, 128256, kind=k, out_kind=None, context=131072),
    "llama-2-7b": llama2_7b,
    "llama-2-13b": lambda k, o: dense("llama", 40, 5120, 40, 40, 13824, 32000, kind=k, out_kind=o),
    "llama-2-70b": lambda k, o: dense("llama", 80, 8192, 64, 8, 28672, 32000, kind=k, out_kind=o, context=32768),
    "codellama-34b": lambda k, o: dense("llama", 48, 8192, 64, 8, 22016, 32000, kind=k, out_kind=o, context=16384),
    "llama-3-8b": lambda k, o: llama3(32, 4096, 32, 14336, k, o),
    "llama-3-70b": lambda k, o: llama3(80, 8192, 64, 28672, k, o),
    "qwen2-7b": lambda k, o: dense("qwen2", 28, 3584, 28, 4, 18944, 152064, head=128, kind=k, out_kind=o, context=32768),
    "qwen2.5-32b": lambda k, o: dense("qwen2", 64, 5120, 40, 8, 27648, 152064, head=128, kind=k, out_kind=o, context=32768),
    "qwen2-72b": lambda k, o: dense("qwen2", 80, 8192, 64, 8, 29568, 152064, kind=k, out_kind=o, context=32768),
    "seed-oss-36b": lambda k, o: dense("qwen2", 64, 5120, 80, 8, 27648, 155136, head=128, kind=k, out_kind=o, context=131072),
    "qwen3-30b-a3b": lambda k, o: moe("qwen3moe", 48, 2048, 32, 4, 128, 151936, 128, 8, 768, kind=k, out_kind=o),
    "qwen3-235b-a22b": lambda k, o: moe("qwen3moe", 94, 4096, 64, 4, 128, 151936, 128, 8, 1536, kind=k, out_kind=o),
    # Its one dense block has the width that the others use of their experts; these stand for it.
    "ernie-21b-a3b": lambda k, o: moe("qwen3moe", 28, 2560, 20, 4, 128, 103424, 64, 6, 1536, kind=k, out_kind=o, shared=3072),
    "hunyuan-a13b": lambda k, o: moe("qwen3moe", 32, 4096, 32, 8, 128, 128256, 64, 8, 3072, kind=k, out_kind=o, shared=3072),
    "gpt-oss-20b": lambda k, o: gpt_oss(24, 32),
    "gpt-oss-120b": lambda k, o: gpt_oss(36, 128),
    # Qwen3.6 and Qwen3.8 27B are assumed to have the shape of Qwen3.5 27B, as in llm_published.py.
    "qwen3.5-27b": lambda k, o: hybrid("qwen35", 64, 5120, 24, 4, 248320, 48, 17408, kind=k, out_kind=o),
    "qwen3.5-9b": lambda k, o: hybrid("qwen35", 32, 4096, 16, 4, 248320, 32, 12288, kind=k, out_kind=o),
    "qwen3.5-0.8b": lambda k, o: hybrid("qwen35", 24, 1024, 8, 2, 248320, 16, 3584, kind=k, out_kind=None),
    "qwen3.5-35b-a3b": lambda k, o: hybrid("qwen35moe", 40, 2048, 16, 2, 248320, 32, 512, 256, 8, 512, kind=k, out_kind=o),
    "gemma3-4b": lambda k, o: gemma3(34, 2560, 8, 4, 256, 10240, k),
    "gemma3-12b": lambda k, o: gemma3(48, 3840, 16, 8, 256, 15360, k),
    "gemma3-27b": lambda k, o: gemma3(62, 5376, 32, 16, 128, 21504, k),
}
NAMES = {"llama-1B": "llama-1b", "llama-7B": "llama-2-7b", "Llama-7B": "llama-2-7b", "Llama-2-7B": "llama-2-7b",
         "Llama-2-13B": "llama-2-13b", "Llama-2-70B": "llama-2-70b", "Dusk-Miqu-70B": "llama-2-70b", "CodeLlama-34B": "codellama-34b",
         "Llama-3-8B": "llama-3-8b", "Llama-3.1-8B": "llama-3-8b", "Llama-70B": "llama-3-70b", "Llama-3-70B": "llama-3-70b",
         "Llama-3.1-70B": "llama-3-70b", "Llama-3.3-70B": "llama-3-70b", "Qwen2-7B": "qwen2-7b", "Qwen2.5-32B": "qwen2.5-32b",
         "QwQ-32B": "qwen2.5-32b", "Qwen2-72B": "qwen2-72b", "Seed-OSS-36B": "seed-oss-36b", "Qwen3-30B-A3B": "qwen3-30b-a3b",
         "Qwen3-235B-A22B": "qwen3-235b-a22b", "Ernie-4.5-21B-A3B": "ernie-21b-a3b", "Hunyuan-A13B-80B": "hunyuan-a13b",
         "gpt-oss-20b": "gpt-oss-20b", "gpt-oss-120b": "gpt-oss-120b", "Qwen3.5-27B": "qwen3.5-27b", "Qwen3.6-27B": "qwen3.5-27b",
         "Qwen3.8-27B": "qwen3.5-27b", "Qwen3.5-9B": "qwen3.5-9b", "Qwen3.5-0.8B": "qwen3.5-0.8b",
         "Qwen3.5-35B-A3B": "qwen3.5-35b-a3b", "Qwen3.6-35B-A3B": "qwen3.5-35b-a3b", "gemma3-4B": "gemma3-4b",
         "gemma3-12B": "gemma3-12b", "gemma3-27B": "gemma3-27b"}
# Published types of weights -> (the type here, the type of the head). All but those of llama.cpp are stand-ins of nearly
# equal size; NVFP4 only in decoding, which is bound by bytes. vLLM loads what has no stated type in 16 bits.
QUANTS = {"FP16": "F16", "BF16": "F16", "F16": "F16", "Q8_0": "Q8_0", "FP8": "Q8_0", "8-bit": "Q8_0", "8b": "Q8_0", "Q4_0": "Q4_0",
          "4-bit": "Q4_0", "4b": "Q4_0", "4.5bpw": "Q4_0", "W4A16": "Q4_0", "AutoRound INT4": "Q4_0", "NVFP4": "Q4_0",
          "Q4_K_M": "Q4_K_M", "UD-Q4_K_M": "Q4_K_M", "Q4_K_XL": "Q4_K_M", "UD-Q4_K_XL": "Q4_K_M", "Q5_K_M": "Q5_K_M",
          "Q5_K_XL": "Q5_K_M", "UD-Q5_K_XL": "Q5_K_M", "IQ4_XS": "IQ4_XS", "MXFP4": "MXFP4"}
HEADS = {"F16": "F16", "Q8_0": "Q8_0"}
# An A10G has the bandwidth of an A10, which bounds its decoding.
DEVICES = {"a10g-24g": "a10-24g", "a100sxm-80g": "a100-80g", "a100pcie-80g": "a100-80g-pcie", "h100sxm-80g": "h100-80g",
           "rtxa6000-48g": "a6000-48g", "v100sxm2-32g": "v100-32g", "m3ultra": "m3-ultra 512GB", "m3ultra-512g": "m3-ultra 512GB",
           "arcprob70-32g": "b70-32g"}
# Links between GPUs of one server: class of the table, and what the term of the platform gets ("@..."), or the generation of
# PCI Express and its rate in GB/s (80 % of the standard's) where it has less than 16 lanes.
LINKS = {"nvlink": ("NVLink", "@nvlink"), "pcie-p2p": ("PCIe, peer access", "@pcie4-p2p"), "pcie4": ("PCIe over the host", "@pcie4"),
         "pcie5": ("PCIe over the host", "@pcie5"), "no-p2p": ("PCIe over the host", ""), "pcie5x8": ("PCIe over the host", 25.2),
         "pcie4x8": ("PCIe over the host", 12.6), "pcie4x4": ("PCIe over the host", 6.3), "pcie4x8-x4": ("PCIe over the host", 6.3),
         "pcie4x4-x8": ("PCIe over the host", 6.3), "pcie4x4-x8-x8": ("PCIe over the host", 6.3),
         "pcie4x4-x4-x8-x8": ("PCIe over the host", 6.3), "pcie3x8-no-p2p": ("PCIe over the host", 6.3),
         "pcie": ("not stated", ""), "unknown": ("not stated", ""), "": ("not stated", "")}
SPLITS = {"single": "single", "layer": "layer", "pp": "layer", "tensor": "tensor", "tp": "tensor"}
# Engines whose default is to process prompts in chunks of 2,048 tokens or more (vLLM and SGLang: chunked prefill).
CHUNKS_OF_2048 = ("vLLM", "SGLang", "TensorRT-LLM", "ExLlamaV2", "ExLlamaV3")
NO_LENGTH = 512  # tokens in the cache where a source says nothing


def family(engine):
    return "llama.cpp" if "llama.cpp" in engine else "vLLM, SGLang, TensorRT-LLM" if engine in ("vLLM", "SGLang", "TensorRT-LLM") else "others"


def left_out(r, devices):
    """Why a row has no prediction; None where it has one."""
    note, gpus = r["note"], re.fullmatch(r"(\d+)x([^+]+)", r["gpus"])
    if r["phase"] == "mixed":
        return "prompts and decoding in one figure"
    if r["split"] not in SPLITS:
        return "split by rows, experts, or in two ways"
    if r["split"] != "single" and r["interconnect"] not in LINKS:
        return "between servers or computers"
    if r["engine"] in ("llama.cpp RPC over TCP", "distributed-llama", "distributed-llama Vulkan") and r["split"] != "single":
        return "between servers or computers"
    if not gpus:
        return "unlike GPUs"
    if DEVICES.get(gpus[2], gpus[2]).split()[0] not in devices:
        return "GPU not in the catalogue"
    if r["model"] not in NAMES:
        return "shape of the model not known here"
    if quant_of(r) is None:
        return "type of weights not known here"
    if ("MTP" in note and "no MTP" not in note) or "speculative" in note or "draft" in note:
        return "speculative decoding"
    if "at most 2 GPUs" in note or "split 5:4" in note:
        return "uneven or partial tensor split"
    if not r["batch"].isdigit() or "per stream" in note or (int(r["batch"]) > 1 and r["phase"] == "prefill"):
        return "number of streams not clear"
    if r["phase"] == "prefill" and not re.match(r"\d", r["prompt_or_depth"]):
        return "length of the prompt not stated"
    return None


def quant_of(r):
    quant = QUANTS.get(r["quant"])
    if not r["quant"] and r["engine"] == "vLLM":
        quant = "F16"
    if (quant == "MXFP4") != r["model"].startswith("gpt-oss") or (r["quant"] == "NVFP4" and r["phase"] == "prefill"):
        return None
    return quant


def platform_of(r, folder):
    n, device = r["gpus"].split("x", 1)
    device = DEVICES.get(device, device)
    if r["split"] == "single" or "m3-ultra" in device:
        return f"cpu+{device}" if "m3-ultra" not in device else device
    link = LINKS[r["interconnect"]][1]
    if link == "@nvlink" and device.startswith("rtx3090"):
        link = "@nvlink-bridge"
    if not isinstance(link, float):
        return f"cpu+{n}*{device}{link}"
    path = f"{folder}/{n}x{device}-{r['interconnect']}.json"
    pathlib.Path(path).write_text(json.dumps({
        "situ_platform": 1, "name": f"{n}x{device}, {r['interconnect']}",
        "devices": [{"name": "cpu", "base": "cpu"}, {"name": "gpu", "base": device, "count": int(n)}],
        "links": [{"from": "cpu", "to": "gpu", "kind": r["interconnect"][:5], "gb_per_s": link}]}))
    return path


def micro_batch(r):
    """Tokens that share a pass, where the source says so; None: llama.cpp's default. A row of llama-sweep-bench, which the sources
    of ik_llama.cpp quote, is one micro-batch behind so many tokens in the cache (ik_llama.cpp#897)."""
    stated = re.search(r"\bub (\d+)", r["note"])
    if stated:
        return int(stated[1])
    if r["source"].startswith("ikawrakow/"):
        return int(r["prompt_or_depth"].partition("@")[0])
    return 2048 if r["engine"] in CHUNKS_OF_2048 else None


class Predictor:
    """Calls of situ, each one once."""

    def __init__(self, situ, folder, overlap=True):
        self.situ, self.folder, self.overlap, self.known = situ, folder, overlap, {}

    def place(self, *options):
        if options not in self.known:
            done = subprocess.run([self.situ, "place", *options, "--json", "--time-limit", "0.02"], capture_output=True, text=True)
            self.known[options] = json.loads(done.stdout) if done.returncode == 0 else {}
        return self.known[options]

    def speed(self, r):
        """Tokens per second, of all streams together; None where there is no such plan."""
        kind, shape = quant_of(r), NAMES[r["model"]]
        if r["engine"] == "TensorRT-LLM" and r["model"] == "Llama-70B":
            shape = "llama-2-70b"  # of 2023
        path = pathlib.Path(f"{self.folder}/{shape}-{kind}.gguf")
        if not path.exists():
            write(path, *SHAPES[shape](kind, HEADS.get(kind, "Q6_K")))
        split = SPLITS[r["split"]]
        options = [str(path), "--platform", platform_of(r, self.folder)]
        # llama.cpp computes and adds up in 32 bits, the others in 16.
        engine = "ik_llama.cpp" if r["engine"].startswith("ik_llama") else "llama.cpp"
        options += ["--cost-engine", engine] if family(r["engine"]) == "llama.cpp" else ["--cost-engine", "generic", "--precision", "f16"]
        kv = {"fp8": "q8_0"}.get(r["kv_type"], r["kv_type"])
        options += ["--kv-type", kv] if kv and kv != "q6_0" else []
        if split == "tensor":
            options += ["--tensor-parallel", r["n_devices"], "--solver", "single", "--unused", "cpu"]
        elif split == "layer" or family(r["engine"]) == "llama.cpp":
            options += ["--solver", "llamacpp_default"]
        else:
            options += ["--solver", "single", *([] if "m3-ultra" in r["gpus"] else ["--unused", "cpu"])]
        return self.decode(r, options) if r["phase"] == "decode" else self.prefill(r, options)

    def decode(self, r, options):
        depth = int(r["prompt_or_depth"]) + 64 if r["prompt_or_depth"].isdigit() else NO_LENGTH
        found = self.place(*options, "--context", str(depth), *(["--batch", r["batch"]] if r["batch"] != "1" else []))
        return found.get("tokens_per_second")

    def prefill(self, r, options):
        """After a cache of D tokens: what a prompt of D + N takes more than one of D."""
        n, _, depth = r["prompt_or_depth"].partition("@")
        if micro_batch(r):
            options = [*options, "--ubatch", str(micro_batch(r))]
        first = self.place(*options, "--prompt", n)
        if not first:
            return None
        alone = int(n) / first["value_ns"] * 1e9
        overlap = first["tokens_per_second"] / alone if self.overlap and (micro_batch(r) or 0) < int(n) else 1
        if not depth:
            return alone * overlap
        long, short = (self.place(*options, "--prompt", str(int(depth) + more)) for more in (int(n), 0))
        if not long or not short or long["value_ns"] <= short["value_ns"]:
            return None
        return int(n) / (long["value_ns"] - short["value_ns"]) * 1e9 * overlap


def link_class(r):
    return "" if r["split"] == "single" else LINKS[r["interconnect"]][0]


def set_halves(rows):
    """Sources by turns, those with tensor splits first, in the order of the table, of each family: constants were fitted to
    half 0 and checked with half 1."""
    turn, half = collections.Counter(), {}
    for r in sorted(rows, key=lambda r: r["split"] != "tensor"):
        if r["source"] not in half:
            half[r["source"]] = turn[r["family"]] % 2
            turn[r["family"]] += 1
        r["half"] = half[r["source"]]


def predict_all(situ, table, overlap):
    listed = json.loads(subprocess.run([situ, "list", "devices", "--json"], capture_output=True, text=True).stdout)
    devices = {d["name"] for d in (listed if isinstance(listed, list) else next(v for v in listed.values() if isinstance(v, list)))}
    rows, reasons = [], collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        predictor = Predictor(situ, folder, overlap)
        for r in csv.DictReader(open(table)):
            why = left_out(r, devices)
            speed = None if why else predictor.speed(r)
            if not speed:
                reasons[why or "no plan within memory"] += 1
                continue
            published = float(r["tokens_per_s"])
            rows.append({"id": r["id"], "source": r["source"], "half": 0, "engine": r["engine"], "family": family(r["engine"]),
                         "model": r["model"], "quant": r["quant"], "gpus": r["gpus"], "link": r["interconnect"], "class": link_class(r),
                         "split": SPLITS[r["split"]], "phase": r["phase"] + (", batch > 1" if r["batch"] != "1" else ""),
                         "length": r["prompt_or_depth"], "batch": r["batch"], "published": published, "predicted": f"{speed:.2f}",
                         "error %": f"{100 * (speed / published - 1):.1f}"})
    set_halves(rows)
    return rows, reasons


def pairs_of(rows):
    """(one device or split by layer, tensor split) of one source, engine, model, card, phase and length."""
    found = collections.defaultdict(list)
    for r in rows:
        count, card = r["gpus"].split("x", 1)
        found[tuple(r[k] for k in ("source", "family", "model", "quant", "phase", "length", "batch")) + (card,)].append((r, int(count)))
    for of in found.values():
        for whole, n in of:
            for split, k in of:
                if split["split"] == "tensor" and (whole["split"] == "single" or (whole["split"] == "layer" and n == k)):
                    yield whole, split


def summary(rows):
    """Split, phase, class of links and family of engines; rows, errors, and those of the half that nothing was fitted to."""
    lines, groups = [], collections.defaultdict(list)
    for r in rows:
        error = float(r["error %"]) / 100
        for key in ((r["split"], r["phase"], r["class"], r["family"]), (r["split"], r["phase"], "all", "all")):
            groups[key].append((error, int(r["half"])))
    order = {"single": 0, "layer": 1, "tensor": 2}
    for key in sorted(groups, key=lambda k: (order[k[0]], k[1], k[2] == "all", k[2], k[3])):
        errors = [e for e, _ in groups[key]]
        kept = [e for e, h in groups[key] if h == 1]
        lines.append([*key, len(errors), f"{100 * statistics.median(map(abs, errors)):.0f}", f"{100 * statistics.median(errors):+.0f}",
                      f"{100 * sum(abs(e) <= 0.4 for e in errors) / len(errors):.0f}",
                      f"{100 * statistics.median(kept):+.0f} ({len(kept)})" if kept else ""])
    return lines


def pair_lines(rows):
    """How often the faster of two is named where published speeds differ by more than 10 %."""
    counts = collections.defaultdict(lambda: [0, 0, 0])
    for whole, split in pairs_of(rows):
        published, predicted = (float(split[k]) / float(whole[k]) for k in ("published", "predicted"))
        if max(published, 1 / published) <= 1.1:
            continue
        for key in ((whole["split"], split["phase"], split["class"]), (whole["split"], split["phase"], "all")):
            counts[key][0] += 1
            counts[key][1] += published > 1
            counts[key][2] += (published > 1) == (predicted > 1)
    return [[*key, *counts[key]] for key in sorted(counts, key=lambda k: (k[0], k[1], k[2] == "all", k[2]))]


def ratio_lines(rows):
    """Errors of what the split gains: predicted over published ratio of the two speeds of a pair. The engine's own rate,
    which both have, drops out."""
    errors = collections.defaultdict(list)
    for whole, split in pairs_of(rows):
        published, predicted = (float(split[k]) / float(whole[k]) for k in ("published", "predicted"))
        for gpus in ("2" if split["gpus"].startswith("2x") else "4 and more", "all"):
            errors[whole["split"], split["phase"], gpus].append((predicted / published - 1, abs(float(split["error %"]))))
    return [[*key, len(of), f"{100 * statistics.median(abs(e) for e, _ in of):.0f}", f"{100 * statistics.median(e for e, _ in of):+.0f}",
             f"{100 * sum(abs(e) <= 0.4 for e, _ in of) / len(of):.0f}", f"{statistics.median(own for _, own in of):.0f}"]
            for key, of in sorted(errors.items())]


def main():
    rows, reasons = predict_all(*sys.argv[1:3], "--no-overlap" not in sys.argv)
    for line in summary(rows):
        print("{:7} {:16} {:20} {:26} {:4} rows, error {:>4} %, signed {:>5} %, within 40 %: {:>3} %, of half 1: {}".format(*line))
    for line in pair_lines(rows):
        print("{:7} against tensor, {:16} {:20} {:3} pairs, tensor faster in {:3}, named rightly {:3}".format(*line))
    print(f"{len(rows)} rows; left out:", "; ".join(f"{n} {why}" for why, n in reasons.most_common()))
    if "-o" in sys.argv:
        with open(sys.argv[sys.argv.index("-o") + 1], "w", newline="") as f:
            out = csv.DictWriter(f, list(rows[0]), lineterminator="\n")
            out.writeheader()
            out.writerows(rows)


if __name__ == "__main__":
    main()
