#!/usr/bin/env python3
"""Predicted against published speeds of llama.cpp, for one device and for splits by layer.

    python3 bench/llm_published.py SITU published_speeds.csv [-o ROWS.csv]

Rows are taken whose model is one of llm_files.py, whose devices are in the catalogue, and whose mode is the split by layer.
Where the devices are equal the plan is that of llama.cpp's own rule; for unlike devices and experts or layers on the CPU
it is what the row says (UNLIKE). What the rates of cost/efficiency.c were fitted to is among them:
docs/theory/models/language-models.md says which rows. Also says how many of the splits situ would have improved."""
import concurrent.futures
import csv
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from llm_files import MODELS, write

NAMES = {("LLaMA 7B v2", "Q4_0"): "llama-2-7b-q4_0", ("LLaMA 7B v2", "Q8_0"): "llama-2-7b-q8_0",
         ("LLaMA 7B v2", "F16"): "llama-2-7b-f16", ("Llama-3-8B", "Q4_K_M"): "llama-3-8b-q4_k_m",
         ("Llama-3-8B", "F16"): "llama-3-8b-f16", ("Llama-3-70B", "Q4_K_M"): "llama-3-70b-q4_k_m",
         ("Llama-3-70B", "F16"): "llama-3-70b-f16", ("gpt-oss-20b", "MXFP4"): "gpt-oss-20b-mxfp4",
         ("gpt-oss-120b", "MXFP4"): "gpt-oss-120b-mxfp4",
         # 64 blocks of the shape of Qwen3.5 27B are assumed, and that the XL mix has the bytes of Q4_K_M.
         ("Qwen3.8-27B", "Q4_K_M"): "qwen3.8-27b-q4_k_m", ("Qwen3.8-27B", "UD-Q4_K_XL"): "qwen3.8-27b-q4_k_m"}
# Published names that are not told by rule: a part of the name -> the catalogue's.
DEVICES = {"A100 SXM": "a100-80g", "A100 PCIe": "a100-80g-pcie", "A100": "a100-80g", "H100 PCIe": "h100-80g-pcie",
           "H100 80GB HBM3": "h100-80g", "L40S": "l40s-48g", "A40": "a40-48g", "RTX 6000 Ada": "rtx6000ada-48g",
           "RTX A6000": "a6000-48g", "DGX Spark": "gb10-128g", "Tesla V100 32GB": "v100-32g", "Tesla P40": "p40-24g",
           "RX 9070 XT": "rx9070xt-16g", "RX 7900 XTX": "rx7900xtx-24g", "RX 7900 XT": "rx7900xt-20g",
           "RX 7800 XT": "rx7800xt-16g", "RX 7600": "rx7600-8g", "Arc Pro B60": "b60-24g", "Arc A770": "a770-16g",
           "GTX 1080 Ti": "gtx1080ti-11g", "GTX 1070 Ti": "gtx1070ti-8g", "GTX 1070": "gtx1070-8g", "GTX 1060": "gtx1060-6g",
           "RX 5700 XT": "rx5700xt-8g", "Radeon AI PRO R9700": "r9700-32g", "RTX PRO 4500": "rtxpro4500-32g",
           "Arc B580": "b580-12g", "RTX 4060 Mobile": "rtx4060m-8g", "Apple M3 Max 30c": "m3-max-30c",
           "Apple M4 Max 32c": "m4-max-32c", "Radeon 780M": "radeon780m", "Ryzen AI Max+ 395": "radeon8060s"}

# Rows on unlike devices, or with weights on the CPU: model, platform, and what the row says of the plan. ts: parts of the
# GPUs; ngl: layers on GPUs, the head counted, from the last; experts: the blocks whose experts are on the CPU; fit: as
# llama.cpp fits it. Hosts that the row does not name are assumed.
RING = "cpu+rtx3090-24g+2*rtx3060-12g"
UNLIKE = {
    "r310": ("qwen3.8-27b-q4_k_m", "cpu+rtx3060-12g+p100-16g", {"options": ["--context", "8192", "--kv-type", "q4_0"]}),
    "r323": ("qwen3-next-80b-a3b-q4_k_m", "cpu+rtx8000-48g+p40-24g", {"ts": [11, 1], "options": ["--kv-type", "q4_0"]}),
    "r324": ("qwen3-next-80b-a3b-q4_k_m", "cpu+rtx8000-48g+p40-24g", {"ts": [2, 1], "options": ["--kv-type", "q4_0"]}),
    "r338": ("qwen3-32b-q8_0", RING, {}), "r342": ("llama-3-70b-q4_k_m", RING, {}),
    "r361": ("qwen3.6-27b-q8_0", "cpu+rtx5090-32g+rtx3090ti-24g", {}),
    "r349": ("qwen3-235b-a22b-iq3", "epyc9355+rtx5090-32g", {"experts": (16, 94)}),
    "r351": ("qwen3-235b-a22b-q8_0", "epyc9355+rtx5090-32g", {"experts": (6, 94)}),
    "r352": ("qwen3-235b-a22b-iq3", "epyc9355+rtx5090-32g", {"experts": (15, 94)}),
    "r353": ("qwen3-235b-a22b-iq3", "epyc9355+rtx5090-32g+rtx4090-24g", {"ts": [25, 75], "experts": (35, 94)}),
    "r354": ("qwen3-235b-a22b-q8_0", "epyc9355+rtx5090-32g", {"experts": (6, 94)}),
    "r355": ("qwen3-235b-a22b-q8_0", "epyc9355+rtx5090-32g+rtx4090-24g", {"ts": [11, 89], "experts": (15, 94)}),
    "r363": ("gpt-oss-20b-mxfp4", "i9-10900x+rtx2080-8g", {"experts": (0, 12)}),
    "r364": ("mistral-small-24b-q4_k_m", "i9-10900x+rtx2080-8g", {"ngl": 16}),
    "r365": ("deepseek-v2-lite-q4_k_m", "i9-10900x+rtx2080-8g", {"experts": (0, 16)}),
    "r366": ("gemma-2-9b-q4_k_m", "i9-10900x+rtx2080-8g", {"ngl": 36}),
    "r367": ("qwen2.5-14b-q4_k_m", "i9-10900x+rtx2080-8g", {"ngl": 42}),
    "r368": ("gemma-2-27b-q4_k_m", "i9-13900k+rtx5070-12g", {"fit": True}),
    "r370": ("qwen3-32b-q4_k_m", "i9-13900k+rtx5070-12g", {"fit": True}),
    "r372": ("mistral-small-24b-q4_k_m", "i9-13900k+rtx5070-12g", {"fit": True}),
    "r374": ("qwen3-30b-a3b-q4_k_m", "i9-13900k+rtx5070-12g", {"fit": True}),
}


# Sources whose commands say -ub 2048.
LARGE_MICRO_BATCHES = ("ggml-org/llama.cpp discussion 15396", "ggml-org/llama.cpp benches/dgx-spark")


def pins_of(model, said, n_gpus):
    """Where llama.cpp puts the blocks by -ts and -ngl, and the experts by -ot."""
    tensors = {name for name, _, _ in MODELS[model][1]}
    blocks = 1 + max(int(t.split(".")[1]) for t in tensors if t.startswith("blk."))
    parts, ngl = said.get("ts", [1] * n_gpus), min(said.get("ngl", blocks + 1), blocks + 1)
    gpus = ["gpu0"] if n_gpus == 1 else [f"gpu{k}" for k in range(n_gpus)]
    pins = {"token_embd": "cpu"}
    for i in range(blocks + 1):
        at = (i - (blocks + 1 - ngl)) / ngl
        where = "cpu" if at < 0 else next(g for k, g in enumerate(gpus) if sum(parts[:k + 1]) / sum(parts) > at or k == n_gpus - 1)
        pins.update({f"blk.{i}.attn_norm": where} if i < blocks else {"output_norm": where, "output": where})
        if f"blk.{i}.ffn_down_exps.weight" in tensors:
            low, high = said.get("experts", (0, 0))
            pins[f"blk.{i}.ffn_down_exps"] = "cpu" if low <= i < high else where
    return pins


def device_of(name, known):
    if DEVICES.get(name) in known:
        return DEVICES[name]
    apple = re.match(r"Apple M(\d)( Pro| Max| Ultra)?\b", name)
    if apple:
        found = f"m{apple[1]}" + (apple[2] or "").strip().lower().join(["-", ""] if apple[2] else ["", ""])
        return found if found in known else None
    for part, found in DEVICES.items():
        if name == part or name.startswith(part + " ") or name.startswith(part + "-"):
            return found if found in known else None
    rtx = re.match(r"RTX (\d{4})((?: Ti)?(?: SUPER)?)(?: (\d+)GB)?$", name)
    if rtx:
        stem = f"rtx{rtx[1]}{rtx[2].lower().replace(' ', '')}-"
        fits = [k for k in known if k.startswith(stem) and (not rtx[3] or k == f"{stem}{rtx[3]}g")]
        return fits[-1] if fits else None
    return None


def place(situ, path, platform, options):
    done = subprocess.run([situ, "place", path, "--platform", platform, "--json", *options], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else {}


def predict(situ, folder, model, platform, said, options):
    """What the split as published is expected to do; a plan of situ for the same decoding."""
    path, n_gpus = f"{folder}/{model}.gguf", platform.count("+")
    options = [*options, *said.get("options", [])]
    if said.get("ts") or said.get("ngl") or said.get("experts"):
        pins = f"{folder}/pins-{model}-{abs(hash(str(said)))}.json"
        pathlib.Path(pins).write_text(json.dumps(pins_of(model, said, n_gpus)))
        options += ["--granularity", "layer", "--fix", pins, "--steps", "1"]  # every layer is pinned
    else:
        options += ["--solver", "llamacpp_fit" if said.get("fit") else "llamacpp_default", "--time-limit", "0.02"]  # no bounds
    return place(situ, path, platform, options).get("tokens_per_second")


def improve(situ, folder, key, said):
    """The speed of a plan of situ."""
    options = [*key[2], *said.get("options", []), "--granularity", "layer", "--solver", "single,layers,priced_chain", "--steps", "400"]
    return place(situ, f"{folder}/{key[0]}.gguf", key[1], options).get("tokens_per_second")


def summary(name, rows):
    errors = [abs(r["predicted"] / r["published"] - 1) for r in rows]
    if errors:
        within = sum(e <= 0.4 for e in errors) / len(errors)
        print(f"{name:34} {len(errors):4} rows  median error {statistics.median(errors):6.1%}  within 40 %: {within:5.0%}")


def main():
    situ, table = sys.argv[1:3]
    listed = json.loads(subprocess.run([situ, "list", "devices", "--json"], capture_output=True, text=True).stdout)
    known = [d["name"] for d in (listed if isinstance(listed, list) else next(v for v in listed.values() if isinstance(v, list)))]
    rows, jobs = [], {}
    for r in csv.DictReader(open(table)):
        model, device = NAMES.get((r["model"], r["quant"])), device_of(r["devices"], known)
        setting, n, said = r["setting"], int(r["n_devices"] or 1), {}
        platform = f"cpu+{n}*{device}" if n > 1 else f"cpu+{device}"
        if r["id"] in UNLIKE:
            model, platform, said = UNLIKE[r["id"]]
        elif (not model or not device or any(word in setting for word in ("sm=tensor", "sm=row", "depth")) or
              not r["engine_backend"].startswith("llama.cpp") or r["unlike_devices"] == "1"):
            continue
        for what, length, speed in (("prefill", r["prefill_len_tokens"], r["prefill_tokens_per_s"]),
                                    ("decode", r["decode_len_tokens"], r["decode_tokens_per_s"])):
            if not speed or (what == "prefill" and said):
                continue  # weights on the CPU are copied to a GPU in prefill, which is not modelled
            length = int(length or (512 if what == "prefill" else 128))
            options = ("--prompt", str(length)) if what == "prefill" else ("--generate", str(length))
            if what == "prefill" and r["source"] in LARGE_MICRO_BATCHES:
                options = (*options, "--ubatch", "2048")
            key = (model, platform, options, str(said))
            jobs[key] = said
            rows.append({"id": r["id"], "what": what, "model": model, "platform": platform, "backend": r["engine_backend"],
                         "published": float(speed), "predicted": key})
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(4) as pool:
        for name, (keys, tensors) in MODELS.items():
            write(f"{folder}/{name}.gguf", keys, tensors)
        found = dict(zip(jobs, pool.map(lambda key: predict(situ, folder, *key[:2], jobs[key], key[2]), jobs)))
        splits = [key for key in jobs if "--generate" in key[2] and ("*" in key[1] or key[1].count("+") > 1 or jobs[key]) and found[key]]
        own = list(pool.map(lambda key: improve(situ, folder, key, jobs[key]), splits))
    rows = [{**r, "predicted": round(found[r["predicted"]], 2)} for r in rows if found[r["predicted"]]]
    gains = [ours / found[key] for key, ours in zip(splits, own) if ours]
    for what in ("decode", "prefill"):
        for label, of in (("one device", lambda r: "*" not in r["platform"] and r["id"] not in UNLIKE),
                          ("split by layer", lambda r: "*" in r["platform"] and r["id"] not in UNLIKE),
                          ("unlike devices, CPU", lambda r: r["id"] in UNLIKE)):
            summary(f"{what}, {label}", [r for r in rows if r["what"] == what and of(r)])
        summary(what, [r for r in rows if r["what"] == what])
    better = sorted(g for g in gains if g > 1.01)
    if better:
        print(f"of {len(gains)} splits situ improves {len(better)} by more than 1 %, by {statistics.median(better) - 1:.0%} in the median, "
              f"{better[-1] - 1:.0%} at most; {sum(g < 0.995 for g in gains)} get worse, by {1 - min(gains):.1%} at most")
    if "-o" in sys.argv:
        with open(sys.argv[sys.argv.index("-o") + 1], "w", newline="") as f:
            out = csv.DictWriter(f, list(rows[0]), lineterminator="\n")
            out.writeheader()
            out.writerows(rows)


if __name__ == "__main__":
    main()
