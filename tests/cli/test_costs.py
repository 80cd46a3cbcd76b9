#!/usr/bin/env python3
"""Costs as tables, and fusion from outside.

    test_costs.py SITU [NAME...]
"""
import json
import os
import pathlib
import re
import sys

from test_cli import QUICK, SMALL, main, situ, situ_json

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lab"))
from onnx_writer import graph, model, node, value


def test_times_of_the_cpu_count_on_this_machine_and_nowhere_in_silence():
    """situ profile measures the class cpu; that of this-host is called cpu-N-cores."""
    situ("costs", SMALL, "--platform", "cpu", "-o", "times.json")
    output = situ("place", SMALL, "--platform", "this-host", "--cost-table", "times.json", "--steps", "50")
    costs = re.search(r"costs:.*?by the table", output, re.S).group()
    n, of = re.search(r"(\d+) of (\d+) operators by", " ".join(costs.split())).groups()
    assert n == of and "estimates for cpu" not in output, output
    both = r'times.json: has times of "cpu", but the platform .* has only "v100-16g".*situ profile --class'
    situ("place", SMALL, "--platform", "2*v100-16g", "--cost-table", "times.json", code=3, err=both)


def with_measured(row, path="times.json"):
    table = json.loads(pathlib.Path(path).read_text())
    pathlib.Path("elsewhere.json").write_text(json.dumps({**table, "measured": [row]}))


def test_times_of_another_machine_are_not_those_of_this_host():
    """A profile names the CPU that it measured. Where that is not this one, this-host does not take its times; any platform
    that is named does, and so does this-host where a GPU was measured."""
    situ("costs", SMALL, "--platform", "cpu", "-o", "times.json")
    with_measured({"class": "cpu", "machine": "Ternary 3000", "device": "CPU", "threads": 1})
    for tables in (["--cost-table", "elsewhere.json"], ["--cost-table", "gpu.csv", "--cost-table", "elsewhere.json"]):
        situ("costs", SMALL, "--platform", "v100-16g", "-o", "gpu.csv")
        situ("place", SMALL, "--platform", "this-host", *tables, "--steps", "50", code=3, err="Ternary 3000.*situ profile" if len(tables) == 2 else "v100|Ternary")
    situ("place", SMALL, "--platform", "cpu", "--cost-table", "elsewhere.json", "--steps", "50")
    with_measured({"class": "rtx3090-24g", "machine": "Ternary 3000", "device": "CUDA"})
    situ("place", SMALL, "--platform", "this-host", "--cost-table", "elsewhere.json", "--steps", "50")
    with_measured({"machine": "Ternary 3000"})
    situ("place", SMALL, "--platform", "this-host", "--cost-table", "elsewhere.json", code=3, err='a "class"')


def test_a_plan_without_any_measured_time_is_refused():
    """The CPU was measured, and the estimates of a GPU are better: then nothing of the plan was measured."""
    situ("costs", SMALL, "--platform", "cpu", "-o", "cpu.json")
    situ("costs", SMALL, "--platform", "v100-16g", "-o", "gpu.json")
    call = ["place", SMALL, "--platform", "cpu+v100-16g", "--steps", "50", "--cost-table", "cpu.json"]
    situ(*call, code=3, err='cpu.json: has times of "cpu", but the best plan is on "v100-16g" alone.*situ profile')
    situ(*call, "--cost-table", "gpu.json")
    one = json.loads(pathlib.Path("cpu.json").read_text())
    pathlib.Path("one.json").write_text(json.dumps({**one, "operators": dict(list(one["operators"].items())[:1]), "groups": []}))
    situ(*call[:-1], "one.json")  # a question about one operator
    situ(*call, "--unused", "gpu0")
    pathlib.Path("links.json").write_text(json.dumps({"situ_costs": 1, "unit": "us", "operators": {}, "links": [
        {"from": "cpu", "to": "v100-16g", "latency": 9, "bytes_per_s": 1e10}]}))
    situ("place", SMALL, "--platform", "cpu+v100-16g", "--steps", "50", "--cost-table", "links.json")


def test_this_host_has_the_cores_that_the_process_may_use():
    """As under taskset: with one core of several, the class is that of one core."""
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        classes = situ("costs", SMALL, "--platform", "this-host").splitlines()[0].split(",")[5:]
        assert classes == ["cpu-1-cores"]
    finally:
        os.sched_setaffinity(0, allowed)


def test_tables_of_unlike_devices_are_joined():
    """Two tables in unlike units: each class keeps the sum of its times, and every operator its own where it has one."""
    situ("costs", SMALL, "--platform", "cpu", "-o", "cpu.json")
    situ("costs", SMALL, "--platform", "v100-16g", "-o", "gpu.json")
    gpu = json.loads(pathlib.Path("gpu.json").read_text())
    for times in [*gpu["operators"].values(), *(group["times"] for group in gpu["groups"])]:
        times["v100-16g"] /= 1000
    pathlib.Path("gpu.json").write_text(json.dumps({**gpu, "unit": "us", "links": [
        {"from": "cpu", "to": "v100-16g", "latency": 50, "bytes_per_s": 1e9}]}))

    def sums(*call):
        table = json.loads(situ("costs", SMALL, *call, "--json"))
        rows = [*table["operators"].values(), *(group["times"] for group in table["groups"])]
        return {name: sum(row[name] for row in rows) for name in rows[0]}

    both = ["--platform", "cpu+v100-16g", "--cost-table", "cpu.json", "--cost-table", "gpu.json"]
    assert sums(*both) == {**sums("--platform", "cpu"), **sums("--platform", "v100-16g")}
    assert sums(*both[:2], "--cost-table", "cpu.json,gpu.json") == sums(*both)
    output = situ("place", SMALL, *both, "--steps", "50", "-o", "plan.json")
    assert "estimates for" not in output, output
    situ("check", "plan.json")
    pathlib.Path("away").mkdir(exist_ok=True)
    for name in ("plan.json", "cpu.json", "gpu.json"):
        pathlib.Path(name).rename(pathlib.Path("away") / name)
    situ("check", "away/plan.json")
    situ("place", SMALL, "--platform", "cpu", "--cost-table", "away/cpu.json", "--cost-table", "away/cpu.json", code=3,
         err="for which an earlier table has one")
    pathlib.Path("bad.json").write_text('{"situ_costs": 1, "unit": "weeks", "operators": {}}')
    situ("place", SMALL, "--platform", "cpu", "--cost-table", "away/cpu.json,bad.json", code=3, err='bad.json: "unit": must be')


def test_a_memory_that_unlike_devices_share_is_noted():
    def notes(key, links=()):
        gpu = {"name": "gpu", "memory_gb": 16, "memory_gb_per_s": 60, "launch_us": 20, "peak_tflops": {"f32": 4}}
        npu = {"name": "npu", key: "gpu", "memory_gb_per_s": 60, "launch_us": 20, "peak_tflops": {"f32": 2}}
        machine = {"situ_platform": 1, "name": "soc", "devices": [gpu, npu], "links": list(links)}
        pathlib.Path("soc.json").write_text(json.dumps(machine))
        return situ_json("place", SMALL, "--platform", "soc.json", "--steps", "20")["notes"]

    assert any("npu and gpu" in note and "shares_capacity_with" in note for note in notes("shares_memory_with"))
    both = [{"from": a, "to": b, "latency_us": 40, "gb_per_s": 10} for a, b in (("gpu", "npu"), ("npu", "gpu"))]
    assert not any("shares_capacity_with" in note for note in notes("shares_capacity_with", both))


def test_who_asks_about_this_machine_is_offered_to_measure():
    body = graph([node("Relu", ["x"], ["y"], "r")], [value("x", [8])], [value("y", [8])])
    pathlib.Path("r.onnx").write_bytes(model(body))
    notes = situ_json("place", "r.onnx", "--platform", "this-host", "--steps", "5")["notes"]
    assert any("`situ profile` measures them" in note for note in notes), notes
    pathlib.Path("r.json").write_text('{"situ_costs": 1, "unit": "us", "operators": {"r": {"cpu": 3}}}')
    for call in (["--platform", "this-host", "--cost-table", "r.json"], ["--platform", "cpu"]):
        assert not any("situ profile" in note for note in situ_json("place", "r.onnx", *call, "--steps", "5")["notes"])


def test_costs_come_back_bit_for_bit():
    for form in ("csv", "json"):
        situ("costs", SMALL, "--platform", "cpu+v100-16g", "-o", f"a.{form}")
        again = ["costs", SMALL, "--platform", "cpu+v100-16g", "--cost-table", f"a.{form}"]
        assert situ(*again).replace("\r", "") == situ("costs", SMALL, "--platform", "cpu+v100-16g").replace("\r", "")
    table = json.loads(pathlib.Path("a.json").read_text())
    assert table["groups"][0]["operators"][:2] == ["conv1", "relu"]
    assert len(table["operators"]) + sum(len(g["operators"]) for g in table["groups"]) == 122


def test_tables_of_copies_are_those_of_the_model_and_read_back():
    for form in ("csv", "json"):
        made = ["--platform", "cpu+v100-16g", "--copies", "2"]
        situ("costs", SMALL, *made, "-o", f"two.{form}")
        situ("costs", SMALL, *made[:2], "-o", f"one.{form}")
        assert pathlib.Path(f"two.{form}").read_text() == pathlib.Path(f"one.{form}").read_text()
        situ("place", SMALL, *made, "--cost-table", f"two.{form}", "--steps", "20", out="by the table")


def test_fusion_profiles_and_engines_are_listed():
    for name in ("onnxruntime", "tensorrt", "none"):
        assert name in situ("list", "fusion")
    assert {e["name"]: e["fusion"] for e in situ_json("list", "cost-engines")["cost-engines"]}["eager"] == "none"


def test_what_is_deleted_from_costs_is_estimated_again():
    text = situ("costs", SMALL, "--platform", "cpu+v100-16g")
    lines = text.splitlines()
    row = next(i for i, line in enumerate(lines) if line.startswith("conv1,"))
    cells = lines[row].split(",")
    lines[row] = ",".join([*cells[:5], "", "123"])
    pathlib.Path("edited.csv").write_text("\n".join(lines) + "\n")
    table = situ("costs", SMALL, "--platform", "cpu+v100-16g", "--cost-table", "edited.csv").splitlines()
    assert table[row].split(",") == [*cells[:6], "123"]


def test_parts_without_a_rate_leave_that_of_the_link():
    """5 bytes at 10^9 B/s take 5 ns, and 7 with a start of 2; 1 / (1 / 10^9) in doubles would be below 10^9."""
    graph = {"situ_graph": 1, "operators": [{"name": "a", "flops": 1}, {"name": "b", "flops": 1}],
             "tensors": [{"name": "t", "from": "a", "to": ["b"], "bytes": 5}]}
    pathlib.Path("five.json").write_text(json.dumps(graph))
    pathlib.Path("five-pins.json").write_text('{"a": "cpu0", "b": "cpu1"}')
    for start in (0, 2):
        table = {"situ_costs": 1, "unit": "ns", "operators": {}, "parts": [{"class": "cpu", "start": start}],
                 "links": [{"from": "cpu", "to": "cpu", "latency": 0, "bytes_per_s": 1e9}]}
        pathlib.Path("five-parts.json").write_text(json.dumps(table))
        situ("place", "five.json", "--platform", "2*cpu", "--cost-table", "five-parts.json", "--fix", "five-pins.json",
             "-o", "five-plan.json")
        (*_, begun, ended), = json.loads(pathlib.Path("five-plan.json").read_text())["transfers"]
        assert ended - begun == 5 + start, (begun, ended)


def test_what_parts_cost_is_in_the_transfers():
    """A hand-over takes 3 us + 7 us for the part that starts, and each byte 1/2 ns by the link and 1 ns by the parts, of
    which the devices have one half each."""
    graph = {"situ_graph": 1,
             "operators": [{"name": "a", "flops": 1000}, {"name": "b", "flops": 1000}],
             "tensors": [{"name": "t", "from": "a", "to": ["b"], "bytes": 4000}]}
    pathlib.Path("two.json").write_text(json.dumps(graph))
    table = {"situ_costs": 1, "unit": "us", "operators": {},
             "links": [{"from": "cpu", "to": "cpu", "latency": 3, "bytes_per_s": 2e9}],
             "parts": [{"class": "cpu", "start": 7, "bytes_per_s": 1e9}]}
    pathlib.Path("parts.json").write_text(json.dumps(table))
    pathlib.Path("pins.json").write_text(json.dumps({"a": "cpu0", "b": "cpu1"}))
    situ("place", "two.json", "--platform", "2*cpu", "--cost-table", "parts.json", "--fix", "pins.json", "-o", "plan.json")
    (name, *_, start, finish), = json.loads(pathlib.Path("plan.json").read_text())["transfers"]
    assert name == "a" and 0 <= finish - start - (3000 + 7000 + 4000 // 2 + 4000) <= 1, (start, finish)
    for part, message in (({"class": "cpu", "start": -1}, "from 0 to 2\\^54 ns"), ({"class": "frob", "start": 1}, "frob"),
                       ({"class": "cpu", "start": 1, "bytes_per_s": 0}, "from 1 to 1e18"),
                       ({"class": "cpu", "start": 1, "dispatch": -1}, "dispatch")):
        pathlib.Path("bad.json").write_text(json.dumps({**table, "parts": [part]}))
        situ("place", "two.json", "--platform", "2*cpu", "--cost-table", "bad.json", code=3, err=message)


def test_the_answer_is_the_plan_that_is_fastest_by_its_parts():
    """A fork s -> a, b -> j: 220 us alone; 132 us in the model with j on the device that s is not on. By parts a device
    needs its dispatch between two parts: with 0, 30 and 100 us that makes 139, 169 and 239 us, worked out below."""
    tensors = [{"name": "t", "from": "s", "to": ["a", "b"], "bytes": 0}, {"name": "u", "from": "a", "to": ["j"], "bytes": 0},
               {"name": "w", "from": "b", "to": ["j"], "bytes": 0}]
    times = {"s": 10, "a": 100, "b": 100, "j": 10}
    pathlib.Path("fork.json").write_text(json.dumps(
        {"situ_graph": 1, "operators": [{"name": name, "flops": 1000} for name in times], "tensors": tensors}))
    for dispatch, split in ((None, True), (0, True), (30, True), (100, False)):
        pathlib.Path("costs.json").write_text(json.dumps({
            "situ_costs": 1, "unit": "us", "operators": {name: {"cpu": time} for name, time in times.items()},
            "links": [{"from": "cpu", "to": "cpu", "latency": 5, "bytes_per_s": 1e12}],
            **({} if dispatch is None else {"parts": [{"class": "cpu", "start": 7, "dispatch": dispatch}]})}))
        place = ["place", "fork.json", "--platform", "2*cpu", "--cost-table", "costs.json", "--steps", "2000", "-o", "plan.json"]
        placed = situ_json(*place)
        device = {row[0]: row[1] for row in json.loads(pathlib.Path("plan.json").read_text())["operators"]}
        if dispatch is None:  # what parts take is not known: a hand-over is its link alone
            assert placed["value_ns"] == 125000 and "by_parts_ns" not in placed, placed
            continue
        if not split:
            assert placed["value_ns"] == placed["by_parts_ns"] == 220000 and placed["n_handovers"] == 0, placed
            assert placed["best_found_ns"] == 132000, placed
            situ(*place, out="132.000 us  40.0 % shorter without the overhead of parts")
            continue
        assert device["a"] != device["b"] and placed["value_ns"] <= 144000, (placed, device)
        near, far = ("a", "b") if device["a"] == device["s"] else ("b", "a")  # of s
        end = {near: 10 + dispatch + 100, far: 10 + 5 + 7 + 100}
        own, other = (near, far) if device["j"] == device["s"] else (far, near)
        expected = max(end[own] + dispatch, end[other] + 5) + 7 + 10
        assert placed["by_parts_ns"] == 1000 * expected < 170000, (placed, expected)
        situ(*place, out=f"by parts     {expected}.000 us")
        situ(*place, out=f"{220 / expected:.2f}x as fast")


def test_workspaces_of_a_table_count_in_memory():
    """Of a kernel the largest of its members counts, while it runs, beside its input and output of 4000 bytes each."""
    nodes = [node("Abs", ["x"], ["a"], "first"), node("Exp", ["a"], ["b"], "second"), node("Neg", ["b"], ["y"], "third")]
    pathlib.Path("m.onnx").write_bytes(model(graph(nodes, [value("x", [1000])], [value("y", [1000])])))

    def placed(sizes, *words, groups=()):
        table = {"situ_costs": 1, "unit": "us", "operators": {}, "groups": list(groups), "workspace_bytes": sizes}
        pathlib.Path("costs.json").write_text(json.dumps(table))
        return situ_json("place", "m.onnx", "--cost-table", "costs.json", "--fusion", "none", *words)

    def memory_bytes(*given, **more):
        return [device["memory_bytes"] for device in placed(*given, "--platform", "cpu", **more)["devices"]]

    assert memory_bytes({}) == [8000]
    assert memory_bytes({"second": 500, "third": 700}) == [8700]
    assert memory_bytes({"first": 500}) == [8000] and memory_bytes({"first": 4100}) == [8100]  # no input is charged
    group = {"operators": ["second", "third"], "times": {"cpu": 3}}
    assert memory_bytes({"second": 500, "third": 700}, groups=[group]) == [8700]
    placed({"second": 500}, "--platform", "2*cpu", "-o", "plan.json")
    situ("check", "plan.json")
    for sizes, message in (({"frob": 1}, "no operator of this name"), ({"first": -1}, "whole bytes"), ({"first": 1.5}, "whole bytes"),
                        ([], "must be an object"), ({"first": 2**60}, "64 PiB")):
        pathlib.Path("costs.json").write_text(json.dumps({"situ_costs": 1, "unit": "us", "operators": {}, "workspace_bytes": sizes}))
        situ("place", "m.onnx", "--platform", "cpu", "--cost-table", "costs.json", code=3, err=message)


def test_measured_hand_overs_hold_within_a_server_only():
    """4 MB at 4 GB/s after 1 ms, between two operators of 1 us; the network of servers stays as it is."""
    nodes = [node("Abs", ["x"], ["a"], "first"), node("Relu", ["a"], ["y"], "second")]
    pathlib.Path("m.onnx").write_bytes(model(graph(nodes, [value("x", [10**6])], [value("y", [10**6])])))
    pathlib.Path("pins.json").write_text(json.dumps({"first": "cpu0", "second": "cpu1"}))
    table = {"situ_costs": 1, "unit": "us", "operators": {"first": {"cpu": 1}, "second": {"cpu": 1}},
             "links": [{"from": "cpu", "to": "cpu", "latency": 1000, "bytes_per_s": 4e9}]}

    def value_ns(platform, costs):
        pathlib.Path("costs.json").write_text(json.dumps(costs))
        return situ_json("place", "m.onnx", "--platform", platform, "--cost-table", "costs.json", "--fix", "pins.json",
                         "--fusion", "none", "--steps", "10")["value_ns"]

    without = {key: table[key] for key in table if key != "links"}
    assert value_ns("2*cpu", table) == 1000 + 1_000_000 + 1_000_000 + 1000
    assert value_ns("2*(cpu)@ethernet-10g", table) == value_ns("2*(cpu)@ethernet-10g", without)


def test_a_bad_csv_is_refused_with_its_line():
    for text, message in (("operator,cpu\nconv1,x\n", "conv1"), ("operator,kernel,cpu\nconv1,relu,3\n", "line 2"),
                       ("operator,cpu\nconv1,1\nconv1,2\n", "line 3"), ("name,cpu\n", "line 1"), ("", "line 1"),
                       ("operator,cpu\n\"conv1,7\n", "cells"), ("operator,gpu\nconv1,7\n", "gpu")):
        pathlib.Path("bad.csv").write_text(text)
        situ("costs", SMALL, "--platform", "cpu+v100-16g", "--cost-table", "bad.csv", code=3, err=message)


def test_plans_remember_their_fusion():
    for fusion, kept in (("generic", "generic"), ("openvino", "openvino"), ("none", None)):
        situ("place", SMALL, *QUICK, "--fusion", fusion, "-o", "plan.json")
        made = json.loads(pathlib.Path("plan.json").read_text())
        assert made["instance"]["costs"].get("fusion") == kept
        assert situ_json("check", "plan.json")["valid"]
    situ("place", SMALL, *QUICK, "--cost-engine", "tensorrt", "-o", "plan.json")
    costs = json.loads(pathlib.Path("plan.json").read_text())["instance"]["costs"]
    assert costs["engine"] == costs["fusion"] == "tensorrt"
    assert situ_json("check", "plan.json")["valid"]


def test_the_earlier_name_of_cost_engine_still_works():
    for spelling in ("--cost-engine=eager", "--engine=eager"):
        situ("place", SMALL, *QUICK, spelling, "-o", f"{spelling[2:5]}.json")
    assert pathlib.Path("cos.json").read_bytes() == pathlib.Path("eng.json").read_bytes()
    assert json.loads(pathlib.Path("cos.json").read_text())["instance"]["costs"]["engine"] == "eager"
    for command, shown in (("place", "--cost-engine"), ("costs", "--cost-engine"), ("run", "--engine"), ("learn", "--engine")):
        text = situ(command, "--help")
        assert [name for name in ("--engine", "--cost-engine") if f"  {name} NAME" in text] == [shown], command


def test_convolutions_of_pytorch_run_as_tf32_where_the_gpu_has_it():
    """Half as fast as in BF16; nothing changes on a GPU without TF32, by other engines, and for matrix products."""
    def time_of(op, card, *more):
        situ("costs", "builtin:vgg16?batch=64", "--platform", f"cpu+{card}", "--fusion", "none", *more, "-o", "c.json")
        return next(v for k, v in json.loads(pathlib.Path("c.json").read_text())["operators"][op].items() if k != "cpu")

    conv, dense, launch = "stage4.2.conv", "classifier.fc1", 2 * 8000
    for card in ("a100-80g", "v100-16g"):
        eager, compiled = ([time_of(op, card, "--cost-engine", engine) for op in (conv, dense)] for engine in ("eager", "torchscript"))
        assert eager[1] == compiled[1]
        if card == "v100-16g":
            assert eager[0] == compiled[0]
        else:
            half = time_of(conv, card, "--cost-engine", "eager", "--precision", "bf16") - launch
            assert abs(eager[0] - launch - 2 * half) <= 2 and eager[0] < compiled[0] / 2, (eager, compiled, half)


def test_a_parted_kernel_is_found():
    situ("place", SMALL, *QUICK, "--solver", "single", "-o", "plan.json")
    made = json.loads(pathlib.Path("plan.json").read_text())
    for row in made["operators"]:
        if row[0] == "relu":
            row[1] = "gpu1"
    pathlib.Path("parted.json").write_text(json.dumps(made))
    found = json.loads(situ("check", "parted.json", "--json", code=7))
    assert "fusion" in {v["rule"] for v in found["violations"]}


def test_pins_inside_a_kernel_name_it():
    pathlib.Path("pins.json").write_text(json.dumps({"conv1": "gpu0", "relu": "gpu1"}))
    found = situ_json("place", SMALL, *QUICK, "--fix", "pins.json", code=4)
    assert found["reason"].startswith("fusion: conv1 and relu are one kernel"), found["reason"]
    assert situ_json("place", SMALL, *QUICK, "--fix", "pins.json", "--fusion", "none")["outcome"] in ("feasible", "optimal")


def test_unknown_profiles_and_engines_are_refused():
    situ("place", SMALL, *QUICK, "--fusion", "magic", code=2, err="magic")
    situ("place", SMALL, *QUICK, "--cost-engine", "steam", code=2, err="steam")


def test_inspect_counts_kernels():
    found = situ_json("inspect", "builtin:resnet50")
    assert (found["operators"], found["kernels"], found["fusion"]) == (122, 56, "generic")
    assert "kernels" not in situ_json("inspect", "builtin:resnet50", "--fusion", "none")


if __name__ == "__main__":
    sys.exit(main(globals()))
