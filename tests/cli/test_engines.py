#!/usr/bin/env python3
"""Plans that are cut and run, models that are profiled: by ONNX Runtime where it is installed.

    test_engines.py SITU [NAME...]
"""
import functools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from test_cli import QUICK, SHARE, SHARED, SITU, SMALL, Skip, main, need, rounds_of, situ, situ_json, some

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lab"))
from onnx_writer import graph, model, node, value

OWN = SITU.parent / "engines"  # what tools/setup.sh engines installs
for variable in "SITU_ONNXRUNTIME", "SITU_OPENVINO":
    if OWN.is_dir():
        os.environ.setdefault(variable, str(OWN))
if (SITU.parent / "python").is_dir():
    os.environ.setdefault("SITU_PYTORCH", str(SITU.parent / "python"))  # tools/setup.sh torch
TEMPORARY = tempfile.TemporaryDirectory()  # of situ in these tests alone: others run beside them
os.environ["TMPDIR"] = TEMPORARY.name


def left():
    return [path.name for path in pathlib.Path(TEMPORARY.name).glob("situ-??????")]


def test_parts_of_a_model_are_a_folder_with_a_manifest():
    """Three operators of mnist on a device of their own: the parts before, of and after them."""
    path = need("data/onnx/mnist.onnx")
    apart = ["Convolution28", "Plus30", "ReLU32"]
    pathlib.Path("pins.json").write_text(json.dumps({name: "cpu1" for name in apart}))
    situ("place", path, *QUICK, "--platform", "2*cpu", "--fix", "pins.json", "--write", "onnx-parts=parts")
    manifest = json.loads(pathlib.Path("parts/manifest.json").read_text())
    assert [part["file"] for part in manifest["parts"]] == [f"part{k}.onnx" for k in range(len(manifest["parts"]))]
    for k, part in enumerate(manifest["parts"]):
        assert pathlib.Path("parts", part["file"]).stat().st_size > 100
        assert all(value["from"] is None or value["from"] < k for value in part["inputs"])
    refused = subprocess.run([SITU, "place", SMALL, *QUICK, "--write", "onnx-parts=none"], capture_output=True, text=True)
    assert refused.returncode == 6 and "is not an ONNX model" in refused.stderr, refused
    assert not pathlib.Path("none").exists()


def rows():
    return {row["name"]: row for row in situ_json("list", "engines")["engines"]}


known_rows = functools.cache(rows)  # looking for engines takes as long as a small test


def engine(name="onnxruntime"):
    """The row of one that is installed, or a skip that says why it is not."""
    row = known_rows()[name]
    if row["missing"]:
        raise Skip(f"{name} is not installed (tools/setup.sh engines): {row['missing'][:60]}")
    return row


def test_engines_are_listed_with_where_they_are_or_why_not():
    assert list(rows()) == ["onnxruntime", "openvino", "pytorch", "llama.cpp"]
    for row in rows().values():
        assert bool(row["missing"]) != bool(row["version"]), row
    os.environ["SITU_ONNXRUNTIME"], kept = "/nowhere/at/all", os.environ.get("SITU_ONNXRUNTIME")
    try:
        row = situ_json("list", "engines")["engines"][0]
        assert "SITU_ONNXRUNTIME names this path" in row["missing"]
        pathlib.Path("libonnxruntime.so").write_text("no library")
        os.environ["SITU_ONNXRUNTIME"] = str(pathlib.Path("libonnxruntime.so").resolve())
        assert "cannot be loaded" in situ_json("list", "engines")["engines"][0]["missing"]
        path = need("data/onnx/mnist.onnx")
        situ("profile", path, code=8, err="cannot be loaded")
    finally:
        if kept is None:
            del os.environ["SITU_ONNXRUNTIME"]
        else:
            os.environ["SITU_ONNXRUNTIME"] = kept


def test_a_profile_sums_to_the_whole_and_is_read_as_costs():
    engine()
    path = need("data/onnx/mnist.onnx")
    found = situ_json("profile", path, "--items", "5", "-o", "costs.json")
    total = sum(row["time_ns"] for row in found["times"])
    assert abs(total - found["measured_ns"]) <= len(found["times"]), (total, found["measured_ns"])
    table = json.loads(pathlib.Path("costs.json").read_text())
    named = len(table["operators"]) + sum(len(group["operators"]) for group in table["groups"])
    assert table["classes"] == ["cpu"] and named == found["operators"]
    link, = table["links"]  # a message and a wait on this host: above 1 us, below 10 ms
    assert link["from"] == link["to"] == "cpu" and 1000 < link["latency"] < 10**7 and link["bytes_per_s"] > 1e8, link
    part, = table["parts"]
    assert 0 < part["dispatch"] < 10**7, part  # an answer and a request, to a worker that has the request already
    assert part["class"] == "cpu" and 0 <= part["start"] < 10**7 and part.get("bytes_per_s", 1) > 0, part
    assert found["cuts"] > 0
    placed = situ_json("place", path, "--platform", "2*cpu", "--cost-table", "costs.json", "--steps", "100")
    assert abs(placed["best_single_ns"] - found["measured_ns"]) <= found["operators"]


def test_a_table_has_all_times_also_of_shapes_beside_what_is_fused():
    engine()
    path = need("data/onnx/gpt2_past.onnx" if SHARE >= 100 else "data/onnx/gpt2_past_one_layer.onnx")
    found = situ_json("profile", path, "--items", "3", "--warm-up", "1", "-o", "costs.json")
    table = json.loads(pathlib.Path("costs.json").read_text())
    total = sum(t["cpu"] for t in (*table["operators"].values(), *(group["times"] for group in table["groups"])))
    assert abs(total - found["measured_ns"]) <= found["operators"], (total, found["measured_ns"])


def test_a_profile_of_elsewhere_needs_no_engine():
    """The sum over all operators is that of all kernels of the second run; the first one warms up. Within loops the
    kernels of bodies lie in the time of the loop's own kernel, which comes after them."""
    for model, profile in (("light_squeezenet", "squeezenet_optdisabled"), ("light_squeezenet", "squeezenet_optall"),
                           ("bert_toy_optimized", "bert_toy_optdisabled"), ("lstm_with_loop", "lstm_loop_optdisabled")):
        path = need(f"data/profiles/ort130_cpu_profile_{profile}.json")
        runs, kernels = [], []
        for event in json.loads(path.read_text()):
            if event["cat"] == "Node" and event["name"].endswith("_kernel_time"):
                while event["args"]["op_name"] in ("Loop", "Scan", "If") and kernels and kernels[-1]["ts"] >= event["ts"]:
                    kernels.pop()
                kernels.append(event)
            if event["name"] == "model_run":
                runs.append(kernels)
                kernels = []
        found = situ_json("profile", need(f"data/onnx/{model}.onnx"), "--from", path)
        assert found["items"] == len(runs) - 1
        if len(runs) == 2:
            assert found["measured_ns"] == 1000 * sum(event["dur"] for event in runs[1]), (profile, found["measured_ns"])
    situ("profile", need("data/onnx/mnist.onnx"), "--from", need("data/onnx/mnist.onnx"), code=3)
    pathlib.Path("none.json").write_text("[]")
    situ("profile", need("data/onnx/mnist.onnx"), "--from", "none.json", code=3, err="has no run after the first 1")


def kernels(*names_and_times):
    """A profile of two runs, of which the first is left out."""
    run = [{"cat": "Node", "name": f"{name}_kernel_time", "ts": 100 * i, "dur": us, "args": {"op_name": kind}}
           for i, (name, kind, us) in enumerate(names_and_times)] + [{"cat": "Session", "name": "model_run"}]
    pathlib.Path("profile.json").write_text(json.dumps(run + run))


def test_what_has_no_kernel_of_its_own_is_in_the_group_of_the_last_of_what_it_reads():
    """Abs and Neg read x, Add reads both and Relu the sum; Abs and Neg ran, Neg after Abs: the rest is in its kernel."""
    nodes = [node("Abs", ["x"], ["c"], "first"), node("Neg", ["x"], ["m"], "second"),
             node("Add", ["c", "m"], ["s"], "sum"), node("Relu", ["s"], ["y"], "last")]
    pathlib.Path("m.onnx").write_bytes(model(graph(nodes, [value("x", [4])], [value("y", [4])])))
    kernels(("first", "Abs", 7), ("second", "Neg", 5))
    situ("profile", "m.onnx", "--from", "profile.json", "-o", "costs.json")
    table = json.loads(pathlib.Path("costs.json").read_text())
    assert table["groups"] == [{"operators": ["second", "sum", "last"], "times": {"cpu": 5000}}], table
    assert table["operators"] == {"first": {"cpu": 7000}}, table
    placed = situ_json("place", "m.onnx", "--platform", "2*cpu", "--cost-table", "costs.json", "--steps", "10")
    assert placed["best_single_ns"] == 12000, placed


def four_nodes():
    nodes = [node("Abs", ["x"], ["a"], "first"), node("Relu", ["a"], ["b"], "second"),
             node("Neg", ["b"], ["c"], "third"), node("Exp", ["c"], ["y"], "last")]
    pathlib.Path("m.onnx").write_bytes(model(graph(nodes, [value("x", [4])], [value("y", [4])])))


def times_from(profile):
    found = situ_json("profile", "m.onnx", "--from", profile)
    return found["engine"], {row["name"]: row["time_ns"] for row in found["times"]}


def test_layers_of_tensorrt_are_read_by_their_medians():
    """Joined names are a fusion, copies between layouts belong to what ran before them; times in ms."""
    four_nodes()
    layers = [{"count": 9}, {"name": "first + second", "timeMs": 9, "averageMs": 1, "medianMs": 0.0125, "percentage": 50},
              {"name": "third input reformatter 0", "timeMs": 9, "averageMs": 0.001}, {"name": "third", "averageMs": 0.5},
              {"name": "last", "averageMs": 0.25, "medianMs": 0.2}]
    pathlib.Path("trt.json").write_text(json.dumps(layers))
    engine_name, times = times_from("trt.json")
    assert engine_name == "a profile of TensorRT"
    assert times == {"first": 12500 + 1000, "second": 0, "third": 500000, "last": 200000}, times


def test_counters_of_openvino_are_read():
    four_nodes()
    pathlib.Path("counters.csv").write_text(
        "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms);\n"
        "first;EXECUTED;Abs;jit_avx2_f32;0.015;0.015;\nsecond;OPTIMIZED_OUT;Relu;undef;0;0;\n"
        "third;EXECUTED;Neg;ref;1.5;1.5;\nlast;NOT_RUN;Exp;ref;7;7;\nTotal;;;;8.5;8.5;\n")
    engine_name, times = times_from("counters.csv")
    assert engine_name == "counters of OpenVINO"
    assert times == {"first": 15000, "second": 0, "third": 1500000, "last": 0}, times


def test_memory_statistics_give_operators_their_workspace():
    """Each of the four tensors has 16 bytes. While "second" runs there are its input, its output and 5000 bytes of its
    own; rows of nodes without a name, and what is not workspace, count for nothing."""
    four_nodes()
    kernels(("first", "Abs", 7), ("second", "Relu", 5), ("third", "Neg", 5), ("last", "Exp", 5))
    head = "#name,input_sizes,initializers_sizes,total_dynamic_sizes,total_temp_allocations\n"
    pathlib.Path("memory.csv").write_text(head + "second_8371000166622968629,16,0,16,4000\nsecond_1,16,0,16,5000\r\n"
                                          "first_77,16,0,999999,0\nAbs_5,16,0,16,7777777\n")
    found = situ_json("profile", "m.onnx", "--from", "profile.json", "--memory", "memory.csv", "-o", "costs.json")
    assert {row["name"]: row["workspace_bytes"] for row in found["times"]} == {"first": 0, "second": 5000, "third": 0, "last": 0}
    assert (found["memory_rows"], found["memory_rows_named"]) == (4, 3), found
    assert json.loads(pathlib.Path("costs.json").read_text())["workspace_bytes"] == {"second": 5000}
    situ("profile", "m.onnx", "--from", "profile.json", "--memory", "memory.csv", out="3 of 4 rows name a node")
    device, = situ_json("place", "m.onnx", "--platform", "cpu", "--cost-table", "costs.json")["devices"]
    assert device["memory_bytes"] == 16 + 16 + 5000, device
    for text, message in ((head, "names no node"), (head + "first_7,1,2,3\n", "line 2 does not end in four sizes"),
                       (head + "first_7,1,2,3,-4\n", "line 2"), ("first_7,1,2,3,4\n", "does not begin with")):
        pathlib.Path("bad.csv").write_text(text)
        situ("profile", "m.onnx", "--from", "profile.json", "--memory", "bad.csv", code=3, err=message)


def test_memory_statistics_of_squeezenet_are_those_of_its_nodes():
    """The file's last column, by the names before the last underscore."""
    path, stats = need("data/onnx/light_squeezenet.onnx"), need("data/profiles/ort130_node_memory_stats_squeezenet.csv")
    rows_of_file = [line.rsplit(",", 4) for line in stats.read_text().splitlines()[1:]]
    expected = {name.rsplit("_", 1)[0]: int(temp) for name, *_, temp in rows_of_file if int(temp) > 0}
    found = situ_json("profile", path, "--from", need("data/profiles/ort130_cpu_profile_squeezenet_optdisabled.json"), "--memory", stats)
    assert {row["name"]: row["workspace_bytes"] for row in found["times"] if row["workspace_bytes"]} == expected and expected


def test_kernels_that_an_engine_numbers_are_matched_in_order_where_there_are_as_many():
    """OpenVINO calls a convolution that it made anew after a number of its own. "second" is there by its name, so the
    two numbered ones are the first and the third by their numbers; of three numbered ones nothing can be said, and they
    count to what ran before them."""
    nodes = [node("Abs", ["x"], ["a"], "first"), node("Abs", ["a"], ["b"], "second"), node("Abs", ["b"], ["c"], "third"),
             node("Exp", ["c"], ["y"], "last")]
    pathlib.Path("m.onnx").write_bytes(model(graph(nodes, [value("x", [4])], [value("y", [4])])))
    kernels(("Convolution_1004", "Abs", 30), ("second", "Abs", 20), ("Convolution_97", "Abs", 10), ("last", "Exp", 5))
    assert times_from("profile.json")[1] == {"first": 10000, "second": 20000, "third": 30000, "last": 5000}
    kernels(("second", "Abs", 20), ("Convolution_97", "Abs", 10), ("Convolution_98", "Abs", 3), ("Convolution_99", "Abs", 1), ("last", "Exp", 5))
    assert times_from("profile.json")[1] == {"first": 0, "second": 34000, "third": 0, "last": 5000}


def activations():
    nodes = [node("Relu", ["x"], ["a"], "first"), node("Sigmoid", ["a"], ["b"], "second"),
             node("Relu", ["b"], ["c"], "third"), node("Tanh", ["c"], ["y"], "last")]
    pathlib.Path("m.onnx").write_bytes(model(graph(nodes, [value("x", [4])], [value("y", [4])])))


def trace(*events):
    """A trace of PyTorch: (category, name, start and duration in us, External id)."""
    rows = [{"ph": "X", "cat": cat, "name": name, "tid": 7, "ts": ts, "dur": us, "args": {"External id": mark}}
            for cat, name, ts, us, mark in events]
    other = {"ph": "X", "cat": "cpu_op", "name": "aten::tanh", "tid": 8, "ts": 1, "dur": 900, "args": {}}
    pathlib.Path("trace.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": [{"ph": "M"}, *rows, other]}))


def test_traces_of_pytorch_are_read_by_the_order_of_operators_of_a_kind():
    """Two runs, of which the first warms up: what an operator calls is in its time, a copy counts to what ran before it,
    operators that work in place are those without the mark, another thread is none of the model's."""
    activations()
    times = [("aten::relu", 10), ("aten::sigmoid_", 20), ("aten::relu_", 30.5), ("aten::copy_", 4), ("aten::tanh", 40)]
    run = [("cpu_op", name, 100 * k, us, k) for k, (name, us) in enumerate(times)] + [("cpu_op", "aten::clamp_min", 1, 8, 9)]
    slow = [(cat, name, ts, us / 2 if us < 10 else 2 * us, mark) for cat, name, ts, us, mark in run]
    trace(*slow, *((cat, name, 1000 + ts, us, 10 + mark) for cat, name, ts, us, mark in run))
    engine_name, found = times_from("trace.json")
    assert engine_name == "a trace of PyTorch"
    assert found == {"first": 10000, "second": 20000, "third": 34500, "last": 40000}, found


def test_kernels_on_a_gpu_are_the_time_of_what_launched_them():
    """aten::relu launches from within: 3 + 2 us; a copy to the GPU is of the operator that made it."""
    activations()
    trace(("cpu_op", "aten::relu", 0, 90, 1), ("cpu_op", "aten::clamp_min", 5, 50, 2), ("cpu_op", "aten::sigmoid", 100, 90, 3),
          ("cpu_op", "aten::relu", 200, 90, 4), ("cpu_op", "aten::tanh", 300, 90, 5), ("kernel", "a", 400, 3, 2),
          ("kernel", "b", 410, 2, 1), ("kernel", "c", 420, 7, 3), ("gpu_memcpy", "d", 430, 11, 4), ("kernel", "e", 440, 13, 5))
    assert times_from("trace.json")[1] == {"first": 5000, "second": 7000, "third": 11000, "last": 13000}


def test_annotations_that_name_nodes_say_what_ran():
    """Three operators of unknown kinds, annotated; the tanh by its kind."""
    activations()
    trace(*(("user_annotation", name, 100 * k, 50 + k, 2 * k) for k, name in enumerate(["first", "second", "third"])),
          *(("cpu_op", "my::own", 100 * k + 1, 40, 2 * k + 1) for k in range(3)), ("cpu_op", "aten::tanh", 400, 60, 9))
    assert times_from("trace.json")[1] == {"first": 50000, "second": 51000, "third": 52000, "last": 60000}


def test_a_trace_of_another_model_is_refused():
    activations()
    trace(*(("cpu_op", "aten::conv2d", 100 * k, 50, k) for k in range(3)), ("cpu_op", "aten::tanh", 400, 60, 9))
    # 150 of 210 us
    situ("profile", "m.onnx", "--from", "trace.json", code=3, err="71 % of its time belongs to operators that the model does not have")
    pathlib.Path("trace.json").write_text('{"traceEvents": []}')
    situ("profile", "m.onnx", "--from", "trace.json", code=3, err="100 % of its time")


def test_pytorch_says_that_it_runs_no_files():
    engine("pytorch")
    activations()
    situ("profile", "m.onnx", "--engine", "pytorch", code=3, err="PyTorch cannot read ONNX files; use situ.torch in Python")


def test_time_of_shapes_that_the_reader_folds_is_where_they_run():
    """h = Shape(Abs(x)) is known to the reader, and the engine computes it: beside Abs, whatever device a plan gives it."""
    nodes = [node("Abs", ["x"], ["a"], "wide"), node("Shape", ["a"], ["h"], "shape"),
             node("ConstantOfShape", ["h"], ["z"], "zeros"), node("Add", ["a", "z"], ["y"], "sum")]
    pathlib.Path("m.onnx").write_bytes(model(graph(nodes, [value("x", [4])], [value("y", [4])])))
    kernels(("wide", "Abs", 7), ("shape", "Shape", 20), ("zeros", "ConstantOfShape", 3), ("sum", "Add", 5))
    found = situ_json("profile", "m.onnx", "--from", "profile.json")
    times = {row["name"]: row["time_ns"] for row in found["times"]}
    assert times["wide"] >= 27000 and times["shape"] == 0 and sum(times.values()) == 35000, times


def random_placement(path, n_devices, seed):
    """Devices for runs of operators, drawn by the seed."""
    random = __import__("random").Random(seed)
    situ("place", path, "--platform", f"{n_devices}*cpu", "--fusion", "none", "--steps", "1", "-o", "any.json")
    names = [row[0] for row in json.loads(pathlib.Path("any.json").read_text())["operators"]]
    pins, left, device = {}, 0, 0
    for name in names:
        if left == 0:
            device, left = random.randrange(n_devices), random.randrange(1, max(2, len(names) // n_devices))
        pins[name] = f"cpu{device}"
        left -= 1
    pathlib.Path("pins.json").write_text(json.dumps(pins))


# Parts of half floats round where the whole computes in single ones: 11 bits of a number, a few times.
HALF_MODELS = ["whisper_encoder_self_attention_fp16", "attention_mask1d_fp16"]


def test_parts_with_half_floats_differ_by_their_roundings_at_most():
    engine()
    for name in HALF_MODELS[: rounds_of(len(HALF_MODELS))]:
        path = need(f"data/onnx/{name}.onnx")
        random_placement(path, 2, 0)
        situ("place", path, "--platform", "2*cpu", "--fusion", "none", "--fix", "pins.json", "-o", "plan.json")
        ran = situ_json("run", "plan.json", "--items", "3", "--warm-up", "1", "--level", "none")
        assert ran["outputs_equal"] and ran["max_relative_error"] < 16 / 2**11, (name, ran["max_relative_error"])


# Whole models of ../shared that ONNX Runtime 1.32 runs with made-up inputs, and that hold no half floats: between two
# nodes of half floats that are not cut apart the engine computes in single ones, so that no cut can give equal bits.
MODELS = """TFBertForQuestionAnswering aionnxml_featurizer attention_past_state bart_self_attention_megatron
    bert_toy_optimized byte_sb_bidi_lstm gh_issue_9671 gpt2_past gpt2_past_one_layer light_squeezenet light_inception_v2 lstm_with_loop mnist
    multistream_conv_add_relu polygraphy_residual_block qlstm_scan scan_1 tiny_random_gpt2_fp32 voice_commands""".split()


def test_parts_of_random_cuts_give_the_outputs_of_the_whole():
    engine()
    need("data/onnx")
    n_run = 0
    for at, name in enumerate(some(MODELS, MODELS.index("bert_toy_optimized"))):
        path = SHARED / f"data/onnx/{name}.onnx"
        if not path.exists():
            continue
        for n_devices, objective in ((2, ["--execution", "pipeline", "--free"]), (3 + at % 3, [])):
            random_placement(path, n_devices, at)
            situ("place", path, "--platform", f"{n_devices}*cpu", "--fusion", "none", "--fix", "pins.json",
                 *objective, "-o", "plan.json")
            exact = situ_json("run", "plan.json", "--level", "none", "--items", "3", "--warm-up", "1")
            assert exact["max_relative_error"] == 0, (name, n_devices, exact["max_relative_error"])
            fast = situ_json("run", "plan.json", "--items", "3", "--warm-up", "1")
            assert fast["outputs_equal"], (name, n_devices, fast["max_relative_error"])
            n_run += 1
    assert n_run > 0


def test_the_fastest_of_several_plans_is_kept_and_its_log_replays():
    engine()
    path = need("data/onnx/light_squeezenet.onnx")
    search = ["place", path, "--platform", "2*cpu", "--steps", "100", "--measure", "4"]
    measured = situ(*search, "--rounds", "8", "--race-log", "log.json", "-o", "plan.json")
    log = json.loads(pathlib.Path("log.json").read_text())
    best = log["plans"][log["winner"]]
    assert 2 <= len(log["plans"]) <= 4 and "fastest" in measured
    assert all(best["median_ns"] <= other["median_ns"] for other in log["plans"] if not other["dropped"]), log
    assert all(len(other["times_ns"]) <= len(best["times_ns"]) for other in log["plans"]), log
    kept = json.loads(pathlib.Path("plan.json").read_text())["operators"]
    again = situ(*search, "--race-from", "log.json", "--race-log", "again.json", "-o", "plan.json")
    assert again.splitlines()[: len(log["plans"]) + 1] == measured.splitlines()[: len(log["plans"]) + 1]
    assert pathlib.Path("again.json").read_bytes() == pathlib.Path("log.json").read_bytes()
    assert json.loads(pathlib.Path("plan.json").read_text())["operators"] == kept
    situ(*search[:-1], "2", "--race-from", "log.json", code=3, err="is not the log of a race of 2 plans")
    situ("place", SMALL, *QUICK, "--measure", "2", code=3, err="is not an ONNX or OpenVINO model")


def test_a_policy_learns_from_measured_times_and_its_log_replays():
    engine()
    path = need("data/onnx/mnist.onnx")
    train = ["learn", "hsdag", path, "--platform", "2*cpu", "--measurements", "8", "--steps", "40", "--map", "cpu1=1/2"]
    situ(*train, "--engine", "onnxruntime", "--trials-log", "log.json", "--plan", "plan.json", "-o", "one.policy",
         out="best single")
    log, plan = (json.loads(pathlib.Path(name).read_text()) for name in ("log.json", "plan.json"))
    assert 2 <= len(log["trials"]) <= 8 and len(log["final_ns"]) >= 2, log
    assert all(len(trial["times_ns"]) == len(trial["reference_ns"]) for trial in log["trials"])
    one, other = (min(trial["times_ns"]) for trial in log["trials"][:2])  # the second waits as long as it runs
    assert other > 1.5 * one, log["trials"][:2]
    output = situ(*train, "--trials-from", "log.json", "--trials-log", "again.json", "--plan", "other.json", "-o",
                "two.policy", "--json")
    again = json.loads("{" + output.rsplit("\n{\n", 1)[1])
    for one, other in (("log.json", "again.json"), ("one.policy", "two.policy")):
        assert pathlib.Path(one).read_bytes() == pathlib.Path(other).read_bytes(), one
    assert json.loads(pathlib.Path("other.json").read_text())["operators"] == plan["operators"]
    assert again["best_ns"] <= again["single_ns"] and again["measured"] <= 8, again
    situ("run", "plan.json", "--items", "3", "--map", "cpu1=1/2", out="outputs    equal")
    situ(*train, "--seed", "7", "--trials-from", "log.json", "-o", "two.policy", code=3, err="another placement")
    situ(*train, "--measurements", "9", "--trials-from", "log.json", "-o", "two.policy", code=3, err="but of 8")


def test_draws_that_do_not_learn_are_the_same_whatever_was_measured():
    """--variant learns=0 is random search: the placements that it draws depend on the seed alone, and its policy is the
    one that it began with, as of fewer measurements."""
    engine()
    path = need("data/onnx/mnist.onnx")
    draw = ["learn", "hsdag", path, "--platform", "2*cpu", "--steps", "40", "--variant", "learns=0", "--engine", "onnxruntime"]
    drawn, policies = [], []
    n, fewer = (8, 4) if SHARE >= 100 else (5, 4)
    for n, seed, *words in ((n, "1"), (n, "1", "--map", "cpu0=1/9"), (fewer, "1"), (n, "2")):
        situ(*draw, "--measurements", str(n), "--seed", seed, "--rounds", "3", *words, "--trials-log", "log.json", "-o", "r.policy")
        drawn.append([trial["hash"] for trial in json.loads(pathlib.Path("log.json").read_text())["trials"]])
        policies.append(pathlib.Path("r.policy").read_bytes())
    assert drawn[0] == drawn[1] and drawn[2] == drawn[0][:fewer] and drawn[3] != drawn[0], drawn
    assert len(set(drawn[0])) == len(drawn[0]) > 2, drawn[0]
    train = [*draw[:-4], "--engine", "onnxruntime", "--measurements", str(n), "--seed", "1"]
    situ(*train, "--rounds", "3", "-o", "learns.policy")
    assert len(policies[0]) == len(policies[1]) == pathlib.Path("learns.policy").stat().st_size
    assert policies[0] != pathlib.Path("learns.policy").read_bytes()


def test_the_latency_of_one_part_is_what_that_part_takes():
    """Neither the request to the worker nor its answer is in it, as among ranks."""
    engine()
    situ("place", need("data/onnx/mnist.onnx"), "--platform", "cpu", "-o", "plan.json")
    ran = situ_json("run", "plan.json", "--items", "5")
    assert ran["measured_ns"] == ran["latency_ns"] == ran["stages"][0]["measured_ns"] and "by_parts_ns" not in ran, ran


def test_this_host_runs_with_the_cores_that_its_costs_assume():
    """Its class is named after them; what is given goes first."""
    engine()
    os.environ["HWLOC_COMPONENTS"] = "-pci"  # the library that lists PCI devices leaks, which AddressSanitizer reports
    path = need("data/onnx/mnist.onnx")
    situ("place", path, *QUICK, "--platform", "this-host", "-o", "host.json")
    host = json.loads(pathlib.Path("host.json").read_text())["instance"]["host"]["devices"][0]
    assert host["class"] == f"cpu-{situ_json('run', 'host.json')['threads']}-cores"
    assert situ_json("run", "host.json", "--threads", "1")["threads"] == 1
    situ("place", path, *QUICK, "--platform", "cpu", "-o", "cpu.json")
    assert situ_json("run", "cpu.json")["threads"] == 1


def test_a_gpu_that_ran_on_the_cpu_is_named():
    """Its predicted time is that of a GPU, the measured one that of the CPU: neither is wrong."""
    engine()
    path = need("data/onnx/mnist.onnx")
    situ("place", path, "--platform", "cpu+t4-16g", "--unused", "cpu", "-o", "plan.json")
    situ("run", "plan.json", "--items", "3", out="note: gpu0 ran on the CPU")
    assert "ran on the CPU" not in situ("run", "plan.json", "--items", "3", "--device", "CPU")
    situ("place", path, "--platform", "cpu+t4-16g", "--measure", "2", "--rounds", "3", "--steps", "20",
         out="note: gpu0 ran on the CPU, so the race says nothing of them")
    assert "ran on the CPU" not in situ("place", path, "--platform", "2*cpu", "--measure", "2", "--rounds", "3", "--steps", "20")
    situ("place", path, "--platform", "cpu", "-o", "plan.json")
    assert "ran on the CPU" not in situ("run", "plan.json", "--items", "3")


def test_the_report_of_a_profile_fits_80_columns():
    engine()
    text = situ("profile", need("data/onnx/mnist.onnx"), "--items", "3", "-o", "costs.json", out="a cut")
    assert all(len(line) <= 80 for line in text.splitlines()), text
    assert "    0 ns " not in text, text  # what is fused into other kernels is only counted


def test_ctrl_c_ends_a_measurement_in_one_line():
    engine()
    call = [SITU, "profile", need("data/onnx/light_squeezenet.onnx"), "--items", "1000000", "--time-limit", "600", "-o", "costs.json"]
    with subprocess.Popen(list(map(str, call)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        time.sleep(1.5)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=100)
    assert (running.returncode, out, err) == (130, "", "situ: interrupted; nothing was written\n"), (running.returncode, out, err)
    assert not pathlib.Path("costs.json").exists()


def test_a_run_is_predicted_by_its_parts_too():
    """Parts of a device follow each other after a dispatch, and wait for hand-overs; each takes its operators, a quarter of
    a nanosecond for each byte of the 4000 of a value that it reads from or makes for another, and where it reads from
    another device a start, but of at most its operators: worked out here from the manifest of the parts."""
    engine()
    names = [f"v{i}" for i in range(24)]
    nodes = [node("Add", [names[i - 1] if i else "x", names[i - 7] if i > 6 else "x"], [name], name) for i, name in enumerate(names)]
    pathlib.Path("chain.onnx").write_bytes(model(graph(nodes, [value("x", [1000])], [value(names[-1], [1000])])))
    times = {name: 2000 * (1 + i % 3) for i, name in enumerate(names)}
    pathlib.Path("costs.json").write_text(json.dumps({
        "situ_costs": 1, "unit": "ns", "operators": {name: {"cpu": time} for name, time in times.items()},
        "links": [{"from": "cpu", "to": "cpu", "latency": 50000, "bytes_per_s": 1e12}],
        "parts": [{"class": "cpu", "start": 7000, "bytes_per_s": 2e9, "dispatch": 11000}]}))
    pathlib.Path("pins.json").write_text(json.dumps({name: f"cpu{i * i // 11 % 2}" for i, name in enumerate(names)}))
    situ("place", "chain.onnx", "--platform", "2*cpu", "--fusion", "none", "--fix", "pins.json", "--cost-table", "costs.json", "--steps", "10",
         "-o", "plan.json", "--write", "onnx-parts=parts")
    parts = json.loads(pathlib.Path("parts/manifest.json").read_text())["parts"]
    ran = situ_json("run", "plan.json", "--items", "3")
    assert situ_json("simulate", "plan.json")["by_parts_ns"] == ran["by_parts_ns"], ran
    reads = [[given["from"] for given in part["inputs"] if given["from"] is not None] for part in parts]
    others = [[k for k in of if parts[k]["device"] != part["device"]] for of, part in zip(reads, parts)]
    free, ends, capped = {}, [], 0
    for k, (part, stage) in enumerate(zip(parts, ran["stages"], strict=True)):
        first, last = names.index(stage["first"]), names.index(stage["last"])
        own = sum(times[name] for name in names[first : last + 1])  # every part here is a stretch of the chain
        assert last - first + 1 == stage["nodes"], stage
        takes = own + 1000 * (len(reads[k]) + sum(of.count(k) for of in reads)) + (min(7000, own) if others[k] else 0)
        assert stage["predicted_ns"] == takes, (k, stage, takes)
        begins = [free[part["device"]] + 11000] if part["device"] in free else [0]
        ends.append(max(begins + [ends[of] + 50004 for of in others[k]]) + takes)
        free[part["device"]] = ends[-1]
        capped += bool(others[k]) and own < 7000
    assert 0 < capped < len(ends) and abs(ran["by_parts_ns"] - max(ends)) <= len(ends), (ran["by_parts_ns"], ends, capped)


def test_what_cannot_be_learnt_from_measurements_says_why():
    situ("learn", "hsdag", SMALL, "--engine", "onnxruntime", "-o", "p.policy", code=3, err="is not an ONNX or OpenVINO model")
    situ("learn", "hsdag", SMALL, SMALL, "--engine", "onnxruntime", "-o", "p.policy", code=2, err="exactly one MODEL")
    engine()
    path = need("data/onnx/mnist.onnx")
    for words, message in (("cpu7=1", "not a device of the platform"), ("cpu0", "NAME=THREADS"), ("cpu0=1/0", "NAME=THREADS")):
        situ("learn", "hsdag", path, "--platform", "2*cpu", "--engine", "onnxruntime", "--map", words, "-o", "p.policy",
             code=2, err=message)


def test_replicas_take_inputs_in_turn():
    engine()
    path = need("data/onnx/mnist.onnx")
    situ("place", path, "--platform", "2*cpu", "--objective", "throughput", "--replicate", "--solver", "single", "-o", "plan.json")
    plan = json.loads(pathlib.Path("plan.json").read_text())
    used, free = sorted(plan["devices"], key=lambda device: -device["operators"])
    free["replica_of"] = used["name"]
    pathlib.Path("plan.json").write_text(json.dumps(plan))
    # A device alone would need as long for each input as the stage takes; two in turn cannot both be faster than half.
    # The stage is a mean over its inputs, which one interruption raises; a wrong division would show in every run.
    for _ in range(5):
        found = situ_json("run", "plan.json", "--items", "5")
        assert found["outputs_equal"] and found["kind"] == "period" and len(found["stages"]) == 1, found
        if found["measured_ns"] > 0.4 * found["stages"][0]["measured_ns"]:
            return
    raise AssertionError(found)


def test_what_cannot_be_run_says_why():
    engine()
    situ("place", SMALL, *QUICK, "-o", "plan.json")
    situ("run", "plan.json", code=3, err="is not an ONNX or OpenVINO model")
    situ("profile", SMALL, code=3, err="is not an ONNX or OpenVINO model")
    path = need("data/onnx/mnist.onnx")
    situ("place", path, "--platform", "2*cpu", "--steps", "1", "-o", "plan.json")
    situ("run", "plan.json", "--engine", "frob", code=2, err="no engine of this name")
    for name, row in known_rows().items():
        if not row["missing"]:
            situ("run", "plan.json", "--engine", name, "--time-limit", "0.000001", code=8,
                 err="gave no answer|listens no more")
            situ("run", "plan.json", "--engine", name, "--device", "FROB", code=3, err="FROB")
    assert left() == []
    assert subprocess.run(["pgrep", "-P", str(os.getpid()), "situ"], capture_output=True).stdout == b""


def test_engines_run_in_process_too():
    """Parts of two devices, in situ's own process: the same outputs; a period cannot be measured so."""
    found = [name for name, row in known_rows().items() if not row["missing"] and name != "pytorch"]
    if not found:
        raise Skip("no engine is installed (tools/setup.sh engines)")
    path = need("data/onnx/mnist.onnx")
    random_placement(path, 2, 1)
    situ("place", path, "--platform", "2*cpu", "--fusion", "none", "--fix", "pins.json", "-o", "plan.json")
    for name in found:
        ran = situ_json("run", "plan.json", "--engine", name, "--items", "3", "--in-process")
        assert ran["engine"].endswith(" in process") and ran["outputs_equal"], ran
    situ("place", path, "--platform", "2*cpu", "--steps", "1", "--execution", "pipeline", "-o", "plan.json")
    situ("run", "plan.json", "--engine", found[0], "--in-process", code=3, err="parts run sequentially")


def engine_workers(process):
    """The workers of a process that run an engine: they have loaded its library."""
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    found = []
    for child in children.read_text().split() if children.exists() else []:
        try:
            if re.search("libonnxruntime|libopenvino_intel_cpu", pathlib.Path(f"/proc/{child}/maps").read_text()):
                found.append(int(child))
        except OSError:
            pass  # it has just ended
    return found


def worker_of(process):
    """A worker that measures. One that only says its version, or ends, is gone a moment later and missed by nobody:
    it may take a second on a busy machine."""
    seen = {}
    for _ in range(150):
        for worker in engine_workers(process):
            seen[worker] = seen.get(worker, 0) + 1
            if seen[worker] == 8:
                return worker
        time.sleep(0.2)
    raise AssertionError("no worker began")


def test_a_worker_that_is_killed_or_stopped_is_one_error_and_nothing_stays():
    path = need("data/onnx/mnist.onnx")
    situ("place", path, "--platform", "2*cpu", "--steps", "10", "-o", "plan.json")
    found = [name for name, row in known_rows().items() if not row["missing"]]
    if not found:
        raise Skip("no engine is installed (tools/setup.sh engines)")
    for k, name in enumerate(found):
        for kind, limit, message in some(((signal.SIGKILL, "60", "killed by signal 9|ended during"),
                                       (signal.SIGSTOP, "2", "gave no answer to")), k):
            calls = [["run", "plan.json", "--items", "1000000", "--time-limit", limit]]
            if kind == signal.SIGKILL:
                calls.append(["learn", "hsdag", path, "--platform", "2*cpu", "--fusion", "none", "--measurements", "100000",
                              "--steps", "1000000", "-o", "p.policy"])
            for call in calls:
                run = subprocess.Popen([SITU, *call, "--engine", name], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       text=True)
                os.kill(worker_of(run), kind)
                _, text = run.communicate(timeout=60)
                assert run.returncode == 8 and re.search(message, text), (name, call, kind, run.returncode, text)
                assert len(text.strip().splitlines()) == 1, text
    assert left() == []
    assert subprocess.run(["pgrep", "-P", str(os.getpid()), "situ"], capture_output=True).stdout == b""


# Models with loops, half-known shapes and several inputs that OpenVINO converts. Not light_squeezenet: its weights are
# all equal, so that a softmax of numbers around 1e10 follows their rounding.
OPENVINO_MODELS = "bert_toy_optimized lstm_with_loop mnist byte_sb_bidi_lstm attention_past_state scan_1".split()


def test_openvino_runs_parts_and_gives_the_outputs_of_the_whole():
    engine("openvino")
    need("data/onnx")
    for at, name in enumerate(OPENVINO_MODELS[:: max(1, round(len(OPENVINO_MODELS) / rounds_of(len(OPENVINO_MODELS))))]):
        path = need(f"data/onnx/{name}.onnx")
        random_placement(path, 2, at)
        situ("place", path, "--platform", "2*cpu", "--fusion", "none", "--fix", "pins.json", "--execution",
             "pipeline", "--free", "-o", "plan.json")
        ran = situ_json("run", "plan.json", "--engine", "openvino", "--items", "3", "--warm-up", "1")
        assert ran["engine"].startswith("openvino 20") and ran["outputs_equal"], (name, ran["max_relative_error"])


def test_counters_of_openvino_become_times_of_the_models_operators():
    """Its two convolutions take most of mnist, whoever runs it; the sum is the whole."""
    engine("openvino")
    path = need("data/onnx/mnist.onnx")
    found = situ_json("profile", path, "--engine", "openvino", "--items", "5", "-o", "costs.json")
    times = {row["name"]: row["time_ns"] for row in found["times"]}
    assert abs(sum(times.values()) - found["measured_ns"]) <= len(times)
    assert times["Convolution28"] + times["Convolution110"] > found["measured_ns"] / 2, times
    assert "openvino" in json.loads(pathlib.Path("costs.json").read_text())["source"]
    situ("profile", path, "--engine", "openvino", "--level", "none", code=3, err="one level of graph optimisation")


if __name__ == "__main__":
    sys.exit(main(globals()))
