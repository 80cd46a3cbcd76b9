#!/usr/bin/env python3
"""Plans of situ run by llama.cpp against llama.cpp's own split, on machines made of unlike devices.

    SITU_LLAMACPP=FOLDER python3 bench/llamacpp.py SITU [MACHINE...] > bench/llamacpp.csv

Devices are RPC servers of one thread on this machine, some of which compute for a share of the time only; what each may hold of
the model is stated. So all of them are CPUs: what is shown is whether predictions hold and whether a plan by speeds beats one by
memory, not the speed of GPUs.
The request has 200 + 64 tokens. Plans:

- default: parts of the layers in proportion to the memory of the devices, as llama.cpp splits (-ts), all layers on devices
- fit: `--fit on` with a margin that leaves each device the memory stated
- situ: by the costs of this machine as `this-host` describes it
- measured: by cost tables of `situ profile` for each device

The speeds are medians of three requests behind a first one; where chrt is allowed, nothing else disturbs."""
import csv
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(ROOT / "bench"), str(ROOT / "tests/cli")]
SITU, ONLY = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2:]
import cpu_types
import gguf_models
import llamacpp_rig as rig

PROMPT, GENERATE, REQUESTS = 200, 64, 4
HOST_SHARE, SCRATCH_BYTES = 0.3, 24 << 20  # of the model that the host may hold; for what a device computes with
FIRST = ["chrt", "-r", "1"] if subprocess.run(["chrt", "-r", "1", "true"], capture_output=True).returncode == 0 else []


def dense(kind, layers=12):
    return gguf_models.llama(layers, 1024, 16, 4, 2816, 4096, kind=kind, head=64)


def experts(kind, layers=10):
    keys, t = cpu_types.experts(kind, 16, 4, layers, 768, 768)
    return keys, t


# The model; of each device its speed, and the share of the model that it may hold; the speed of the host is 1.
MACHINES = {"D1": (dense("Q8_0"), [(1, 0.6), (0.5, 1)]), "D2": (dense("Q4_0"), [(0.4, 0.8), (1, 0.7)]),
            "D3": (dense("F16"), [(1, 0.4), (0.5, 0.4)]), "D4": (dense("Q6_K"), [(0.3, 0.5), (1, 0.5), (0.6, 0.5)]),
            "M1": (experts("Q8_0"), [(1, 0.6), (0.5, 1)]), "M2": (experts("Q4_K"), [(0.4, 0.7), (1, 0.5)]),
            "M3": (experts("MXFP4"), [(1, 0.45), (0.5, 0.45)])}


def core():
    """The figures of a core of this machine."""
    words = ["taskset", "-c", "0", *FIRST, SITU, "platform", "this-host", "--json"]
    return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)["devices"][0]


def platform(core, devices, model_bytes):
    """The host, and each device behind a link as loopback has it."""
    made, links = [], []
    for i, (speed, share) in enumerate([(1, None), *devices]):
        name = "cpu" if i == 0 else f"gpu{i - 1}"
        made.append({"name": name, "class": name, "host": i == 0, "family": core.get("family", "cpu"), "server": f"machine{i}",
                     "memory_bytes_per_s": speed * core["memory_bytes_per_s"], "launch_ns": int(core["launch_ns"] / speed),
                     "peak_flops": {k: speed * v for k, v in core["peak_flops"].items()},
                     "memory_bytes": int((share or HOST_SHARE) * model_bytes) + SCRATCH_BYTES})
        links += [] if i == 0 else [{"from": a, "to": b, "latency_us": 30, "gb_per_s": 3} for a, b in (("cpu", name), (name, "cpu"))]
    pathlib.Path("rig.json").write_text(json.dumps({"situ_platform": 1, "name": "rig", "devices": made, "links": links}))


def placed(names, tables, out):
    options = [x for t in tables for x in ("--cost-table", t)]
    words = [SITU, "place", "m.gguf", "--platform", "rig.json", "--prompt", str(PROMPT), "--generate", str(GENERATE), "--names", names,
             "--write", f"llama.cpp={out}", "--steps", "2000", "--json", *options]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return pathlib.Path(out).read_text().splitlines()[0], found["value_ns"] / 1e6, found.get("prefill_tokens_per_second"), found.get("decode_tokens_per_second")


def run(flags):
    """The whole request in ms, the speeds of its phases, and where layers were."""
    times, log = rig.served("m.gguf", flags, PROMPT, GENERATE, 1, REQUESTS, FIRST)
    prefill_ms, decode_ms = (statistics.median(t[f"{of}_ms"] for t in times[1:]) for of in ("prompt", "predicted"))
    at = [log.layers[k] for k in sorted(log.layers)]
    return prefill_ms + decode_ms, 1e3 * PROMPT / prefill_ms, 1e3 * GENERATE / decode_ms, " ".join(f"{d}:{at.count(d)}" for d in dict.fromkeys(at))


def profiles(addresses):
    tables = []
    for i in range(len(addresses) + 1):
        name = "cpu" if i == 0 else f"gpu{i - 1}"
        where = ["--device", f"RPC[{addresses[i - 1]}]"] if i else []
        subprocess.run([*FIRST, SITU, "profile", "m.gguf", "--prompt", str(PROMPT), "--generate", str(GENERATE), "--threads", "1", "--class",
                        name, *where, "--items", "3", "-o", f"{name}.json"], check=True, capture_output=True)
        tables.append(f"{name}.json")
    return tables


def free_mib(flags):
    """What llama.cpp takes to be free on each device."""
    text = rig.run("llama-server", f"{flags} --list-devices")
    return [int(n) for n in re.findall(r"RPC\d+: .*\(\d+ MiB, (\d+) MiB free\)", text)]


def machine(name, out, figures):
    (keys, tensors), devices = MACHINES[name]
    gguf_models.write("m.gguf", keys, tensors)
    size = os.path.getsize("m.gguf")
    platform(figures, devices, size)
    with rig.servers(len(devices), [speed for speed, _ in devices], FIRST) as addresses:
        names = ",".join(f"gpu{i}=RPC[{a}]" for i, a in enumerate(addresses))
        rpc, common = f"--rpc {','.join(addresses)}", "-c 512 -np 1 -fa on"
        n = keys[f"{keys['general.architecture']}.block_count"] + 1
        parts = ",".join(str(round(100 * share)) for _, share in devices)
        margins = ",".join(str(max(0, int(free - (share * size + SCRATCH_BYTES) / 2**20))) for free, (_, share) in zip(free_mib(rpc), devices))
        tables = profiles(addresses)
        plans = {"situ": placed(names, [], "guessed.txt"), "measured": placed(names, tables, "measured.txt")}
        if sum(share for _, share in devices) > 1.15:
            plans["default"] = (f"{rpc} {common} --fit off -ngl {n} -ts {parts}", None, None, None)
        plans["fit"] = (f"{rpc} {common} --fit on --fit-ctx 512 --fit-target {margins}", None, None, None)
        for plan, (flags, *predicted) in plans.items():
            *got, layers = run(flags)
            out.writerow([name, keys["general.name"], plan, *(round(x, 1) if x else "" for x in (*predicted, *got)), layers])
            sys.stdout.flush()


def main():
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["machine", "model", "plan", "predicted_ms", "predicted_prefill", "predicted_decode", "ms", "prefill", "decode", "layers"])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        figures = core()
        for name in ONLY or MACHINES:
            machine(name, out, figures)


if __name__ == "__main__":
    main()
