#!/usr/bin/env python3
"""Training from outside: logs, interruptions and files of policies; which layers of a training step are recomputed.

    test_training.py SITU [NAME...]
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import llm_files
from test_cli import SITU, SMALL, environment, main, situ, thorough

LEARN = ["learn", "gdp", "builtin:layered?operators=30", "builtin:resnet50?image=32", "--platform", "2*p100-16g"]


@thorough
def test_a_killed_training_run_resumes_to_the_same_bits():
    situ(*LEARN, "--steps", 300, "-o", "whole.policy")
    run = subprocess.Popen([SITU, *LEARN, "--steps", "300", "-o", "part.policy", "--json"], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True, env=environment())
    for line in run.stdout:
        if json.loads(line)["step"] >= 70:
            break
    run.kill()
    run.wait()
    assert pathlib.Path("part.policy").read_bytes() != pathlib.Path("whole.policy").read_bytes()
    situ(*LEARN, "--steps", 300, "-o", "part.policy", "--resume")
    assert pathlib.Path("part.policy").read_bytes() == pathlib.Path("whole.policy").read_bytes()


def test_interrupted_training_writes_the_policy():
    run = subprocess.Popen([SITU, *LEARN, "--steps", "100000", "-o", "a.policy", "--json"], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True, env=environment())
    run.stdout.readline()
    run.send_signal(signal.SIGINT)
    last = json.loads(run.stdout.read().splitlines()[-1])
    assert run.wait() == 0 and last["stopped"] is True and last["steps"] < 100000 and len(last["problems"]) == 2
    situ("place", SMALL, *MACHINE, "--solver", "gdp", "--policy", "a.policy")
    situ("place", SMALL, *MACHINE, "--steps", 9, "--policy", "a.policy",
         err="no effect on solver auto; solver gdp or hsdag would use it")


def test_training_logs_every_step():
    lines = situ(*LEARN, "--steps", 5, "-o", "a.policy", "--json").splitlines()
    steps = [json.loads(line) for line in lines[:-1]]
    assert [s["step"] for s in steps] == [1, 2, 3, 4, 5]
    assert [s["model"] for s in steps] == ["layered", "resnet50", "layered", "resnet50", "layered"]
    assert json.loads(lines[-1])["numbers"] > 100000
    text = situ(*LEARN, "--steps", 5, "-o", "a.policy")
    assert all(word in text for word in ("reward from", "rewards", "layered", "trained", "5 steps"))


MACHINE = ["--platform", "cpu+v100-16g"]


def test_policies_that_are_none_are_named():
    situ(*LEARN, "--steps", 2, "-o", "a.policy")
    good = pathlib.Path("a.policy").read_bytes()
    pathlib.Path("cut.policy").write_bytes(good[:-1000])
    pathlib.Path("bad.policy").write_bytes(good[:5000] + bytes([good[5000] ^ 1]) + good[5001:])
    pathlib.Path("text.policy").write_text("hello\n")
    for name, what in (("cut", "damaged"), ("bad", "damaged"), ("text", "not a situ policy file"), ("none-such", "opened")):
        situ("place", SMALL, *MACHINE, "--solver", "gdp", "--policy", f"{name}.policy", code=3, err=f"{name}.policy: .*{what}")
        situ(*LEARN, "--from", f"{name}.policy", "-o", "b.policy", code=3, err=f"{name}.policy: .*{what}")
    situ("learn", "gdp", SMALL, "-o", "a.policy", "--resume", code=3, err="other problems")


def test_devices_left_empty_are_so_on_each_machine():
    # convolutions, far slower on the host: with the GPU empty the host is all there is
    def learned(*more):
        out = situ("learn", "gdp", "builtin:vgg16", *MACHINE, "--steps", 2, "-o", "a.policy", "--json", *more)
        return json.loads(out.splitlines()[-1])["problems"][0]["best_ns"]
    assert learned("--unused", "gpu0") > 2 * learned("--unused", "cpu")
    situ("learn", "gdp", SMALL, *MACHINE, "--unused", "gpu7", "-o", "b.policy", code=2, err="gpu7")


def test_layers_are_recomputed_one_by_one():
    step = ["builtin:llama?tokens=2432", "--platform", "cpu+8*a100-40g@nvlink", "--unused", "cpu", "--training",
            "--objective", "throughput", "--micro-batches", 32, "--granularity", "block", "--steps", 2000]
    all_kept = json.loads(situ("place", *step, "--json"))
    auto = json.loads(situ("place", *step, "--recompute", "auto", "-o", "plan.json", "--json"))
    note = auto["notes"][-1]
    chosen = json.loads(pathlib.Path("plan.json").read_text())["instance"]["recompute"]
    assert auto["value_ns"] < 0.9 * all_kept["value_ns"] and f"layers {chosen}" in note
    assert "no plan with any choice of layers takes less than 128 ms" in note  # which is its value
    assert round(auto["value_ns"] / 1e6) == 128
    situ("check", "plan.json")
    # a list is such a choice: the same layers give the same value, the first of as many do not
    assert json.loads(situ("place", *step, "--recompute", chosen, "--json"))["value_ns"] == auto["value_ns"]
    n = sum(int(b) - int(a) + 1 for a, b in (r.split("-") for r in chosen.split(",")))
    assert json.loads(situ("place", *step, "--recompute", n, "--json"))["value_ns"] > auto["value_ns"]
    # where units may be cut, what is chosen for whole blocks is taken, and said to prove nothing
    out = situ("place", *step[:-4], "--granularity", "operator", "--steps", 50, "--recompute", "auto")
    assert "layers are not chosen one by one" in " ".join(out.split())
    # stopped before it has a plan, the program leaves the choice to the rounds that recompute all layers, or half
    step[0], step[step.index("cpu+8*a100-40g@nvlink")] = "builtin:llama?tokens=2048", "cpu+4*a100-40g@nvlink"
    assert json.loads(situ("place", *step[:-1], 20, "--recompute", "auto", "--json"))["value_ns"] > 0
    # the program does not know that two memories share a capacity: where its plan does not fit, rounds choose
    gpus = [{"name": "gpu0", "base": "a100-80g", "memory_bytes": 42 * 10**9},
            {"name": "gpu1", "base": "a100-80g", "shares_capacity_with": "gpu0"}]
    links = [{"from": a, "to": b, "kind": "pcie4"} for a, b in (("cpu", "gpu0"), ("cpu", "gpu1"), ("gpu0", "gpu1"))]
    pathlib.Path("pool.json").write_text(json.dumps(
        {"situ_platform": 1, "name": "pool", "devices": [{"name": "cpu", "base": "cpu"}, *gpus], "links": links}))
    pooled = ["builtin:llama?tokens=2048&layers=8", "--platform", "pool.json", *step[3:], "--json"]
    found = {n: json.loads(situ("place", *pooled, "--recompute", n))["value_ns"] for n in ("all", "auto")}
    assert found["auto"] <= found["all"]
    for wrong in ("2-1", "0-3", "3,", "-", "1-5000", "2,x"):
        situ("place", *step, "--recompute", wrong, code=2, err="a list of layers")


def test_a_host_may_hold_the_states_of_the_optimizer():
    step = ["builtin:llama?tokens=256&layers=8", "--platform", "cpu+4*a100-80g", "--unused", "cpu", "--training", "--objective", "throughput",
            "--granularity", "block", "--steps", 300]
    own = json.loads(situ("place", *step, "--solver", "single", "--json"))
    away = json.loads(situ("place", *step, "--solver", "single", "--offload-optimizer", "-o", "plan.json", "--json"))
    states = max(d["memory_bytes"] for d in own["devices"]) - max(d["memory_bytes"] for d in away["devices"])
    assert states > 12 * 1.5e9 and away["value_ns"] > own["value_ns"]
    situ("check", "plan.json")
    assert json.loads(pathlib.Path("plan.json").read_text())["instance"]["offload_optimizer"] is True
    # one input on one of four GPUs takes what it takes where there is no other
    alone = ["builtin:gpt2?layers=4", "--training", "--offload-optimizer", "--solver", "single", "--json"]
    times = {json.loads(situ("place", *alone, "--platform", on))["value_ns"] for on in ("cpu+4*a100-40g", "cpu+a100-40g")}
    assert len(times) == 1, times
    # the smallest machine needs no room on its GPUs for what its host holds
    goal = ["builtin:llama?tokens=256&layers=24", "--training", "--goal", "latency<=60s", "--granularity", "block", "--steps", 200, "--json",
            "--unused", "cpu", "--among", "cpu+a100-40g,cpu+a100-80g,cpu+2*a100-80g"]
    whole, held = (json.loads(situ("size", *goal, *more)) for more in ([], ["--offload-optimizer"]))
    assert whole["answer"] == "cpu+2*a100-80g" and held["answer"] == "cpu+a100-40g", (whole, held)
    # of many inputs a step, each takes its share of that time
    many = json.loads(situ("place", *step, "--solver", "single", "--offload-optimizer", "--micro-batches", 32, "--json"))
    assert many["value_ns"] < away["value_ns"] / 2
    # what does not fit beside its states does without them
    small = [*step[:2], "cpu+2*a100-40g@nvlink", *step[3:], "--micro-batches", 8]
    small[0] = "builtin:llama?tokens=256&layers=24"
    situ("place", *small, code=4, out="infeasible")
    situ("place", *small, "--offload-optimizer", out="in the memory of the host")
    situ("place", *small, "--offload-optimizer", "--replicate", code=2, err="add zero 1")
    situ("place", *small, "--offload-optimizer", "--replicate", "--zero", 1, out="proved optimal")
    situ("place", "builtin:bert-base", *MACHINE, "--offload-optimizer", code=2, err="add training")
    situ("place", "builtin:bert-base", "--platform", "v100-16g", "--training", "--offload-optimizer", code=2, err="one machine with a host")


def test_slips_of_learn_are_usage_errors():
    situ("learn", "gdp", SMALL, code=2, err="-o POLICY")
    situ("learn", "gdp", "-o", "a.policy", code=2, err="needs a MODEL")
    situ("learn", "gpd", SMALL, "-o", "a.policy", code=2, err="there is no learner 'gpd'")
    situ("learn", "gdp", "--bare", "-o", "a.policy", code=2, err="--from")
    situ("learn", "gdp", SMALL, "-o", "no/such/a.policy", code=6, err="no/such")
    assert os.listdir() == []


def test_zero_bubble_schedules_idle_less_and_keep_more():
    """Four stages and 8 micro-batches: of equal ones 1F1B waits 3 (F + B + W), ZB-H1 3 (F + B - W), and all stages keep four inputs
    where the last kept one. The stage that is busiest takes M times its load in both."""
    step = ["builtin:gpt2?layers=8", "--training", "--platform", "4*a100-80g", "--objective", "throughput", "--granularity", "layer",
            "--steps", 200]
    many = [*step, "--micro-batches", 8]
    plain, delayed = (json.loads(situ("place", *many, "--schedule", name, "--json", "-o", f"{name}.json")) for name in ("1f1b", "zb-h1"))
    assert delayed["value_ns"] == plain["value_ns"] and delayed["outcome"] == "optimal", (plain["value_ns"], delayed["value_ns"])
    assert 8 * plain["value_ns"] <= delayed["step_ns"] < plain["step_ns"] and delayed["bubble"] < 0.75 * plain["bubble"], (plain, delayed)
    situ("check", "zb-h1.json")
    kept = [[d["memory_bytes"] for d in found["devices"]] for found in (plain, delayed)]
    assert all(a <= b for a, b in zip(*kept)) and kept[0][-1] < kept[1][-1], kept
    situ("place", *step, "--schedule", "zb-h1", code=2, err="schedule zb-h1 needs micro_batches")
    situ("place", *many, "--schedule", "zb-h1", "--recompute", "all", code=2, err="leave recomputation out")
    for writer in ("torchtitan", "megatron"):
        situ("place", *many, "--schedule", "zb-h1", "--write", f"{writer}=out", code=6, err="has no schedule zb-h1")
    situ("place", *many, "--write", "torchtitan=out")
    assert 'pipeline_parallel_schedule = "1F1B"' in pathlib.Path("out").read_text()


def test_chunks_idle_less_and_engines_get_their_layers():
    """Narayanan et al. 2021: with V chunks on each of four devices they wait 3 / V of an input's work, not 3. A V keeps as much on
    all devices as the first one keeps by 1F1B."""
    many = ["builtin:llama?layers=16&tokens=2048", "--training", "--optimizer", "sgd", "--platform", "4*a100-80g@nvlink", "--objective", "throughput", "--granularity", "layer",
            "--steps", 400, "--micro-batches", 8]
    found = {}
    for name, more in (("1f1b", []), ("interleaved", []), ("interleaved", ["--chunks", 4]), ("zb-v", [])):
        key = name + "".join(str(m) for m in more)
        found[key] = json.loads(situ("place", *many, "--schedule", name, *more, "--json", "-o", f"{key}.json"))
        situ("check", f"{key}.json")
    steps = [found[k]["step_ns"] for k in ("1f1b", "interleaved", "interleaved--chunks4")]
    assert steps[0] > steps[1] > steps[2] and found["interleaved"]["bubble"] < 0.7 * found["1f1b"]["bubble"], steps
    assert found["zb-v"]["bubble"] < 0.5 * found["1f1b"]["bubble"], found["zb-v"]["bubble"]
    first = found["1f1b"]["devices"][0]["memory_bytes"]
    assert all(d["memory_bytes"] < 1.2 * first for d in found["zb-v"]["devices"]), (first, found["zb-v"]["devices"])
    situ("place", *many, "--schedule", "interleaved", "--write", "megatron=out")
    words = pathlib.Path("out").read_text()
    assert words.startswith("--pipeline-model-parallel-size 4 ") and ("-virtual-pipeline-stage 2" in words or words.count("|") == 7), words
    situ("place", *many, "--schedule", "zb-v", "--write", "torchtitan=out")
    stages = pathlib.Path("out").read_text()
    assert 'pipeline_parallel_schedule = "ZBVZeroBubble"' in stages and stages.count('\n  ["') == 8, stages
    assert "gradient" not in stages, stages
    situ("place", *many, "--schedule", "zb-v", "--write", "megatron=out", code=6, err="Megatron-LM has no schedule zb-v")
    situ("place", *many, "--schedule", "interleaved", "--replicate", code=2, err="leave replicas out")


def test_groups_train_and_the_judge_agrees():
    """Groups of two: half of the products, whole residual streams, twice as many all-reduces as forward passes have. Their memory is
    that of both; with all layers recomputed the judge counts what runs again as often as there are members."""
    step = ["builtin:llama?layers=8&hidden=2048&heads=16&kv_heads=16&ffn=5632&vocab=32000&tokens=2048&context=0", "--training", "--objective",
            "throughput", "--micro-batches", 8, "--granularity", "layer", "--steps", 300, "--platform", "4*a100-80g@nvlink"]
    for more in ([], ["--recompute", "all"], ["--recompute", "2,5"], ["--replicate", "--zero", 2], ["--schedule", "zb-v"]):
        single, pairs = (json.loads(situ("place", *step, *more, "--tensor-parallel", k, "--json", "-o", f"{k}.json")) for k in (1, 2))
        situ("check", "2.json")
        assert pairs["groups"] and single["value_ns"] < pairs["value_ns"] < 2 * single["value_ns"], (more, single["value_ns"], pairs["value_ns"])
        both = [sum(d["memory_bytes"] for d in found["devices"]) for found in (single, pairs)]
        assert both[0] * 0.5 < both[1] < 2 * both[0], (more, both)
    assert "the group gpu0-3 alone" in situ("place", *step, "--tensor-parallel", 4)
    situ("place", *step, "--tensor-parallel", 2, "--write", "megatron=out")
    assert pathlib.Path("out").read_text().startswith("--pipeline-model-parallel-size 2 --tensor-model-parallel-size 2 ")
    for schedule in ("1f1b", "zb-v"):  # backward operators are where their forward ones are
        call = [*step, "--schedule", schedule]
        placed = json.loads(situ("place", *call, "--write", "torchtitan=stages", "--json"))
        row = json.loads(situ("judge", "stages", *call, "--json"))["rows"][0]
        assert row["value_ns"] == placed["value_ns"], (schedule, row, placed["value_ns"])


def test_devices_of_another_size_than_the_groups_are_no_part_of_false_proofs():
    """gpu0 alone needs 5.6 GB. Sizes of training in groups of two are those of both members, which overstates it there."""
    step = ["builtin:gpt2?layers=4&seq=512&batch=8", "--training", "--objective", "throughput", "--micro-batches", 4, "--steps", 20]
    machine = ["--platform", "gpu(5.7GB,900GB/s,90TF)+2*rtx3060(0.1GB)"]
    situ("place", *step, *machine, "--unused", "gpu1", "--unused", "gpu2")
    situ("place", *step, *machine, "--tensor-parallel", 2, "--unused", "gpu1-2", code=3, err="leave it out")
    situ("place", *step, "--platform", "cpu+2*v100-16g", "--tensor-parallel", 2)


def test_devices_too_small_for_the_step_are_left_out_beside_groups():
    """A host of 1 GB does not hold the step, whose sizes count as split: it is left out, which scope and note say, and so do the
    bound of `auto`, which covers it nowhere, and the plan file. Who pins something there is refused."""
    step = ["builtin:gpt2?layers=4&seq=512&batch=8", "--training", "--objective", "throughput", "--micro-batches", 4, "--steps", 20]
    machine = ["--platform", "cpu(1GB,80GB/s,2TF)+4*v100-16g", "--tensor-parallel"]
    named = json.loads(situ("place", *step, *machine, 2, "--unused", "cpu", "--json"))
    found = json.loads(situ("place", *step, *machine, 2, "-o", "plan.json", "--json"))
    assert "leave cpu unused" in found["space"] and found["value_ns"] == named["value_ns"], found["space"]
    assert (found["space"], found["lower_bound_ns"]) == (named["space"], named["lower_bound_ns"])
    assert any("left out: cpu, no group of 2" in note for note in found["notes"]), found["notes"]
    assert not any("left out" in note for note in named["notes"]), named["notes"]
    situ("check", "plan.json", "--require-proof" if found["outcome"] == "optimal" else "--json")
    text = " ".join(situ("place", *step, *machine, "auto").split())
    assert "no plan whose groups are all of one of these, without cpu beside them, takes less than" in text, text
    text = " ".join(situ("place", *step, "--platform", "cpu+4*v100-16g", "--tensor-parallel", "auto").split())
    assert "no plan whose groups are all of one of these takes less than" in text, text
    pathlib.Path("pins.json").write_text(json.dumps({found["placement"].__iter__().__next__(): "cpu"}))
    situ("place", *step, *machine, 2, "--fix", "pins.json", code=3, err="leave it out")


def test_training_of_a_gguf_is_not_by_llamacpp():
    """PyTorch and its like train, with activations of the type of the weights: 2 bytes of F16, of which a norm of 64 tokens of width 256
    reads and writes as many. llama.cpp keeps 4 and has rates of its own."""
    for kind, element in (("F16", 2), ("BF16", 2), ("F32", 4)):
        keys, tensors = llm_files.dense("llama", 2, 256, 4, 4, 512, 1024, kind=kind, out_kind=kind)
        llm_files.write("model.gguf", keys, tensors)
        step = ("model.gguf", "--prompt", 64, "--platform", "a100-80g")
        norm = [row for row in situ("costs", *step, "--training").splitlines() if row.startswith("blk.0.attn_norm,")]
        assert norm[0].split(",")[4] == str(2 * 64 * 256 * element + 256 * 4), norm
        assert "llama.cpp" not in situ("place", *step, "--training") and "llama.cpp" in situ("place", *step)
        assert "llama.cpp" in situ("place", *step, "--training", "--cost-engine", "llama.cpp")


def test_activations_that_never_fit_are_refused_with_what_they_need():
    """A training step of VGG-16 with 512 pictures keeps what its first two convolutions and ReLUs make, 64 channels of 224 x 224 in f32
    each, until the backward pass: 26.3 GB, and more of the stages behind them, where two GPUs hold 32 GB."""
    call = ["place", "builtin:vgg16?batch=512", "--training", "--platform", "2*v100-16g", "--time-limit", "20", "-o", "none.json"]
    out = situ(*call, code=4)
    assert re.search("reason +memory: at one moment weights and tensors in use take at least", out), out
    kept = 4 * 512 * 64 * 224 * 224 * 4
    found = re.search(r"take at least\s+([\d.]+) GB", out)
    assert kept < float(found[1]) * 1e9 and float(found[1]) > 32, out
    situ("check", "none.json", out="verified: no plan exists")


def test_memory_that_a_gpu_shares_with_its_host_is_said_once():
    """The 128 GB of a Ryzen AI Max, which are those of its integrated GPU."""
    out = situ("place", "builtin:gpt2?batch=600", "--training", "--platform", "ryzen-ai-max-395+radeon8060s", "--time-limit", "5", code=4)
    assert re.search(r"all\s+memories\s+hold\s+128\s+GB", out), out


def test_without_a_host_a_note_says_that_the_first_device_has_no_replicas():
    call = ["builtin:gpt2?layers=2&hidden=64&heads=2&seq=16&vocab=100", "--training", "--objective", "throughput", "--steps", "10"]
    for platform, more, noted in (("2*rtx4090", ["--replicate"], True), ("2*rtx4090", [], False), ("cpu+2*rtx4090", ["--replicate"], False)):
        text = " ".join(situ("place", *call, "--platform", platform, *more).split())
        assert ("no device is a host, so gpu0 counts as one" in text) == noted, text


if __name__ == "__main__":
    sys.exit(main(globals()))
