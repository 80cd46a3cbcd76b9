#!/usr/bin/env python3
"""OpenVINO IR that is cut into parts and run, by OpenVINO where it is installed.

    test_openvino_ir.py SITU [NAME...]
"""
import json
import pathlib
import shutil
import subprocess
import sys
from xml.etree import ElementTree

from test_cli import HERE, QUICK, SITU, SMALL, Skip, main, need, rounds_of, situ, situ_json
from test_engines import engine, random_placement

# Files of ../shared, none of which has its weights. Left out: gru_bidirectional_irv6, since OpenVINO reads versions 10
# and 11 only.
FILES = """test_model_fp32 face_detection_adas_0001 face_reidentification_retail_0095 inception_v3_i8 loop_2d_add npu_loop
    npu_shape-of-gather-strided-slice-test resnet_v1_50_i8 samplenet all_mpnet_base_v2 ti_negative_stride ti_resnet""".split()


def chosen(names):
    return list(enumerate(names))[:: max(1, round(len(names) / rounds_of(len(names))))]


def cut_and_run(path, n_devices, seed):
    """The run of a pipeline whose parts are drawn by the seed, and which are in the folder parts."""
    shutil.rmtree("parts", ignore_errors=True)
    random_placement(path, n_devices, seed)
    situ("place", path, "--platform", f"{n_devices}*cpu", "--fusion", "none", "--fix", "pins.json", "--execution",
         "pipeline", "--free", "--write", "openvino-parts=parts", "-o", "plan.json")
    return situ_json("run", "plan.json", "--items", "3", "--warm-up", "1")


def test_parts_of_random_cuts_give_the_outputs_of_the_whole():
    engine("openvino")
    most = 0
    for at, name in chosen(FILES):
        path = need(f"data/openvino/{name}.xml")
        ran = cut_and_run(path, 2 + (at + 1) % 4, at)
        assert ran["engine"].startswith("openvino 20"), ran["engine"]
        assert ran["outputs_equal"] and ran["max_relative_error"] <= 1e-4, (name, ran["max_relative_error"])
        assert ran["made_up_weights"].endswith(f"{name}.bin")
        most = max(most, len(ran["stages"]))
    assert most > 1


CONVERT = """
import openvino, sys
openvino.save_model(openvino.convert_model(sys.argv[1]), sys.argv[2], compress_to_fp16=False)
"""
# Runs the parts of a manifest one after the other, and the model from which they come.
CHAIN = """
import json, pathlib, sys
import numpy, openvino
core, folder = openvino.Core(), pathlib.Path(sys.argv[2])
settings = {"INFERENCE_PRECISION_HINT": "f32"}
whole = core.compile_model(sys.argv[1], "CPU", settings)
manifest = json.loads((folder / "manifest.json").read_text())
random = numpy.random.default_rng(1)
values = {}
for port in whole.inputs:
    kind = port.element_type.to_dtype()
    shape = [d.get_length() if d.is_static else 1 for d in port.partial_shape]
    drawn = random.random(shape) if kind == numpy.float32 else random.integers(0, 2, shape)
    values.update({name: drawn.astype(kind) for name in port.names})
wanted = whole({port: values[port.any_name] for port in whole.inputs})
for part in manifest["parts"]:
    model = core.compile_model(folder / part["file"], "CPU", settings)
    assert len(model.inputs) == len(part["inputs"]), part
    made = model({v["name"]: values[v["name"]] for v in part["inputs"]})
    values.update({v["name"]: made[v["name"]].copy() for v in part["outputs"]})
for output in manifest["outputs"]:
    numpy.testing.assert_allclose(values[output["name"]], wanted[output["name"]], rtol=1e-4, atol=1e-6)
print(len(manifest["parts"]))
"""


def engines_python():
    """The interpreter beside the package that has the library; converting needs it."""
    library = pathlib.Path(engine("openvino")["library"])
    for folder in library.parents:
        if (folder / "bin/python").exists():
            return folder / "bin/python"
    raise Skip("OpenVINO has no Python beside it that could convert models")


def python(*arguments):
    ran = subprocess.run([engines_python(), "-c", *map(str, arguments)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


# Models of ../shared that OpenVINO converts, with their weights, loops, several inputs and dimensions that are free.
MODELS = "mnist bert_toy_optimized attention_past_state byte_sb_bidi_lstm lstm_with_loop TFBertForQuestionAnswering".split()


def test_files_with_weights_are_cut_as_others_run_them():
    """The parts, run by OpenVINO's own Python, against the file itself, which situ has not touched."""
    engine("openvino")
    for at, name in chosen(MODELS):
        python(CONVERT, need(f"data/onnx/{name}.onnx"), f"{name}.xml")
        ran = cut_and_run(f"{name}.xml", 2 + at % 4, at)
        assert ran["outputs_equal"] and "made_up_weights" not in ran, (name, ran["max_relative_error"])
        assert int(python(CHAIN, f"{name}.xml", "parts")) == len(ran["stages"])
        weights = sum(path.stat().st_size for path in pathlib.Path("parts").glob("*.bin"))
        assert weights <= 2 * pathlib.Path(f"{name}.bin").stat().st_size + 64 * 1000, (name, weights)


def test_a_profile_of_an_ir_sums_to_the_whole_and_is_read_as_costs():
    engine("openvino")
    path = need("data/openvino/test_model_fp32.xml")
    found = situ_json("profile", path, "--items", "5", "-o", "costs.json")
    times = {row["name"]: row["time_ns"] for row in found["times"]}
    assert abs(sum(times.values()) - found["measured_ns"]) <= len(times)
    assert any(row["kind"] == "Convolution" and row["time_ns"] > 0 for row in found["times"]), times
    assert found["made_up_weights"].endswith("test_model_fp32.bin")
    situ("place", path, "--platform", "2*cpu", "--cost-table", "costs.json", "--steps", "10")


# As docs/run-your-plan.md loads affinities; every operation that has one is found by its name.
OBEY = """
import json, sys
import openvino
plan, core = json.load(open(sys.argv[1])), openvino.Core()
model = core.read_model(plan["model"])
names = {operation.get_friendly_name() for operation in model.get_ordered_ops()}
assert set(plan["affinity"]) <= names, set(plan["affinity"]) - names
for operation in model.get_ordered_ops():
    operation.get_rt_info()["affinity"] = plan["affinity"].get(operation.get_friendly_name(), "CPU")
core.compile_model(model, plan["device"])
print("obeyed")
"""


def test_affinities_of_an_ir_are_by_its_layers():
    """Every layer of the file has a device, that of the plan; OpenVINO, where it is, finds them and compiles."""
    path = need("data/openvino/test_model_fp32.xml")
    random_placement(path, 2, 1)
    situ("place", path, "--platform", "2*cpu", "--fusion", "none", "--fix", "pins.json", "--write", "openvino-affinity=out")
    written = json.loads(pathlib.Path("out/affinity.json").read_text())["affinity"]
    layers = {layer.get("name") for layer in ElementTree.parse(path).getroot().find("layers")
              if layer.get("type") not in ("Parameter", "Result")}
    assert set(written) == layers and set(written.values()) == {"CPU"}
    situ("place", SMALL, "--platform", "2*cpu", *QUICK, "--write", "openvino-affinity=no", code=6,
         err="is not an ONNX or OpenVINO model")
    engine("openvino")
    python(CONVERT, need("data/onnx/mnist.onnx"), "m.xml")
    situ("place", "m.xml", *QUICK, "--platform", "2*cpu", "--write", "openvino-affinity=out")
    assert "obeyed" in python(OBEY, "out/affinity.json")


TOTALS = "flops moved_bytes output_bytes weight_bytes not_inferred".split()


def total(*arguments):
    found = situ_json("inspect", *arguments)["total"]
    return {key: found[key] for key in TOTALS}


def dynamic_models():
    """Small models, and the sizes of their dynamic dimensions. NAME_static.xml is what OpenVINO makes of NAME.xml."""
    engine("openvino")
    made = subprocess.run([engines_python(), HERE / "openvino_models.py", "."], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return json.loads(made.stdout)


def test_dynamic_files_are_read_as_the_static_ones_that_openvino_makes_of_them():
    for name, sizes in dynamic_models().items():
        options = [text for key, size in sizes.items() for text in ("--dim", f"{key}={size}")]
        found, expected = total(f"{name}.xml", *options), total(f"{name}_static.xml")
        assert found == expected, (name, found, expected)
    assert total("camera.xml") == total("camera_static.xml"), "the sizes assumed are those of the file"
    assert total("camera.xml", "--default-dim", "32") != total("camera_static.xml")


def test_a_dynamic_file_runs_in_parts_on_the_sizes_that_its_plan_records():
    dynamic_models()
    ran = cut_and_run("camera.xml", 2, 5)
    assert json.loads(pathlib.Path("plan.json").read_text())["instance"]["dims"] == {"x0[2]": 224, "x0[3]": 224}
    assert len(ran["stages"]) > 1 and ran["outputs_equal"], ran


NET = """<?xml version="1.0"?>
<net name="n" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="1,4" element_type="f32"/>
<output><port id="0" precision="FP32" names="x"><dim>1</dim><dim>4</dim></port></output></layer>
<layer id="1" name="k" type="Const" version="opset1"><data shape="1,4" element_type="f32" offset="0" size="16"/>
<output><port id="0" precision="FP32"><dim>1</dim><dim>4</dim></port></output></layer>
<layer id="2" name="sum" type="{}" version="opset1"><input><port id="0"><dim>1</dim><dim>4</dim></port>
<port id="1"><dim>1</dim><dim>4</dim></port></input>
<output><port id="2" precision="FP32" names="y"><dim>1</dim><dim>4</dim></port></output></layer>
<layer id="3" name="end" type="Result" version="opset1"><input><port id="0"><dim>1</dim><dim>4</dim></port></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/></edges></net>
"""


def test_parts_are_written_without_an_engine():
    pathlib.Path("n.xml").write_text(NET.format("Add"))
    pathlib.Path("n.bin").write_bytes(bytes(range(16)))
    situ("place", "n.xml", "--platform", "2*cpu", "--steps", "1", "--write", "openvino-parts=parts", "-o", "plan.json")
    manifest = json.loads(pathlib.Path("parts/manifest.json").read_text())
    assert manifest["openvino_parts"] == 1 and [part["file"] for part in manifest["parts"]] == ["part0.xml"]
    assert manifest["outputs"] == [{"name": "y", "from": 0}]
    assert pathlib.Path("parts/part0.bin").read_bytes() == bytes(range(16))
    for model, writer, message in (("n.xml", "onnx-parts", "is not an ONNX model"), (SMALL, "openvino-parts", "is not an OpenVINO model")):
        refused = subprocess.run([SITU, "place", model, *QUICK, "--write", f"{writer}=none"], capture_output=True, text=True)
        assert refused.returncode == 6 and f"{message}, which {writer} needs" in refused.stderr, refused
    assert not pathlib.Path("none").exists()


def test_what_cannot_be_run_says_why():
    engine("openvino")
    pathlib.Path("n.xml").write_text(NET.format("Add"))
    pathlib.Path("n.bin").write_bytes(bytes(15))
    situ("place", "n.xml", "--platform", "2*cpu", "--steps", "1", "-o", "plan.json")
    situ("run", "plan.json", code=3, err="layer 1 \\(k\\): its data, 16 bytes at 0, are not in n.bin, which has 15")
    situ("run", "plan.json", "--engine", "onnxruntime", code=3, err="onnxruntime: runs no OpenVINO models")
    pathlib.Path("n.xml").write_text(NET.format("Frob"))
    pathlib.Path("n.bin").unlink()
    situ("place", "n.xml", "--platform", "2*cpu", "--steps", "1", "-o", "plan.json")
    situ("run", "plan.json", code=3, err="Frob.*random weights: n.bin is missing")
    pathlib.Path("n.xml").write_text(NET.format("Assign"))
    situ("place", "n.xml", "--platform", "2*cpu", "--steps", "1", "-o", "plan.json")
    situ("run", "plan.json", code=3, err="layer 2 \\(sum\\) keeps state")


if __name__ == "__main__":
    sys.exit(main(globals()))
