#!/usr/bin/env python3
"""Plans on two real devices of one engine: the CPU and a GPU of ONNX Runtime (WebGPU). A GPU made of software serves, SwiftShader
of Chromium.

    test_providers.py SITU [NAME...]
"""
import json
import os
import pathlib
import subprocess
import sys

from test_cli import QUICK, SITU, Skip, main, need, situ, situ_json

LAB = pathlib.Path(__file__).resolve().parents[1] / "lab"
sys.path.insert(0, str(LAB))
from test_formats import one, settings_of
from test_weights import fields
from onnx_writer import graph, model, node, value

OWN = SITU.parent / "webgpu"  # what tools/setup.sh webgpu installs
SOFTWARE = pathlib.Path("/usr/lib/chromium/vk_swiftshader_icd.json")
GPU = "WebGpuExecutionProvider"
if SOFTWARE.exists():
    os.environ.setdefault("VK_ICD_FILENAMES", str(SOFTWARE))


def row():
    """The engine with both providers, or a skip that says what is missing."""
    os.environ["SITU_ONNXRUNTIME"] = str(OWN)
    found, = [r for r in situ_json("list", "engines")["engines"] if r["name"] == "onnxruntime"]
    if found["missing"] or GPU not in found["providers"]:
        raise Skip("onnxruntime with WebGPU is not installed (tools/setup.sh webgpu)")
    if "VK_ICD_FILENAMES" not in os.environ:
        raise Skip("no Vulkan driver is known: neither VK_ICD_FILENAMES nor Chromium's")
    return found


def chain_of_relus():
    """x -> a -> b -> c -> d -> e: relus and sigmoids of a vector, b and c to be on the GPU."""
    kinds = {"a": "Relu", "b": "Sigmoid", "c": "Exp", "d": "Relu", "e": "Sigmoid"}
    made, last = [], "x"
    for name, kind in kinds.items():
        made.append(node(kind, [last], [name + "_out"], name))
        last = name + "_out"
    whole = graph(made, [value("x", [1, 64])], [value(last, [1, 64])])
    pathlib.Path("m.onnx").write_bytes(model(whole))
    pathlib.Path("pins.json").write_text(json.dumps({n: "gpu0" if n in "bc" else "cpu" for n in kinds}))
    situ("place", "m.onnx", *QUICK, "--platform", "cpu+v100-16g", "--fusion", "none", "--fix", "pins.json",
         "-o", "plan.json")


def test_a_plan_runs_on_the_cpu_and_a_gpu_with_the_outputs_of_the_whole():
    row()
    chain_of_relus()
    ran = situ_json("run", "plan.json", "--map", "gpu0=1@WebGPU", "--items", "3", "--warm-up", "1", "--time-limit", "300")
    assert [stage["device"] for stage in ran["stages"]] == ["cpu", "gpu0", "cpu"], ran
    assert 0 <= ran["max_relative_error"] < 1e-5, ran


def test_it_is_the_gpu_that_runs_what_is_mapped_to_it():
    """Without a driver the provider has no adapter, and says so."""
    row()
    chain_of_relus()
    kept = os.environ["VK_ICD_FILENAMES"]
    os.environ["VK_ICD_FILENAMES"] = "/nowhere"
    try:
        situ("run", "plan.json", "--map", "gpu0=1@WebGPU", "--time-limit", "300", code=8, err="adapter")
        situ("run", "plan.json", "--map", "gpu0=1@CPU", "--items", "3")
    finally:
        os.environ["VK_ICD_FILENAMES"] = kept


def test_a_gpu_is_profiled_as_a_class_of_its_own():
    row()
    chain_of_relus()
    situ("profile", "m.onnx", "--device", "webgpu", "--class", "v100-16g", "--items", "3", "--warm-up", "1", "-o", "gpu.json",
         "--time-limit", "300")
    table = json.loads(pathlib.Path("gpu.json").read_text())
    assert table["classes"] == ["v100-16g"], table
    # A GPU of software is slower than what is estimated of the CPU, so its times need those of the CPU beside them.
    situ("profile", "m.onnx", "--class", "cpu", "--items", "3", "--warm-up", "1", "-o", "cpu.json", "--time-limit", "300")
    situ("place", "m.onnx", *QUICK, "--platform", "cpu+v100-16g", "--cost-table", "gpu.json", "--cost-table", "cpu.json")


def providers_of(*words):
    output = subprocess.run([OWN / "bin" / "python3", LAB / "run_annotated.py", *words], capture_output=True, text=True, timeout=600)
    assert output.returncode == 0, output.stderr
    return json.loads(output.stdout)


def annotations(folder):
    """The kind of device that each node of the model is told to run on."""
    output = {pattern: device for device, patterns in settings_of(folder, "session.layer_assignment_settings").items()
            for pattern in patterns}
    main_graph = one(pathlib.Path(folder, "model.onnx").read_bytes(), 7)
    nodes = [list(fields(v)) for n, v in fields(main_graph) if n == 1]
    return {name.decode(): output["=" + one(note, 2).decode()] for parts in nodes for number, name in parts if number == 3
            for key, note in parts if key == 9 and one(note, 1) == b"layer_ann"}


def obeyed(name):
    """What is annotated for the CPU runs there; what is for the GPU too, but for what WebGPU leaves to the CPU when the whole
    model is its own: nodes without a kernel, and arithmetic of shapes."""
    row()
    path = need(f"data/onnx/{name}.onnx")
    situ("place", path, "--platform", "cpu+v100-16g", "--solver", "random", "--steps", "50", "--min-gain", "0",
         "--write", "ort-annotation=out")
    ran, alone, wanted = providers_of("out/model.onnx", "out/session.json"), providers_of(path), annotations("out")
    on_cpu = [n for n in ran if wanted.get(n) == "cpu"]
    on_gpu = [n for n in ran if wanted.get(n) == "gpu"]
    left = [n for n in on_gpu if ran[n] != GPU]
    assert len(on_cpu) > 10 and len(on_gpu) - len(left) > 5, (len(on_cpu), len(on_gpu), left)
    assert not [n for n in on_cpu if ran[n] != "CPUExecutionProvider"]
    assert not [n for n in left if alone.get(n, "CPUExecutionProvider") != "CPUExecutionProvider"]


def test_every_node_of_an_annotated_bert_runs_where_the_plan_says():
    obeyed("bert_toy_optimized")


def test_every_node_of_an_annotated_gpt2_runs_where_the_plan_says():
    obeyed("tiny_random_gpt2_fp32")


def test_every_node_of_an_annotated_layer_of_gpt2_runs_where_the_plan_says():
    obeyed("gpt2_past_one_layer")


if __name__ == "__main__":
    sys.exit(main(globals()))
