#!/usr/bin/env python3
"""Profiles and traces that engines wrote elsewhere, read as times of operators: no engine is needed.

    test_profiles.py SITU [NAME...]
"""
import json
import pathlib
import sys

from test_cli import main, need, situ, situ_json

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lab"))
from onnx_writer import graph, model, node, value


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


def test_time_of_shapes_that_the_reader_folds_is_where_they_run():
    """h = Shape(Abs(x)) is known to the reader, and the engine computes it: beside Abs, whatever device a plan gives it."""
    nodes = [node("Abs", ["x"], ["a"], "wide"), node("Shape", ["a"], ["h"], "shape"),
             node("ConstantOfShape", ["h"], ["z"], "zeros"), node("Add", ["a", "z"], ["y"], "sum")]
    pathlib.Path("m.onnx").write_bytes(model(graph(nodes, [value("x", [4])], [value("y", [4])])))
    kernels(("wide", "Abs", 7), ("shape", "Shape", 20), ("zeros", "ConstantOfShape", 3), ("sum", "Add", 5))
    found = situ_json("profile", "m.onnx", "--from", "profile.json")
    times = {row["name"]: row["time_ns"] for row in found["times"]}
    assert times["wide"] >= 27000 and times["shape"] == 0 and sum(times.values()) == 35000, times


if __name__ == "__main__":
    sys.exit(main(globals()))
