#!/usr/bin/env python3
"""Predicted against published speeds of llama.cpp, for one device and for splits by layer.

    python3 bench/llm_published.py SITU published_speeds.csv [-o ROWS.csv]

Rows are taken whose model is one of llm_files.py, whose devices are in the catalogue, all equal, and whose mode is the
split by layer. The plan is that of llama.cpp's own rule. What the rates of cost/efficiency.c were fitted to is among
them: docs/theory/models/language-models.md says which rows."""
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
         ("gpt-oss-120b", "MXFP4"): "gpt-oss-120b-mxfp4"}
# Published names that are not told by rule: a part of the name -> the catalogue's.
DEVICES = {"A100 SXM": "a100-80g", "A100 PCIe": "a100-80g-pcie", "A100": "a100-80g", "H100 PCIe": "h100-80g-pcie",
           "H100 80GB HBM3": "h100-80g", "L40S": "l40s-48g", "A40": "a40-48g", "RTX 6000 Ada": "rtx6000ada-48g",
           "RTX A6000": "a6000-48g", "DGX Spark": "gb10-128g", "Tesla V100 32GB": "v100-32g", "Tesla P40": "p40-24g",
           "RX 9070 XT": "rx9070xt-16g", "RX 7900 XTX": "rx7900xtx-24g", "RX 7900 XT": "rx7900xt-20g",
           "RX 7800 XT": "rx7800xt-16g", "RX 7600": "rx7600-8g", "Arc Pro B60": "b60-24g", "Arc A770": "a770-16g",
           "GTX 1080 Ti": "gtx1080ti-11g", "Radeon 780M": "radeon780m", "Ryzen AI Max+ 395": "radeon8060s"}


def device_of(name, known):
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


def predict(situ, path, platform, options):
    done = subprocess.run([situ, "place", path, "--platform", platform, "--solver", "llamacpp_default", "--json", *options],
                          capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else {}


def summary(name, rows):
    errors = [abs(r["predicted"] / r["published"] - 1) for r in rows]
    if errors:
        within = sum(e <= 0.4 for e in errors) / len(errors)
        print(f"{name:34} {len(errors):4} rows  median error {statistics.median(errors):6.1%}  within 40 %: {within:5.0%}")


def main():
    situ, table = sys.argv[1:3]
    listed = json.loads(subprocess.run([situ, "list", "devices", "--json"], capture_output=True, text=True).stdout)
    known = [d["name"] for d in (listed if isinstance(listed, list) else next(v for v in listed.values() if isinstance(v, list)))]
    rows, cache = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (keys, tensors) in MODELS.items():
            write(f"{folder}/{name}.gguf", keys, tensors)
        for r in csv.DictReader(open(table)):
            model, device = NAMES.get((r["model"], r["quant"])), device_of(r["devices"], known)
            setting = r["setting"]
            if not model or not device or "sm=tensor" in setting or "sm=row" in setting or "depth" in setting:
                continue
            if not r["engine_backend"].startswith("llama.cpp") or r["unlike_devices"] == "1":
                continue
            n = int(r["n_devices"] or 1)
            platform = f"cpu+{n}*{device}" if n > 1 else f"cpu+{device}"
            for what, length, speed in (("prefill", r["prefill_len_tokens"], r["prefill_tokens_per_s"]),
                                        ("decode", r["decode_len_tokens"], r["decode_tokens_per_s"])):
                if not speed:
                    continue
                length = int(length or (512 if what == "prefill" else 128))
                options = ("--prompt", str(length)) if what == "prefill" else ("--generate", str(length))
                key = (model, platform, options)
                if key not in cache:
                    cache[key] = predict(situ, f"{folder}/{model}.gguf", platform, options).get("tokens_per_second")
                if cache[key]:
                    rows.append({"id": r["id"], "what": what, "model": model, "platform": platform, "backend": r["engine_backend"],
                                 "published": float(speed), "predicted": round(cache[key], 2)})
    for what in ("decode", "prefill"):
        for label, of in (("one device", lambda r: "*" not in r["platform"]), ("split by layer", lambda r: "*" in r["platform"])):
            summary(f"{what}, {label}", [r for r in rows if r["what"] == what and of(r)])
        summary(what, [r for r in rows if r["what"] == what])
    if "-o" in sys.argv:
        with open(sys.argv[sys.argv.index("-o") + 1], "w", newline="") as f:
            out = csv.DictWriter(f, list(rows[0]), lineterminator="\n")
            out.writeheader()
            out.writerows(rows)


if __name__ == "__main__":
    main()
