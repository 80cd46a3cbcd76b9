#!/usr/bin/env python3
"""Options for llama.cpp, given to llama.cpp: where it puts layers, caches and tensors is where the plan has them.

    test_llamacpp.py SITU [NAME...]

Models have random weights (gguf_models.py), devices are RPC servers on this machine. Without llama.cpp the cases are skipped:
`tools/setup.sh llamacpp` builds it, SITU_LLAMACPP names the folder of its programs.
"""
import functools
import json
import os
import pathlib
import re
import subprocess

import gguf_models
import llamacpp_rig as rig
from test_cli import SHARE, SITU, main, situ, situ_json, some

PLATFORM = {"situ_platform": 1, "name": "rig",
            "devices": [{"name": "cpu", "base": "cpu"}, {"name": "gpu", "base": "rtx3090", "count": 3}],
            "links": [{"from": "cpu", "to": "gpu", "kind": "pcie4"}]}


def rounds(names):
    """All of them in `make check`, two in `make test`."""
    return names if SHARE >= 100 else names[1:3]


def model_file(name):
    gguf_models.write(f"{name}.gguf", *gguf_models.MODELS[name]())
    pathlib.Path("rig.json").write_text(json.dumps(PLATFORM))
    return f"{name}.gguf"


def names_of(addresses):
    return ",".join(f"gpu{i}=RPC[{a}]" for i, a in enumerate(addresses))


@functools.cache
def operators_of(path):
    """Names of all operators of a model, and of those with experts."""
    rows = situ("costs", path, "--platform", "rig.json").splitlines()
    return (list(situ_json("place", path, "--platform", "rig.json", "--steps", "20")["placement"]),
            {row.split(",")[0] for row in rows if re.match(r"blk.*,Experts", row)})


def planned(model, layers, head, embedding="cpu", spilled=(), **more):
    """Options for a plan with these devices of layers, and those of a plan file."""
    operators, experts = operators_of(pathlib.Path(model).resolve())

    def device(name):
        if not name.startswith("blk."):
            return head if name.startswith("output") else embedding
        k = int(name.split(".")[1])
        away = name in experts or ("tensor_parallel" in more and name.endswith(".experts_sum"))  # which adds up what members have
        return "cpu" if k in spilled and away else layers[k]

    pathlib.Path("pins.json").write_text(json.dumps({name: device(name) for name in operators}))
    options = [x for k, v in more.items() for x in (f"--{k}".replace("_", "-"), str(v))]
    placed = situ("place", model, "--platform", "rig.json", "--fix", "pins.json", *options, "--write", "llama.cpp=flags.txt", "--write",
                  "llama-bench=bench.txt", "-o", "plan.json", "--json")
    pathlib.Path("placed.json").write_text(placed)
    return pathlib.Path("flags.txt").read_text()


def first_line(text):
    return text.splitlines()[0]


def check(model, layers, head, addresses, **more):
    flags = planned(model, layers, head, names=names_of(addresses), **more)
    log = rig.loaded(model, first_line(flags))
    used = [d for d in ("gpu0", "gpu1", "gpu2") if d in layers or d == head or d == more.get("embedding")]
    name = {"cpu": "CPU", **{d: f"RPC{i}" for i, d in enumerate(used)}}
    n = len(layers)
    assert [log.layers.get(k) for k in range(n)] == [name[d] for d in layers], (flags, log.layers)
    assert log.layers[max(log.layers)] == name[head], (flags, log.layers)  # behind the blocks that predict further tokens
    assert all(log.caches[k] == name[layers[k]] for k in range(n) if k in log.caches), (flags, log.caches)
    return flags, log


def test_layers_are_where_the_plan_has_them_for_each_kind_of_model():
    with rig.servers(3) as addresses:
        for at, (name, make) in enumerate(list(gguf_models.MODELS.items())[:: 1 if SHARE >= 100 else 3]):
            model = model_file(name)
            keys = make()[0]
            arch = keys["general.architecture"]
            n = keys[f"{arch}.block_count"] - keys.get(f"{arch}.nextn_predict_layers", 0)
            splits = [["gpu0"] * n, ["gpu0"] * 2 + ["gpu1"] * (n - 2), ["cpu"] + ["gpu1"] * 1 + ["gpu0"] * (n - 2), ["cpu"] * n]
            heads = [(layers, layers[-1]) for layers in splits]
            heads += [(["gpu0"] * (n - 1) + ["gpu1"], "gpu2"), (["cpu"] * n, "gpu1")]  # a head on a device of its own
            for layers, head in some(heads, at):
                check(model, layers, head, addresses)


def test_experts_and_embedding_are_where_the_plan_has_them():
    with rig.servers(2) as addresses:
        model = model_file("qwen3moe")
        _, log = check(model, ["gpu0"] * 3 + ["gpu1"] * 3, "gpu1", addresses, spilled=(1, 4), embedding="gpu0")
        at = dict(log.moved)
        assert at.pop("token_embd.weight") == f"RPC0[{addresses[0]}]"
        assert at == {f"blk.{k}.ffn_{part}_exps.weight": "CPU" for k in (1, 4) for part in ("up", "down", "gate")}
        # A head without weights of its own: a rule for the embedding moves it too.
        tied = model_file("tied")
        _, log = check(tied, ["gpu0"] * 3 + ["gpu1"] * 3, "gpu1", addresses, embedding="gpu1")
        assert {b for _, b in log.moved} == {f"RPC0[{addresses[1]}]"}
        operators = json.loads(pathlib.Path("pins.json").read_text())
        pathlib.Path("pins.json").write_text(json.dumps({**operators, "token_embd": "gpu0"}))
        done = subprocess.run([SITU, "place", tied, "--platform", "rig.json", "--fix", "pins.json", "--write", "llama.cpp=no.txt"],
                              capture_output=True, text=True)
        assert done.returncode == 6 and "gpu0: has the embedding, but the head on gpu1 has the same weights" in done.stderr, done
        assert not pathlib.Path("no.txt").exists()


def test_operators_are_split_where_the_plan_splits_them():
    """Two devices split layers 2 to 5, as one that the log calls Meta; the CPU has the others, and the experts of layer 3."""
    with rig.servers(2) as addresses:
        model = model_file("qwen3moe")
        on_cpu = ["cpu"] * 2 + ["gpu0-1"] * 4
        flags = first_line(planned(model, on_cpu, "gpu0-1", spilled=(3,), tensor_parallel=2, context=512))
        assert flags.startswith("-dev CUDA0,CUDA1 -sm tensor -ngl 5 "), flags
        unequal = first_line(planned(model, on_cpu, "gpu0-1", spilled=(3,), tensor_parallel="3,1", context=512))
        assert unequal.startswith("-dev CUDA0,CUDA1 -sm tensor -ts 75,25 -ngl 5 "), unequal
        for options in (flags, unequal):
            options = options.replace("-dev CUDA0,CUDA1", f"--rpc {','.join(addresses)} -dev RPC0,RPC1")
            (times,), log = rig.served(model, options, 16, 8)
            assert (times["prompt_n"], times["predicted_n"]) == (16, 8), times
            assert [log.layers[k] for k in range(7)] == ["CPU"] * 2 + ["Meta"] * 5, (options, log.layers)
            assert dict(log.moved) == {f"blk.3.ffn_{part}_exps.weight": "CPU" for part in ("up", "down", "gate")}, options


def test_a_server_and_a_benchmark_start_with_the_options_and_run():
    with rig.servers(2) as addresses:
        for name in some(("llama", "glm4moe", "qwen35"), 2):
            model = model_file(name)
            n = {"llama": 6, "glm4moe": 5, "qwen35": 8}[name]
            flags = planned(model, ["cpu"] + ["gpu0"] * 2 + ["gpu1"] * (n - 3), "gpu1", names=names_of(addresses), context=1024, batch=2,
                            prompt=100, generate=16)
            assert " -c 2048 -np 2 " in flags, flags
            (times,), log = rig.served(model, first_line(flags), 100, 16)
            assert (times["prompt_n"], times["predicted_n"]) == (100, 16), times
            assert [log.layers[k] for k in range(n)] == ["CPU"] + ["RPC0"] * 2 + ["RPC1"] * (n - 3)
            bench = first_line(pathlib.Path("bench.txt").read_text())
            rows = [json.loads(line) for line in rig.run("llama-bench", f"-m {model} {bench} -t 1 -r 1 -o jsonl").splitlines() if line.startswith("{")]
            ngl = n + (name != "llama")  # a layer on the CPU; the head, and a block that predicts further tokens
            assert [(r["n_prompt"], r["n_gen"], r["n_gpu_layers"]) for r in rows] == [(100, 0, ngl), (0, 16, ngl)], rows


def test_a_plan_is_run_and_compared_with_its_prediction():
    """Two servers with one thread each. A layer on the CPU, a block that predicts a further token, a state: all are where planned."""
    with rig.servers(2) as addresses:
        for name, n in some((("tied", 6), ("glm4moe", 5), ("qwen35", 8)), 1):
            planned(model_file(name), ["cpu"] + ["gpu0"] * 2 + ["gpu1"] * (n - 3), "gpu1", names=names_of(addresses), context=512)
            program = pathlib.Path(rig.program("llama-server")).parent
            done = subprocess.run([SITU, "run", "plan.json", "--json", "--items", "3"], capture_output=True, text=True, timeout=120,
                                  env={**os.environ, "SITU_LLAMACPP": str(program)})
            assert done.returncode == 0, done.stderr
            found = json.loads(done.stdout)
            assert found["layers_as_planned"] and found["items"] == 3, found
            assert found["prefill_tokens_per_second"] > found["decode_tokens_per_second"] > 1, found
            assert {b["name"] for b in found["buffers"]} == {"CPU", *(f"RPC0[{a}]" for a in addresses)}, found
            assert all(b["measured_bytes"] > 0 for b in found["buffers"]), found


def memory_of(model, n_layers, n_gpus, on_cpu, context, addresses):
    """Mebibytes on each GPU: by the plan, and by llama.cpp."""
    share = (n_layers - on_cpu) // n_gpus
    layers = ["cpu"] * on_cpu + [f"gpu{min(i // share, n_gpus - 1)}" for i in range(n_layers - on_cpu)]
    flags = planned(model, layers, layers[-1], names=names_of(addresses), context=context)
    log = rig.loaded(model, first_line(flags))
    theirs = [sum(map(int, row)) for row in re.findall(r"^RPC\d+ (\d+) (\d+) (\d+)", log.text, re.M)]
    ours = [d["memory_bytes"] / 2**20 for d in json.loads(pathlib.Path("placed.json").read_text())["devices"] if d["name"] != "cpu"]
    return ours[:n_gpus], theirs


def test_check_has_the_memory_that_llama_cpp_says():
    rig.program("llama-fit-params")
    model = "wide.gguf"
    gguf_models.write(model, *gguf_models.llama(12, 1024, 16, 4, 2816, 4096, kind="Q8_0", head=64), weights=False)
    with rig.servers(1) as addresses:
        os.environ["SITU_LLAMACPP"] = str(pathlib.Path(rig.program("llama-fit-params")).parent)
        situ("place", model, "--platform", "cpu+rtx3090", "--unused", "cpu", "--context", "32768", "--names", names_of(addresses), "--steps", "20",
             "-o", "plan.json")
        rows = {row["device"]: row for row in situ_json("check", "plan.json")["engine_memory"]}
        off = rows["gpu0"]["planned_bytes"] / rows["gpu0"]["engine_bytes"] - 1
        assert abs(off) < 0.05, rows


def test_memory_is_what_llama_cpp_takes():
    """Within 5 %, from short to long contexts. It is most above where layers on the CPU keep llama.cpp from overlapping micro-batches,
    which is known only when the plan is."""
    with rig.servers(2) as addresses:
        for name in rounds(gguf_models.LARGE):
            keys, tensors = gguf_models.as_large_as(name)
            gguf_models.write(f"{name}.gguf", keys, tensors, weights=False)
            n = keys[f"{keys['general.architecture']}.block_count"]
            for at, (n_gpus, on_cpu) in enumerate(((1, 0), (2, 4), (2, 0), (1, 4))[: 4 if SHARE >= 100 else 2]):
                machine = json.loads(json.dumps(PLATFORM))
                machine["devices"] = [{"name": "cpu", "base": "cpu"}] + [{"name": f"gpu{i}", "base": "h100-80g"} for i in range(n_gpus)]
                machine["links"] = [{"from": "cpu", "to": f"gpu{i}", "kind": "pcie4"} for i in range(n_gpus)]
                pathlib.Path("rig.json").write_text(json.dumps(machine))
                for context in some((1024, 32768, 131072), at):
                    ours, theirs = memory_of(f"{name}.gguf", n, n_gpus, on_cpu, context, addresses[:n_gpus])
                    assert len(ours) == len(theirs), (ours, theirs)
                    assert all(0.99 < a / b < 1.05 for a, b in zip(ours, theirs)), (name, n_gpus, on_cpu, context, ours, theirs)


if __name__ == "__main__":
    raise SystemExit(main(globals()))
