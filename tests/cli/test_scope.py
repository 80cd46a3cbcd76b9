#!/usr/bin/env python3
"""The scope of proofs: whatever says "optimal", "gap", "verified", "impossible" or "infeasible" says among which plans.

    test_scope.py SITU [NAME...]
"""
import json
import pathlib
import re
import sys

from test_cli import SHARE, SMALL, main, situ, situ_json, some
from test_language_models import language_model

WHOLE = "plans that keep every operator whole on one device"
CLAIM = re.compile(r"optimal|\bgap\b|verified|no split|impossible|infeasible|lower bound|best bound|no plan is|none of the plans")
SIZED = ["--among", "p.json", "--goal"]


def write(name, content):
    pathlib.Path(name).write_text(json.dumps(content))
    return name


def diamond(**of_first):
    """a -> b, c -> d; with groups, those of a and b."""
    names = "abcd"
    operators = [{"name": n, "kind": "MatMul" if n in "ab" else "Add", "dtype": "f32", "flops": 10**6, "moved_bytes": 4000, "weight_bytes": 1000,
                  **(of_first if n in "ab" else {})} for n in names]
    tensors = [{"name": f"{u}{v}", "from": u, "to": [v], "dtype": "f32", "dims": [250], "bytes": 1000} for u, v in ("ab", "ac", "bd", "cd")]
    return write("g.json", {"situ_graph": 1, "name": "diamond", "operators": operators, "tensors": tensors})


def machine(*bytes_of_accelerators, host=10**9):
    devices = [{"name": "host", "class": "h", "host": True, "peak_tflops": {"f32": 0.1, "f16": 0.1}, "memory_gb_per_s": 10, "memory_bytes": host}]
    devices += [{"name": f"g{k}", "class": "g", "peak_tflops": {"f32": 1, "f16": 1}, "memory_gb_per_s": 100, "memory_bytes": b}
                for k, b in enumerate(bytes_of_accelerators)]
    links = [{"from": "host", "to": d["name"], "latency_ns": 1000, "bytes_per_s": 10**10} for d in devices[1:]]
    return write("p.json", {"situ_platform": 1, "name": "p", "devices": devices, "links": links})


def llama(layers=3):
    """Layers of 17.3 MB (4 x 256^2 + 3 x 256 x 11008 weights of 2 bytes), beginning and end of 0.5 MB each."""
    return f"builtin:llama?layers={layers}&hidden=256&vocab=1000&tokens=16"


LAYER = 2 * (4 * 256 * 256 + 3 * 256 * 11008)


def squeeze(text):
    return re.sub(r"\s+", " ", text)


def holds(text, words, where):
    """A text that claims something says the words, and nothing else than them of the scope."""
    text = squeeze(text)
    assert not CLAIM.search(text) or words in text, f"{where} claims without '{words}':\n{text}"
    assert CLAIM.search(text), f"{where} claims nothing: the test is void\n{text}"


def every_output(call, words, codes, commands=("compare",), goal="latency<=1ns"):
    """place, check, explain, report, and the other commands, with one restriction."""
    call = [*call, "--platform", "p.json", "--steps", "60"]
    text = situ("place", *call, "-o", "plan.json")
    holds(text, f"among {words}", "place")
    placed = situ_json("place", *call)
    assert placed["space"] == words, placed["space"]
    assert [row["code"] for row in placed["scope"]] == codes, placed["scope"]
    plan = json.loads(pathlib.Path("plan.json").read_text())
    assert plan["scope"] == placed["scope"], "a plan file has the scope too"
    holds(situ("check", "plan.json"), f"among {words}", "check")
    checked = situ_json("check", "plan.json")
    assert (checked["space"], checked["scope"]) == (words, placed["scope"]), checked
    holds(situ("explain", "plan.json", "--no-what-if") + " no split", f"among {words}", "explain")
    assert situ_json("explain", "plan.json", "--no-what-if")["space"] == words
    situ("report", "plan.json", "-o", "page.html")
    assert words in pathlib.Path("page.html").read_text(), "the page"
    for command in commands:
        if command == "size":
            call = [w for w in call if w not in ("--platform", "p.json")]
            holds(situ("size", *call, *SIZED, goal, code=4), f"impossible: proved that no plan meets the goal among {words}", "size")
            assert situ_json("size", *call, *SIZED, goal, code=4)["rows"][0]["space"] == words
            continue
        few = ["--solver", "single"] if command == "compare" and SHARE < 100 else []
        holds(situ(command, *call, *few) + " lower bound", f"among {words}", command)
        output = situ_json(command, *call, *few)
        assert (output["space"], output["scope"]) == (words, placed["scope"]), output
    return placed


OPERATOR = ["--granularity", "operator", "--fusion", "none"]


def test_without_restrictions_plans_keep_operators_whole():
    machine(10**9, 10**9)
    every_output([diamond(), *OPERATOR], WHOLE, ["operators"], ("compare", "pareto", "size"))


def test_pins_are_stated():
    machine(10**9, 10**9)
    pins = ["--fix", write("one.json", {"a": "host"})]
    every_output([diamond(), *OPERATOR, *pins], f"{WHOLE}, 1 of 4 operators pinned", ["operators", "pins"], ("compare", "pareto"))
    pins = ["--fix", write("all.json", {n: "g0" for n in "abcd"})]
    every_output([diamond(), *OPERATOR, *pins], f"{WHOLE}, all 4 operators pinned", ["operators", "pins"])
    output = squeeze(situ("check", "plan.json", "--require-proof"))
    assert "verified" in output and "all 4 operators pinned" in output, output


def test_unused_devices_are_stated():
    machine(10**9, 10**9)
    call = [diamond(), *OPERATOR, "--unused", "g1"]
    every_output(call, f"{WHOLE} and leave g1 unused", ["operators", "unused"], ("compare", "pareto", "size"))
    machine(*[10**9] * 5)
    unused = [w for k in range(4) for w in ("--unused", f"g{k}")]
    every_output([diamond(), *OPERATOR, *unused], f"{WHOLE} and leave 4 of 6 devices unused", ["operators", "unused"])


def test_groups_of_the_graph_and_rules_are_stated():
    machine(10**9, 10**9)
    every_output([diamond(colocation=0), *OPERATOR], f"{WHOLE}, 1 colocation group together", ["operators", "colocation"])
    diamond()
    every_output(["g.json", *OPERATOR, "--not", "MatMul=g0"], f"{WHOLE}, 2 operators where rules allow", ["operators", "rules"])
    every_output(["g.json", *OPERATOR, "--reserve", "g0=1MB"], f"{WHOLE} and leave 1.00 MB free over all memories", ["operators", "reserve"])
    rules = write("rules.json", {"situ_rules": 1, "keep_together": [["a", "d"]]})
    call = ["g.json", *OPERATOR, "--rules", rules]
    every_output(call, f"{WHOLE}, groups of rules whole", ["operators", "granularity"], ("compare", "pareto", "size"))


def test_granularities_are_stated():
    machine(10**9, 10**9)
    for which, words, codes in some([("fused", "kernels whole", ["kernels"]), ("layer", "layers whole, kernels whole", ["granularity", "kernels"]),
                                     ("block", "blocks whole, kernels whole", ["granularity", "kernels"])], 1):
        every_output([llama(2), "--granularity", which], f"{WHOLE}, {words}", ["operators", *codes], ("compare", "size"))


def test_pipelines_tell_contiguous_parts_and_replicas():
    machine(10**9, 10**9)
    call = [diamond(), *OPERATOR, "--objective", "throughput"]
    both = f"{WHOLE}, give each device one contiguous part and use no replicas"
    every_output(call, both, ["operators", "contiguous", "replicas"], ("compare", "size"), "period<=1ns")
    every_output([*call, "--free"], f"{WHOLE} and use no replicas", ["operators", "replicas"])
    every_output([*call, "--free", "--replicate"], WHOLE, ["operators"])


def test_limits_and_calls_are_stated():
    machine(10**9, 10**9)
    call = [diamond(), *OPERATOR]
    every_output([*call, "--execution", "calls", "--calls", "2"], f"{WHOLE} and make at most 2 calls on each accelerator", ["operators", "calls", "hosts"])
    every_output([*call, "--max-period", "1"], f"{WHOLE} and stay within the limit on period (1.00 ms)", ["operators", "limit"])
    every_output([*call, "--max-latency", "1"], f"{WHOLE} and stay within the limit on latency (1.00 ms)", ["operators", "limit"])


def test_limits_of_language_models_are_stated():
    machine(10**9, 10**9)
    words = f"{WHOLE} and stay within the limit on time to first token (1.00 s)"
    call = [language_model(), "--platform", "p.json", "--granularity", "fused", "--prompt", "64", "--generate", "4", "--max-ttft", "1s", "--steps", "60"]
    assert f"among {words}" in squeeze(situ("place", *call, "-o", "plan.json")) and situ_json("place", *call)["space"] == words
    assert f"among {words}" in squeeze(situ("check", "plan.json"))
    found = squeeze(situ("place", *call[:-4], "--max-ttft", "1ns", *call[-2:], code=4))
    assert f"no plan that keeps every operator whole on one device takes less than" in found, found


def test_what_the_machine_is_taken_for_is_told_apart():
    """It narrows nothing: codes have it, words and title too."""
    machine(10**9, 10**9)
    call = [diamond(), *OPERATOR]
    for options, code in ((["--overlap", "none"], "overlap"), (["--contention", "none"], "contention"), (["--copies", "2"], "copies"),
                          (["--execution", "calls"], "hosts")):
        placed = every_output([*call, *options], WHOLE, ["operators", code])
        assert [row["narrows"] for row in placed["scope"]] == [True, False], placed["scope"]
        words = f"{WHOLE} ({placed['scope'][1]['words']})"  # it has no title that says so
        assert f"among {words}" in squeeze(situ("size", *call, *options, *SIZED, "latency<=1ns", code=4))


def test_the_form_of_writers_is_told_of_the_plan():
    """The bound holds for all plans, so the form narrows the plan alone."""
    machine(10**9, 10**9)
    words = f"{WHOLE}, kernels whole; the plan, not the bound, has the form that its writers need: whole layers"
    call = ["place", llama(2), "--platform", "p.json", "--steps", "60", "--granularity", "fused", "--write", "vllm=out", "-o", "plan.json"]
    assert words in squeeze(situ(*call)) and words in situ_json(*call)["space"]
    assert words in squeeze(situ("check", "plan.json")) and situ_json("check", "plan.json")["scope"][-1]["code"] == "form"


def test_infeasible_says_of_which_plans():
    """Three layers on two devices of one and a half each: whole layers do not fit, their operators do."""
    room = int(1.75 * LAYER)
    machine(room, host=room)
    output = squeeze(situ("place", llama(), "--platform", "p.json", "--granularity", "layer", code=4))
    assert "no plan that keeps layers whole" in output and f"among {WHOLE}, layers whole" in output, output
    found = situ_json("place", llama(), "--platform", "p.json", "--granularity", "layer", code=4)
    assert "no plan that keeps layers whole" in found["reason"] and found["space"].startswith(f"{WHOLE}, layers whole"), found
    output = squeeze(situ("size", llama(), *SIZED, "latency<=1s", "--granularity", "layer", code=4))
    assert "impossible" in output and f"among {WHOLE}, layers whole" in output, output


def test_copies_of_tied_embeddings_are_stated():
    """One table would do where both ends are on one device, so that no plan fits is only said of plans with both copies."""
    call = ["place", "builtin:gpt2?layers=1", "--training", "--granularity", "layer", "--objective", "throughput", "--contiguous", "--steps", "20"]
    both = "both copies of tied embeddings"
    assert both in situ_json(*call, "--platform", "2*a100-40g", "--micro-batches", "4")["space"]
    assert both not in situ_json(*call, "--platform", "2*a100-40g")["space"]
    assert both in squeeze(situ(*call, "--platform", "gpu(1GB,900GB/s,90TF)", "--micro-batches", "4", code=4))


def test_a_default_makes_nothing_infeasible():
    room = int(1.75 * LAYER)
    machine(room, host=room)
    call = [llama(), "--steps", "300"]
    placed = situ_json("place", *call, "--platform", "p.json", "-o", "plan.json")
    assert placed["value_ns"] and placed["space"] == f"{WHOLE}, kernels whole", placed["space"]
    assert any("no plan keeps layers whole" in note for note in placed["notes"]), placed["notes"]
    assert not any("use --granularity operator" in note for note in placed["notes"]), placed["notes"]
    situ("check", "plan.json", out="every rule holds")
    sized = situ_json("size", *call, *SIZED, "latency<=1s")
    assert sized["answer"] == "p.json" and sized["rows"][0]["layers_split"] is True, sized
    assert "keeps layers whole, so they may be split" in squeeze(situ("size", *call, *SIZED, "latency<=1s"))
    machine(4 * LAYER, host=4 * LAYER)
    assert "layers whole" in situ_json("place", *call, "--platform", "p.json")["space"], "where whole layers fit they stay whole"


def test_a_goal_that_whole_layers_miss_is_not_impossible():
    """Where a plan that splits layers is faster than every plan of whole ones, the default does not hide it."""
    machine(int(1.7 * LAYER), host=10**9)
    call = [llama(), "--steps", "2000"]
    layers = situ_json("place", *call, "--platform", "p.json", "--granularity", "layer", "--tolerance", "0", "--min-gain", "0")
    fused = situ_json("place", *call, "--platform", "p.json", "--granularity", "fused", "--tolerance", "0", "--min-gain", "0")
    assert fused["value_ns"] < layers["verified_ns"], "the case must tell them apart"
    sized = situ_json("size", *call, *SIZED, f"latency<={fused['value_ns']}ns")
    assert sized["answer"] == "p.json", sized


def test_whole_layers_do_not_hide_what_a_changed_machine_could_do():
    """Without g1 three layers must share two devices of 1.75 layers each."""
    room = int(1.75 * LAYER)
    machine(room, room, host=room)
    situ("place", llama(), "--platform", "p.json", "--steps", "300", "-o", "plan.json", out="layers whole")
    output = situ_json("explain", "plan.json", "--steps", "300")["what_if"]
    without = [w for w in output if w["change"].startswith("without ")]
    assert without and all(w["outcome"] != "infeasible" for w in without), without
    assert any(w["change"].endswith(", layers split") for w in without), without


def test_a_pin_on_an_unused_device_is_a_conflict():
    machine(10**9, 10**9)
    pins = ["--fix", write("pins.json", {"b": "g1"}), "--unused", "g1"]
    for command in ("place", "compare"):
        output = squeeze(situ(command, diamond(), *OPERATOR, "--platform", "p.json", "--steps", "60", *pins, code=4))
        assert "unused: b is pinned to g1, which must stay unused" in output, output
    every = ["--fix", write("every.json", {n: "g1" for n in "abcd"}), "--unused", "g1"]
    situ("place", "g.json", *OPERATOR, "--platform", "p.json", *every, code=4, out="which must stay unused")


def test_what_is_left_out_takes_no_part():
    call = ("place", SMALL, "--granularity", "operator", "--steps", "50", "--solver")
    for name in (situ_json(*call, "auto")["bound"], "critical_path"):
        found = situ_json(*call, f"auto,-{name}")
        assert found["bound"] not in ("", name), found
    situ(*call, "heft,-heft", code=5)
    decoder = ("place", "builtin:llama?layers=2&tokens=1&context=64", "--steps", "50", "--solver")
    assert situ_json(*decoder, "auto, -tabu")["scope"] == situ_json(*decoder, "auto")["scope"] != \
        situ_json(*decoder, "heft")["scope"]
    situ(*call, "auto,-hefty", code=2, err="there is no solver or bound 'hefty'; did you mean heft")
    situ(*call, "auto,-", code=2, err="has an empty name")


if __name__ == "__main__":
    sys.exit(main(globals()))
