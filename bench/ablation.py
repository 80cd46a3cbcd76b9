#!/usr/bin/env python3
"""Leave one out: what `auto` loses without each of its solvers, and its bound without each bound, by steps alone, as CSV.
Continues a file that was cut short.

    ablation.py SITU SHARED ablation.csv [--only NAME[,NAME...]]
"""
import csv
import functools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from drawn import drawn
from wide import branches, experts

# Without preferences among plans: the answer is the best plan found.
BEST = ["--tolerance", "0", "--min-gain", "0", "--uncertainty", "0"]
SINGLE = [*BEST, "--granularity", "operator"]
GPUS, MIXED, SMALL = "cpu+2*v100-16g", "cpu+v100-16g+p100-16g", "ryzen-7840hs+radeon780m"
SERVERS = "2*(cpu+4*v100-16g)"
TRAINING = ["--training", "--optimizer", "sgd"]
PERIOD = ["--objective", "throughput"]
FREE = [*PERIOD, "--free"]
STAGED = [*FREE, "--communication", "host-staged"]
# Convolutions run on GPUs alone, which lack room for their weights.
CONFINED = ["--not", "Conv=cpu", "--reserve", "gpu=15970MB"]

SMALL_LLAMA = "llama?hidden=512&heads=8&kv_heads=8&ffn=1024&vocab=1000&layers="

# class of problem (a column of src/solve/portfolio.c), model, platform, steps, arguments
INSTANCES = [
    *(("stream", m, p, 4000, SINGLE) for m in ("inception-v3", "randwire-ws", "amoebanet-d", "gnmt", "transformer-xl")
      for p in (GPUS, MIXED)),
    ("stream", "randwire-er", GPUS, 4000, SINGLE),
    ("stream", "resnet50", SMALL, 4000, SINGLE),
    ("stream", "randwire-ba", "4*a100-40g", 4000, SINGLE),
    ("stream", "bert-base", SERVERS, 4000, SINGLE),
    ("stream", "wavenet", GPUS, 4000, SINGLE),
    ("stream", "gnmt", "8*p100-16g", 2000, [*SINGLE, *TRAINING]),
    ("stream", "transformer-xl?layers=24", "8*p100-16g", 2000, [*SINGLE, *TRAINING]),
    ("stream", "inception-v3", GPUS, 4000, [*SINGLE, *TRAINING]),
    ("stream", "moe?tokens=1&context=512", "cpu+2*a100-80g", 2000, BEST),
    ("stream", "llama?layers=40&tokens=1&context=512", "cpu+v100-16g+p100-16g", 2000, [*SINGLE]),
    ("stream", "randwire-ws", GPUS, 4000, [*SINGLE, "--contention", "none"]),
    ("stream", "inception-v3", GPUS, 4000, [*SINGLE, "--overlap", "none"]),
    ("stream", "inception-v3", GPUS, 4000, [*SINGLE, "--copies", "3"]),
    ("stream", "resnet50", GPUS, 4000, [*SINGLE, "--max-period", "1.5"]),
    ("stream", "resnet50", GPUS, 4000, [*SINGLE, "--max-latency", "3", *PERIOD, "--execution", "stream"]),
    ("stream", "vgg16", GPUS, 2000, [*SINGLE, "--reserve", "gpu=15500MB"]),
    ("stream", "llama?layers=60&tokens=1&context=512", GPUS, 1000, [*BEST, "--overlap", "none"]),
    ("stream", "llama?layers=60&tokens=1&context=512", GPUS, 1000, [*SINGLE, "--overlap", "none"]),
    ("stream", "moe?tokens=1&context=512", "cpu+2*v100-32g", 1000, [*BEST, "--overlap", "none"]),
    ("stream", "llama?layers=100&tokens=1&context=512", SERVERS, 1000, [*BEST, "--unused", "cpu0", "--unused", "cpu1"]),
    ("stream", "moe?tokens=1", "2*v100-16g", 200, BEST),
    ("stream", "moe?tokens=1&layers=8", "2*v100-16g", 200, [*SINGLE, "--reserve", "gpu0=3GiB"]),
    ("stream", "llama?layers=28&hidden=8192&heads=64&kv_heads=8&ffn=28672&tokens=512", "2*(2*v100-16g@nvlink)@ethernet-1g",
     600, [*SINGLE, "--precision", "f16"]),
    ("stream", "inception-v3", "cpu+2*t4-16g", 10, CONFINED),
    ("calls", "inception-v3", "cpu+2*t4-16g", 10, [*CONFINED, "--execution", "calls"]),
    ("large stream", "layered?operators=12000", GPUS, 200, SINGLE),
    ("large stream", "gnmt?steps=30", "8*p100-16g", 200, [*SINGLE, *TRAINING]),
    ("large stream", "transformer-xl?segments=8&layers=24", SERVERS, 200, [*SINGLE, *TRAINING]),
    ("calls", "inception-v3", GPUS, 20000, ["--execution", "calls", "--granularity", "operator"]),
    ("calls", "randwire-ws", GPUS, 20000, ["--execution", "calls", "--granularity", "operator"]),
    ("calls", "gnmt", GPUS, 20000, ["--execution", "calls", "--granularity", "operator"]),
    *(("contiguous", m, p, 30000, [*PERIOD, "--granularity", "operator"]) for m in ("inception-v3", "gnmt", "amoebanet-d")
      for p in (GPUS, "4*a100-40g")),
    ("contiguous", "randwire-ws", GPUS, 30000, [*PERIOD, "--granularity", "operator"]),
    ("contiguous", "bert-base", SERVERS, 30000, PERIOD),
    ("contiguous", "gnmt", "cpu+4*v100-16g", 16000, [*PERIOD, "--communication", "host-staged"]),
    *(("free", m, GPUS, 5000, [*STAGED, "--granularity", "operator"]) for m in ("inception-v3", "randwire-ws", "bert-base")),
    *(("linked", m, GPUS, 5000, [*FREE, "--granularity", "operator"]) for m in ("inception-v3", "randwire-ws", "gnmt")),
    ("midsize", "gnmt", "8*p100-16g", 3000, [*STAGED, *TRAINING, "--granularity", "operator"]),
    ("midsize", "layered?operators=4000", GPUS, 5000, [*FREE, "--granularity", "operator"]),
    ("midsize", SMALL_LLAMA + "40", GPUS, 4000, [*FREE, "--granularity", "operator"]),
    *(("large free", SMALL_LLAMA + "185", GPUS, 100000, [*more, "--granularity", "operator"]) for more in (FREE, STAGED)),
    ("large free", "layered?operators=12000", GPUS, 3000, [*STAGED, "--granularity", "operator"]),
    ("large free", "gnmt?steps=30", "8*p100-16g", 3000, [*STAGED, *TRAINING, "--granularity", "operator"]),
]
COLUMNS = ["stream", "large stream", "calls", "contiguous", "free", "linked", "midsize", "large free"]


def instances(shared, folder):
    for kind, model, platform, steps, more in INSTANCES:
        yield kind, " ".join([model, platform, *more]), [f"builtin:{model}", "--platform", platform, *more], steps
    for path in sorted((shared / "data/workloads/throughput").glob("*/*.json")):
        name = f"{path.parent.name}/{path.stem}"
        yield "contiguous", name, [str(path)], 10000
        if path.parent.name == "LayerGraphs":
            yield "free", f"{name} --free", [str(path), "--free"], 5000
    for name, draw, numbers in (("branches-8x20", branches, (8, 20, 0.1, 4)), ("experts-6x16", experts, (6, 16, 0.1, 4)),
                                ("experts-8x8", experts, (8, 8, 2, 4))):
        path = pathlib.Path(folder) / f"{name}.json"
        draw(path, *numbers)
        yield "contiguous", name, [str(path)], 10000
        yield "free", f"{name} --free", [str(path), "--free"], 5000
    for path in sorted((shared / "data/workloads/latency").glob("*/*.json")):
        yield "calls", f"{path.parent.name}/{path.stem} calls", [str(path), "--execution", "calls"], 20000
    yield from drawn(folder)


@functools.cache
def portfolio():
    """class -> names of its rows"""
    source = (pathlib.Path(__file__).parent.parent / "src/solve/portfolio.c").read_text()
    rows = re.findall(r'\{&(\w+)_solver,\s*"(.{8})"\}', source)
    return {column: list(dict.fromkeys(name for name, roles in rows if roles[k] != "."))
            for k, column in enumerate(COLUMNS)}


def place(tool, arguments):
    done = subprocess.run([tool, "place", *arguments, "--json"], capture_output=True, text=True)
    if not done.stdout.strip():
        return None
    plan = json.loads(done.stdout)
    value = "infeasible" if plan["outcome"] == "infeasible" else plan["value_ns"]
    return value, plan["lower_bound_ns"], plan.get("verified_ns") or 0


def main():
    tool, shared, path = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    only = sys.argv[5].split(",") if sys.argv[4:5] == ["--only"] else None
    listed = json.loads(subprocess.run([tool, "list", "bounds", "--json"], capture_output=True, text=True).stdout)["bounds"]
    known = {}
    if path.exists():
        known = {(r["instance"], r["left_out"]): r for r in csv.DictReader(path.open())}
    else:
        path.write_text("class,instance,left_out,value_ns,bound_ns,certified_ns\n")
    with path.open("a") as out, tempfile.TemporaryDirectory() as folder:
        for kind, name, arguments, steps in instances(shared, folder):
            model = {"stream": "stream", "large stream": "stream", "calls": "calls"}.get(kind, "pipeline")
            rows = [("", "auto", steps), ("bounds", "single", 1)]
            rows += [(s, f"auto,-{s}", steps) for s in portfolio()[kind]]
            rows += [(b["name"], f"single,-{b['name']}", 1) for b in listed if b[model]]
            for left_out, solver, n in rows:
                if (name, left_out) in known or (only and left_out not in only):
                    continue
                found = place(tool, [*arguments, "--solver", solver, "--steps", str(n)])
                if found is None and not left_out:
                    print(f"{name}: no plan", file=sys.stderr)
                    break
                csv.writer(out, lineterminator="\n").writerow([kind, name, left_out, *(found or ("", "", ""))])
                out.flush()


if __name__ == "__main__":
    main()
