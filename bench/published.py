#!/usr/bin/env python3
"""Predicted against published latencies: how far off the cost model is, by device and engine.

    published.py LATENCIES.csv [--situ build/situ] [--rows OUT.csv] [--options "..."] > published.csv

LATENCIES.csv has the columns model, input, batch, precision, engine, device, latency_ms_per_batch and items_per_s, and
in each row what somebody published (it is not part of the project). Each row that situ can express is predicted: the
built-in network at that batch and precision, alone on that device. A row is expressed as follows.

- fp32, fp16 and int8 (also "int8/fp16") are --precision f32, f16 and i8. TF32 is f32 at the rate of the tensor cores.
- Two sockets are one device of twice the rates; a part of a GPU (MIG 1/7) has a seventh of them.
- A row of a throughput with many requests in flight is predicted at a batch of 8, "large" batches at 128.
- BERT-large of "variable length" has 178 tokens, the mean of SQuAD; else padded.
- An engine is --cost-engine, where this build has that option.

Factors are predicted / published; written are their median, the 10th and 90th percentile, and the shares of rows within
30 % and within 2x, over all and by device and engine. The last line counts pairs of devices for the same network, batch,
precision and engine whose published times differ by 1.5x: how many are predicted in the same order.
"""
import argparse
import csv
import itertools
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

NETWORKS = [(r"resnet-?50", "resnet50", ""), (r"inception[-_]v3", "inception-v3", ""),
            (r"mobilenet-?v2|mobilenetv2_100", "mobilenet-v2", ""),
            (r"bert-large", "bert-base", "layers=24&hidden=1024&heads=16"), (r"bert-base", "bert-base", "")]
# Name in the data -> (row of the catalogue, how many of them)
DEVICES = [(r"2x Xeon Platinum 8280", "xeon8280", 2), (r"2x Xeon Platinum 8380", "xeon8380", 2),
           (r"2x Xeon Platinum 8480", "xeon8480", 2), (r"2x Xeon Platinum 8580", "xeon8580", 2),
           (r"A100 MIG 1g", "a100-40g", 1 / 7), (r"A100-PCIe-40", "a100-40g-pcie", 1), (r"A100-SXM4-40", "a100-40g", 1),
           (r"A100-SXM4-80", "a100-80g", 1), (r"A100-PCIe-80", "a100-80g-pcie", 1), (r"A10$", "a10-24g", 1),
           (r"A2$", "a2-16g", 1), (r"A30$", "a30-24g", 1), (r"Arc A770M", "a770m-16g", 1), (r"Arc A770", "a770-16g", 1),
           (r"Arc A750", "a750-8g", 1), (r"Core Ultra 7 165H CPU", "ultra7-165h", 1),
           (r"Core Ultra 7 165H NPU", "npu-165h", 1), (r"Core Ultra 7 165H iGPU", "arc-165h", 1),
           (r"Core i3-1005G1", "i3-1005g1", 1), (r"Core i5-8500", "i5-8500", 1), (r"Core i7-12700H", "i7-12700h", 1),
           (r"Core i9-10940X", "i9-10940x", 1), (r"Core i9-12900K", "i9-12900k", 1), (r"Core i9-13900K", "i9-13900k", 1),
           (r"Core i9-14900K", "i9-14900k", 1), (r"Flex 170", "flex170-16g", 1), (r"H100-PCIe", "h100-80g-pcie", 1),
           (r"H100-SXM", "h100-80g", 1), (r"H200", "h200-141g", 1), (r"B200", "b200-180g", 1),
           (r"Jetson AGX Orin CPU", "orin-cpu", 1), (r"Jetson AGX Orin$", "orin-64g", 1),
           (r"Jetson AGX Xavier$", "xavier-32g", 1), (r"Jetson Xavier NX", "xavier-nx-8g", 1), (r"K80", "k80", 1),
           (r"L40S", "l40s-48g", 1), (r"L4$", "l4-24g", 1), (r"P100 \(DGX-1\)", "p100-16g-sxm", 1),
           (r"RTX (\d{4})( Ti| Super)?", None, 1), (r"T4", "t4-16g", 1), (r"V100-PCIe", "v100-16g-pcie", 1),
           (r"V100-SXM2-32|V100-32", "v100-32g", 1), (r"V100", "v100-16g", 1)]
ENGINES = [(r"TensorRT", "tensorrt"), (r"OpenVINO", "openvino"), (r"ONNX Runtime", "onnxruntime"),
           (r"TorchScript", "torchscript"), (r"eager|PyTorch 1", "eager"), (r"XLA", "xla"), (r"TensorFlow", "tensorflow"),
           (r"torch.compile", "generic")]
LARGE, IN_FLIGHT = 128, 8


def call(arguments, options):
    done = subprocess.run([options.situ, *arguments], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def engine_of(text):
    return next((name for pattern, name in ENGINES if re.search(pattern, text)), "other")


def device_of(text):
    if " + " in text or "DLA" in text:
        return None
    for pattern, row, count in DEVICES:
        found = re.search(pattern, text)
        if found:
            return (row or "rtx" + found[1] + (found[2] or "").lower().replace(" ", ""), count)
    return None


def express(row):
    """(model, precision, device, parts, batch) of a row, or None where situ has no words for it."""
    network = next(((n, more) for pattern, n, more in NETWORKS if re.match(pattern, row["model"])), None)
    precision = {"fp32": "f32", "tf32": "tf32", "fp16": "f16", "bf16": "bf16", "int8": "i8", "int8/fp16": "i8"}
    kind = row["precision"].split(" ")[0]
    device = device_of(row["device"])
    if not network or not device or kind not in precision or "unknown" in row["precision"] or "TRAINING" in row["model"]:
        return None
    size = row["batch"]
    batch = LARGE if size == "large" else int(size) if size.isdigit() else None
    if batch and not row["latency_ms_per_batch"] and batch == 1:
        batch = IN_FLIGHT
    if not batch:
        return None
    settings = [f"batch={batch}"] + ([network[1]] if network[1] else [])
    words = re.search(r"seq(\d+)|(\d+) tokens", row["input"])
    if words:
        tokens = int(words[1] or words[2])
        settings.append(f"seq={178 if 'variable' in row['engine'] else tokens}")
    return f"builtin:{network[0]}?" + "&".join(settings), precision[kind], device[0], device[1], batch


def platform(folder, device, parts, tf32, catalogue):
    """A platform of that device alone."""
    if parts == 1 and not tf32:
        return device
    row = catalogue.get(device) or next(r for name, r in sorted(catalogue.items()) if name.startswith(device + "-"))
    entry = {"name": "device", "base": row["name"]}
    if parts != 1:
        entry["memory_bytes_per_s"] = row["memory_bytes_per_s"] * parts
        entry["peak_flops"] = {t: row["flops_" + t] * parts for t in ("f32", "f16", "bf16", "i8") if row["flops_" + t]}
    if tf32:
        entry["peak_flops"] = {"f32": row["flops_f16"] / 2}
    path = folder / f"{device}-{parts:.2f}-{tf32}.json"
    path.write_text(json.dumps({"situ_platform": 1, "devices": [entry]}))
    return str(path)


def predict(row, folder, catalogue, options):
    said = express(row)
    if not said:
        return None
    model, precision, device, parts, batch = said
    where = platform(folder, device, parts, precision == "tf32", catalogue)
    words = ["place", model, "--platform", where, "--solver", "single", "--json", *options.options.split()]
    words += ["--precision", "f32" if precision == "tf32" else precision]
    engine = engine_of(row["engine"])
    if options.engines and engine in options.engines:
        words += ["--cost-engine", engine]
        if engine == "onnxruntime" and "CUDA" in row["engine"]:
            words += ["--fusion", "ort-cuda"]
    made = call(words, options)
    if not made or not made.get("value_ns"):
        return None
    each = made["value_ns"] / batch
    if row["latency_ms_per_batch"]:
        size = int(row["batch"]) if row["batch"].isdigit() else batch
        published = float(row["latency_ms_per_batch"]) * 1e6 / size
    elif row["items_per_s"]:
        published = 1e9 / float(row["items_per_s"])
    else:
        return None
    return {"model": model, "precision": precision, "engine": row["engine"], "device": row["device"],
            "kind": engine, "batch": row["batch"], "flight": not row["latency_ms_per_batch"], "published_ns": round(published),
            "predicted_ns": round(each), "factor": each / published}


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def summary(name, rows):
    factors = [r["factor"] for r in rows]
    middle = math.exp(sum(sorted(map(math.log, factors))[(len(factors) - 1) // 2:len(factors) // 2 + 1])
                      / (2 - len(factors) % 2))
    return [*name, len(rows), f"{middle:.2f}", f"{quantile(factors, .1):.2f}", f"{quantile(factors, .9):.2f}",
            f"{100 * sum(1 / 1.3 <= f <= 1.3 for f in factors) / len(rows):.0f}",
            f"{100 * sum(.5 <= f <= 2 for f in factors) / len(rows):.0f}"]


def groups(rows, key):
    return [(name, list(group)) for name, group in itertools.groupby(sorted(rows, key=key), key=key)]


def pairs(rows):
    """(pairs whose published times differ by 1.5x, those of them predicted in that order)."""
    right = every = 0
    for _, group in groups(rows, lambda r: (r["model"], r["precision"], r["kind"], r["flight"])):
        for a, b in itertools.combinations(group, 2):
            if a["device"] == b["device"] or max(a["published_ns"] / b["published_ns"],
                                                 b["published_ns"] / a["published_ns"]) < 1.5:
                continue
            every += 1
            right += (a["published_ns"] < b["published_ns"]) == (a["predicted_ns"] < b["predicted_ns"])
    return every, right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("latencies", type=pathlib.Path)
    parser.add_argument("--situ", default="build/situ")
    parser.add_argument("--rows", type=pathlib.Path, help="also write each row with its prediction")
    parser.add_argument("--options", default="", help="further options of situ place")
    options = parser.parse_args()
    options.engines = [r["name"] for r in call(["list", "cost-engines", "--json"], options)["cost-engines"]]
    catalogue = {r["name"]: r for r in call(["list", "devices", "--json"], options)["devices"]}
    rows = list(csv.DictReader(options.latencies.open()))
    with tempfile.TemporaryDirectory() as folder:
        made = [predict(row, pathlib.Path(folder), catalogue, options) for row in rows]
    found = [m for m in made if m]
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["by", "name", "rows", "median", "p10", "p90", "within_30_percent", "within_2x"])
    out.writerow(summary(("all", f"of {len(rows)} rows"), found))
    for by in ("kind", "device", "precision"):
        for name, group in groups(found, lambda r, by=by: r[by]):
            out.writerow(summary(({"kind": "engine"}.get(by, by), name), group))
    every, right = pairs(found)
    out.writerow(["pairs", "in the order published", every, "", "", "", "", f"{100 * right / max(every, 1):.0f}"])
    if options.rows:
        with options.rows.open("w", newline="") as file:
            table = csv.DictWriter(file, list(found[0]), lineterminator="\n")
            table.writeheader()
            table.writerows(found)


if __name__ == "__main__":
    main()
