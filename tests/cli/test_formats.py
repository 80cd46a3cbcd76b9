#!/usr/bin/env python3
"""Plans in the formats of engines: files that are read here by the grammar of their documents.

    test_formats.py SITU [NAME...]
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from test_cli import QUICK, SITU, SMALL, Skip, main, situ
from test_weights import fields

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lab"))
from onnx_writer import field, graph, model, node, value

OWN = SITU.parent / "engines"  # what tools/setup.sh engines installs
DEVICE = {"a": "cpu", "b": "gpu0", "c": "gpu0", "d": "cpu"}


def place(writer, folder, names=True, platform="cpu+t4-16g"):
    """x -> a -> b -> c -> d -> y, of which b and c are on the accelerator; returns what refuses it, or None."""
    nodes = [node("Relu", [f"v{i}"], [f"v{i + 1}"], letter if names else "") for i, letter in enumerate("abcd")]
    nodes[0] += field(9, field(1, "layer_ann") + field(2, "old")) + field(9, field(1, "kept") + field(2, "x"))
    pathlib.Path("m.onnx").write_bytes(model(graph(nodes, [value("v0", [4])], [value("v4", [4])])))
    if names:
        pins = DEVICE if platform != "2*cpu" else {n: "cpu1" if d == "gpu0" else "cpu0" for n, d in DEVICE.items()}
        pathlib.Path("pins.json").write_text(json.dumps(pins))
    fix = ["--fix", "pins.json"] if names else []
    done = subprocess.run([SITU, "place", "m.onnx", *QUICK, "--platform", platform, "--fusion", "none", *fix, "--write",
                           f"{writer}={folder}"], capture_output=True, text=True)
    return done.stderr if done.returncode else None


def one(message, number):
    found, = [v for n, v in fields(message) if n == number]
    return found


def nodes_of(path):
    """{name: fields} in the order of the file."""
    main_graph = one(pathlib.Path(path).read_bytes(), 7)
    return {one(v, 3).decode(): list(fields(v)) for n, v in fields(main_graph) if n == 1}


def settings_of(folder, key):
    """device(pattern, ...); ... as ONNX Runtime's documents have it."""
    text = json.loads(pathlib.Path(folder, "session.json").read_text())[key]
    assert re.fullmatch(r"(\w+\([^();]*\))(;\w+\([^();]*\))*", text), text
    return {device: patterns.split(",") for device, patterns in re.findall(r"(\w+)\(([^)]*)\)", text)}


def test_layer_annotations_name_the_device_of_every_node():
    assert place("ort-annotation", "out") is None
    device_of = {pattern: device for device, patterns in
                 settings_of("out", "session.layer_assignment_settings").items() for pattern in patterns}
    for name, parts in nodes_of("out/model.onnx").items():
        notes = [(one(v, 1).decode(), one(v, 2).decode()) for n, v in parts if n == 9]
        annotation, = [v for k, v in notes if k == "layer_ann"]
        assert device_of[f"={annotation}"] == ("gpu" if DEVICE[name] == "gpu0" else "cpu"), (name, annotation)
        assert ("kept", "x") in notes or name != "a"


def test_names_are_assigned_by_a_setting_alone():
    assert place("ort-names", "out") is None
    assert settings_of("out", "session.name_based_layer_assignment") == {"cpu": ["a", "d"], "gpu": ["b", "c"]}
    assert not pathlib.Path("out/model.onnx").exists()
    assert "cannot express" in place("ort-names", "none", names=False)


def test_constants_without_names_are_no_reason_to_refuse():
    """As PyTorch exports them: ONNX Runtime makes weights of constants, and only nodes have devices."""
    made = field(1, 1) + field(2, 1) + field(4, b"\0\0\x80\x3f") + field(8, "t")  # TensorProto: [1] of float
    constant = node("Constant", [], ["k"], "") + field(5, field(1, "value") + field(20, 4) + field(5, made))
    add = node("Add", ["v0", "k"], ["v1"], "sum")
    pathlib.Path("c.onnx").write_bytes(model(graph([constant, add], [value("v0", [4])], [value("v1", [4])])))
    situ("place", "c.onnx", *QUICK, "--platform", "cpu+t4-16g", "--fix", pins({"sum": "gpu0"}),
         "--write", "ort-names=out")
    assert settings_of("out", "session.name_based_layer_assignment")["gpu"] == ["sum"]


def pins(devices):
    pathlib.Path("pins.json").write_text(json.dumps(devices))
    return "pins.json"


def test_two_devices_of_one_kind_are_refused_where_a_session_has_one():
    for writer in "ort-annotation", "ort-names":
        refused = place(writer, "none", platform="2*cpu")
        assert "a session of ONNX Runtime can use only one cpu" in refused, refused
    assert place("openvino-affinity", "out", platform="2*cpu") is None


def test_the_standards_configuration_has_devices_and_where_outputs_are():
    assert place("onnx-multidevice", "out") is None
    whole = pathlib.Path("out/model.onnx").read_bytes()
    assert one(whole, 1) == 11  # the IR version that has device configurations; the file had 8
    configuration = one(whole, 26)
    assert one(configuration, 1) == b"situ" and one(configuration, 2) == 2
    devices = [v.decode() for n, v in fields(configuration) if n == 3]
    assert devices == ["cpu", "gpu0"]
    for name, parts in nodes_of("out/model.onnx").items():
        placed, = [v for n, v in parts if n == 10]
        spec = one(placed, 2)
        assert one(placed, 1) == b"situ" and one(spec, 1) == [v for n, v in parts if n == 2][0]
        assert devices[one(spec, 2)] == DEVICE[name], name


def test_affinities_name_operations_as_openvino_does():
    assert place("openvino-affinity", "out") is None
    written = json.loads(pathlib.Path("out/affinity.json").read_text())
    assert written["affinity"] == {"a": "CPU", "b": "GPU", "c": "GPU", "v4": "CPU"}
    assert written["device"] == "HETERO:GPU,CPU" and written["model"] == "m.onnx"
    assert place("openvino-affinity", "unnamed", names=False) is None
    assert list(json.loads(pathlib.Path("unnamed/affinity.json").read_text())["affinity"]) == ["v1", "v2", "v3", "v4"]


LOADER = """
import json, sys
try:
    import openvino
except ImportError as why:
    sys.exit(f"skip: {why}")
plan = json.load(open("out/affinity.json"))
core = openvino.Core()
model = core.read_model(plan["model"])
for operation in model.get_ordered_ops():
    operation.get_rt_info()["affinity"] = plan["affinity"].get(operation.get_friendly_name(), "CPU")
found = {o.get_friendly_name() for o in model.get_ordered_ops()} & set(plan["affinity"])
assert found == set(plan["affinity"]), found
asked = core.query_model(model, plan["device"])
assert all(asked[name] == device for name, device in plan["affinity"].items() if name in asked), asked
core.compile_model(model, plan["device"])
print("obeyed")
"""


def test_openvino_obeys_affinities():
    """HETERO of what this machine has, a CPU; its own query agrees with every affinity."""
    python = OWN / "bin/python3"
    python = python if python.exists() else pathlib.Path(os.environ.get("SITU_OPENVINO", "/nowhere")) / "bin/python3"
    if not python.exists():
        raise Skip("OpenVINO's Python package is not installed (tools/setup.sh engines)")
    assert place("openvino-affinity", "out", platform="2*cpu") is None
    done = subprocess.run([python, "-c", LOADER], capture_output=True, text=True)
    if done.stderr.startswith("skip"):
        raise Skip(done.stderr.strip())
    assert done.returncode == 0 and "obeyed" in done.stdout, done.stderr


def called_devices(folder):
    """The device that the operands of each call of main.mlir were moved to or made on, by the part called."""
    at, called = {}, {}
    device_of = [part["device"] for part in json.loads(pathlib.Path(folder, "manifest.json").read_text())["parts"]]
    for line in pathlib.Path(folder, "main.mlir").read_text().splitlines():
        moved = re.match(r" *(%\w+) = flow\.tensor\.transfer %\w+ : tensor<4xf32> to #hal\.device\.promise<@(\w+)>$", line)
        back = re.match(r" *(%\w+) = torch_c\.from_builtin_tensor (%\w+) : tensor<4xf32> -> !torch\.vtensor<\[4\],f32>$", line)
        call = re.match(r" *(%\w+) = func\.call @part(\d+)\((%\w+)\) : \(!torch\.vtensor<\[4\],f32>\) -> \(.*\)$", line)
        if moved:
            at[moved[1]] = moved[2]
        elif back:
            at[back[1]] = at[back[2]]
        elif call:
            called[int(call[2])] = at[call[3]]
            at[call[1]] = device_of[int(call[2])]
    return called, dict(enumerate(device_of))


def test_parts_for_iree_are_called_on_the_devices_that_their_inputs_were_moved_to():
    for platform, flags in (("cpu+t4-16g", ["cpu=local[0]", "gpu0=cuda[0]"]), ("2*cpu", ["cpu0=local[0]", "cpu1=local[1]"])):
        assert place("iree", platform, platform=platform) is None
        called, planned = called_devices(platform)
        assert called == planned and len(set(called.values())) == 2, called
        lines = pathlib.Path(platform, "flags.txt").read_text().splitlines()
        assert lines == ["--iree-hal-target-device=" + flag for flag in flags]


def test_iree_obeys_transfers():
    """As docs/run-your-plan.md says, with cores as devices: the compiler's own answer, and what comes out."""
    compiler = shutil.which("iree-compile")
    if not compiler:
        raise Skip("iree-compile is not in the path (pip install iree-base-compiler iree-base-runtime onnx)")
    assert place("iree", "out", platform="2*cpu") is None
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs/run-your-plan.md").read_text()
    code = page[page.index("## IREE"):].split("```python\n")[1].split("```")[0].replace("FOLDER", "out")
    subprocess.run([pathlib.Path(compiler).with_name("python"), "-c", code], check=True)
    flags = [*pathlib.Path("out/flags.txt").read_text().split(), "--iree-hal-local-target-device-backends=llvm-cpu",
             "--iree-llvmcpu-target-cpu=generic"]
    for more in (["--compile-to=stream", "-o", "stream.mlir"], ["-o", "model.vmfb"]):
        subprocess.run([compiler, "out/model.mlir", *flags, *more], check=True)
    works = re.findall(r"stream\.cmd\.execute on\(#hal\.device\.affinity<@(\w+)>\)", pathlib.Path("stream.mlir").read_text())
    assert works == ["cpu0", "cpu1", "cpu0"], works
    ran = subprocess.run(["iree-run-module", "--module=model.vmfb", "--device=local-task", "--device=local-task", "--function=main",
                          "--input=4xf32=-1 2 -3 4"], check=True, capture_output=True, text=True).stdout
    assert "4xf32=0 2 0 4" in ran, ran


def test_other_models_than_onnx_are_refused():
    for writer in "ort-annotation", "ort-names", "openvino-affinity", "onnx-multidevice", "iree":
        refused = subprocess.run([SITU, "place", SMALL, *QUICK, "--write", f"{writer}=none"], capture_output=True, text=True)
        assert refused.returncode == 6 and re.search("is not an ONNX (or OpenVINO )?model", refused.stderr), refused


if __name__ == "__main__":
    sys.exit(main(globals()))
