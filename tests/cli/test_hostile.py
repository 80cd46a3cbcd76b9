#!/usr/bin/env python3
"""Input that means harm, from outside: one clear line, the documented exit code, no file left behind, no hang.

    test_hostile.py SITU [NAME...]

Cases as in test_cli.py. Small whole calls with their expected messages are in tests/golden (test_golden.py).
"""
import gzip
import json
import os
import pathlib
import pickle
import random
import signal
import subprocess
import sys
import time
import zipfile

from test_cli import (SITU, SMALL, environment, let_it_find_a_plan, main, need, rounds_of, situ, situ_json, small_platform, some,
                      thorough)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lab"))
from onnx_writer import field, fields, function, graph, model, nested, node, one_node, tensor, value, whole_numbers

TOY = "builtin:layered?operators=12"
QUICK = ["--steps", "20"]
CHAIN = model(graph([node("Relu", ["x"], ["t"], "a"), node("Tanh", ["t"], ["y"], "b")], [value("x", [4])], [value("y", [4])]))


def write(name, content):
    path = pathlib.Path(name)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return name


def workload():
    nodes = [{"id": i, "cpuLatency": 5, "fpgaLatency": 1, "supportedOnFpga": 1, "isBackwardNode": 0, "size": 10} for i in range(3)]
    edges = [{"sourceId": 0, "destId": 1, "cost": 1}, {"sourceId": 1, "destId": 2, "cost": 1}]
    return {"maxSizePerFPGA": 100, "maxCPUs": 1, "maxFPGAs": 2, "nodes": nodes, "edges": edges}


PROFILE = "".join(f"node{i} -- Conv(3) -- forward_compute_time=1.5, backward_compute_time=0.5, "
                  f"activation_size=[4.0; 4.0], parameter_size=8.0\n" for i in (1, 2)) + "\tnode1 -- node2\n"
IR = ('<net name="n" version="11"><layers><layer id="0" name="x" type="Parameter"><output><port id="0" precision="FP32"><dim>8</dim>'
      '</port></output></layer><layer id="1" name="r" type="ReLU"><input><port id="0"><dim>8</dim></port></input><output><port id="1" '
      'precision="FP32"><dim>8</dim></port></output></layer></layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>'
      '</edges></net>')
PLATFORM = {"situ_platform": 1, "devices": [{"name": "cpu", "base": "cpu"}, {"name": "npu", "base": "v100-16g", "count": 2}],
            "links": [{"from": "cpu", "to": "npu", "kind": "pcie3"}]}
GRAPH = {"situ_graph": 1, "operators": [{"name": "a", "dtype": "f32", "flops": 2000}, {"name": "b", "layer": "l", "weight_bytes": 40}],
         "tensors": [{"from": "a", "to": ["b"], "dims": [10, -1], "bytes": 4000}]}
COSTS = {"situ_costs": 1, "unit": "ms", "operators": {"layer0.0.matmul": {"cpu": 1.5, "v100-16g": None}}}


def run(*arguments, codes, **more):
    """Runs the tool; a failure must be one line on stderr and nothing on stdout."""
    done = subprocess.run([SITU, *map(str, arguments)], capture_output=True, text=True, errors="replace", timeout=60,
                          env=environment(), stdin=subprocess.DEVNULL, **more)
    output = f"{arguments}: exit code {done.returncode}\n{done.stdout[-500:]}{done.stderr[-1500:]}"
    assert done.returncode in codes, output
    if done.returncode in (2, 3, 6, 70):
        assert done.stdout == "" and len(done.stderr.splitlines()) == 1 and done.stderr.startswith("situ: "), output
    return done


# ---- damaged files of every kind ----


def damaged(content, chance):
    """A copy cut short, or with bits, bytes or whole pieces changed."""
    copy, way = bytearray(content), chance.random()
    if way < 0.25:
        del copy[chance.randrange(len(copy)):]
    elif way < 0.6:
        for _ in range(chance.randrange(1, 6)):
            copy[chance.randrange(len(copy))] ^= 1 << chance.randrange(8)
    elif way < 0.85:
        for _ in range(chance.randrange(1, 4)):
            copy[chance.randrange(len(copy))] = chance.choice(b'0123456789-eE+.,"[]{}:n \xff\x80\0')
    else:
        at = chance.randrange(len(copy))
        copy[at:at + chance.randrange(30)] = copy[chance.randrange(len(copy)):][:chance.randrange(30)]
    return bytes(copy)


def each_damaged(content, name, *call, codes=(0, 3, 4, 5), rounds=60):
    chance = random.Random(f"{name} {call[0]}")
    for _ in range(rounds_of(rounds)):
        write(name, damaged(content, chance))
        run(*call, codes=codes)


def test_damaged_models_are_read_or_refused():
    convolution = model(graph([node("Conv", ["x", "w"], ["y"], "c", strides=[2, 2])], [value("x", [1, 2, 8, 8])],
                              [value("y", ["n", 2, "h", "w"])], [tensor("w", [2, 2, 3, 3], 1, bytes(144))]))
    for content in (CHAIN, convolution, nested(2)):
        each_damaged(content, "m.onnx", "place", "m.onnx", "--reader", "onnx", *QUICK)
    each_damaged(json.dumps(workload()).encode(), "m.json", "place", "m.json", "--reader", "workload", *QUICK)
    each_damaged(json.dumps(GRAPH).encode(), "m.json", "place", "m.json", "--reader", "graph", *QUICK)
    each_damaged(PROFILE.encode(), "m.txt", "place", "m.txt", "--reader", "pipedream", *QUICK)
    each_damaged(IR.encode(), "m.xml", "place", "m.xml", "--reader", "openvino", *QUICK)


def test_damaged_platforms_and_cost_tables_are_read_or_refused():
    each_damaged(json.dumps(PLATFORM).encode(), "p.json", "place", TOY, "--platform", "p.json", *QUICK)
    each_damaged(json.dumps(COSTS).encode(), "c.json", "place", TOY, "--cost-table", "c.json", *QUICK)


def test_damaged_plans_and_pins_are_read_or_refused():
    for i, more in enumerate((["--execution", "stream"], ["--execution", "calls"], ["--objective", "throughput"])):
        situ("place", TOY, *QUICK, *more, "-o", f"plan{i}.json")
        content = pathlib.Path(f"plan{i}.json").read_bytes()
        calls = ((["check", "bad.json"], (0, 3, 7)), (["simulate", "bad.json"], (0, 3)),
                 (["place", TOY, *more, "--fix", "bad.json", *QUICK], (0, 3, 4, 5)))
        for call, codes in some(calls, i):
            each_damaged(content, "bad.json", *call, codes=codes)


ODD = [None, True, [], {}, "", "x", -1, 0, 0.5, 1e300, 5e-324, 2**31, 2**54 + 1, 2**63 - 1, 2**63, -2**63, [[]], [0] * 1000]


def reshaped(text, chance):
    """JSON with one value of it removed, or another one in its place (tests/fuzz/fuzz_files.c does this in process, thousands of
    times)."""
    tree = json.loads(text)
    lists = [tree]
    for one in lists:
        lists += [inner for inner in (one.values() if isinstance(one, dict) else one) if isinstance(inner, (dict, list)) and inner]
    at = chance.choice(lists)
    key = chance.choice(list(at)) if isinstance(at, dict) else chance.randrange(len(at))
    if chance.random() < 0.3:
        del at[key]
    elif isinstance(at[key], int) and chance.random() < 0.4:
        at[key] += chance.choice((-1, 1))
    else:
        at[key] = chance.choice(ODD)
    return json.dumps(tree)


def test_files_of_another_structure_are_read_or_refused():
    rules = {"situ_rules": 1, "operators": [{"kind": "MatMul", "not_on": ["gpu1"], "time_factor": {"gpu0": 1.5}}],
             "keep_together": ["layer0.*"], "devices": {"gpu0": {"reserve": "1 GiB", "efficiency": 0.5, "precision": ["f32"]}}}
    situ("place", TOY, *QUICK, "-o", "plan.json")
    plan, chance = pathlib.Path("plan.json").read_text(), random.Random(7)
    for content, call, codes in ((plan, ["check", "bad.json"], (0, 3, 7)), (plan, ["report", "bad.json", "-o", "page.html"], (0, 3)),
                                 (plan, ["place", TOY, "--start", "bad.json", *QUICK], (0, 3, 5)),
                                 (json.dumps(PLATFORM), ["place", TOY, "--platform", "bad.json", *QUICK], (0, 3, 4, 5)),
                                 (json.dumps(COSTS), ["place", TOY, "--cost-table", "bad.json", *QUICK], (0, 3, 4, 5)),
                                 (json.dumps(rules), ["place", TOY, "--rules", "bad.json", *QUICK], (0, 3, 4, 5)),
                                 (json.dumps(GRAPH), ["inspect", "bad.json"], (0, 3))):
        for _ in range(rounds_of(80)):
            write("bad.json", reshaped(content, chance))
            run(*call, codes=codes)


@thorough
def test_hostile_numbers_in_each_field_of_a_workload():
    odd = [-1, -1e-9, 1e300, 1e18, (1 << 63) - 1, "5", None, [], {}, True, 1e-320, 0.5]
    for key in ("id", "cpuLatency", "fpgaLatency", "supportedOnFpga", "isBackwardNode", "size", "colorClass", "name"):
        for number in odd:
            w = workload()
            w["nodes"][1][key] = number
            write("w.json", w)
            for objective in ("latency", "throughput"):
                run("place", "w.json", "--objective", objective, *QUICK, codes=(0, 3, 4, 5))
    for key in ("maxCPUs", "maxFPGAs", "maxSizePerFPGA", "nodes", "edges"):
        for number in odd:
            write("w.json", {**workload(), key: number})
            run("place", "w.json", *QUICK, codes=(0, 3, 4, 5))


def test_costs_that_are_negative_or_no_numbers_are_refused():
    for k, text in enumerate(("-1", "NaN", "Infinity", "1e999", "-0.001")):
        for key in some(('"cpuLatency": ', '"cost": ', '"size": '), k):
            before, after = json.dumps(workload()).split(key, 1)
            write("w.json", before + key + text + after[after.index(","):])
            run("place", "w.json", *QUICK, codes=(3,))
        write("c.json", json.dumps(COSTS).replace("1.5", text))
        run("place", TOY, "--cost-table", "c.json", *QUICK, codes=(3,))
        write("p.txt", PROFILE.replace("1.5", text))
        run("place", "p.txt", *QUICK, codes=(3,))


# ---- sizes, nesting, cycles ----


def test_sizes_that_overflow_are_capped_or_refused():
    for k, kind in enumerate(("Relu", "MatMul", "Softmax", "ReduceSum", "Transpose", "Flatten")):
        for shape in some(([1 << 62, 1 << 62], [-5, 3], [1 << 31, 1 << 31], [0, 1 << 62]), k):
            inputs = ["x", "x"] if kind == "MatMul" else ["x"]
            write("m.onnx", model(graph([node(kind, inputs, ["y"], "n")], [value("x", shape)], [value("y", ["m", "n"])])))
            run("place", "m.onnx", *QUICK, codes=(0, 3, 4, 5))
    write("m.onnx", one_node("Add", [tensor("w", [1 << 40, 1 << 40], 1, b"")], ("x", "w")))
    run("inspect", "m.onnx", codes=(3,))
    write("m.onnx", model(graph([node("ConstantOfShape", ["s"], ["y"])], [], [value("y", ["a", "b"])],
                                [whole_numbers("s", [1 << 40, 1 << 40])])))
    run("inspect", "m.onnx", codes=(0, 3))


def test_attributes_that_make_no_sense_are_refused():
    huge = whole_numbers("k", [1 << 62, -5])
    odd = (("Conv", {"group": 0}), ("Conv", {"strides": [0, 0]}), ("Split", {"axis": -99}), ("Transpose", {"perm": [5, 5]}),
           ("Gather", {"axis": 1 << 40}), ("MaxPool", {"kernel_shape": [0]}), ("Squeeze", {"axes": [77]}),
           ("DepthToSpace", {"blocksize": 0}), ("Einsum", {"equation": "ij,jk->"}), ("LSTM", {"hidden_size": -4}),
           ("Tile", {}), ("Expand", {}), ("Range", {}), ("Pad", {}), ("Slice", {}), ("Reshape", {}), ("OneHot", {}),
           ("Scan", {"num_scan_inputs": 99}), ("If", {}), ("Loop", {}), ("GroupNormalization", {"num_groups": 0}))
    for k, (kind, attributes) in enumerate(odd):
        for inputs in some(([], ["x"], ["x", "k"], ["x", "x", "x"], ["x", "k", "k", "k", "k"]), k):
            write("m.onnx", one_node(kind, [huge], inputs, **attributes))
            run("place", "m.onnx", *QUICK, codes=(0, 3, 4, 5))


def test_nesting_is_limited():
    write("m.onnx", nested(60))
    run("inspect", "m.onnx", codes=(0,))
    for levels in (100, 1000):
        write("m.onnx", nested(levels))
        assert "64 deep" in run("inspect", "m.onnx", codes=(3,)).stderr
    inner = b""
    for _ in range(10000):
        inner = field(1, field(4, "If") + field(5, field(1, "t") + field(6, inner) + field(20, 5)))
    write("m.onnx", model(inner))
    assert "64 deep" in run("inspect", "m.onnx", codes=(3,)).stderr
    for levels in (100, 10000):
        for text in ("[" * levels + "]" * levels, '{"a":' * levels + "1" + "}" * levels):
            write("deep.json", text)
            calls = ["check"], ["place", TOY, "--fix"], ["place", TOY, "--platform"]
            for call in some(calls, levels // 100 + len(text) % 2):
                run(*call, "deep.json", codes=(3,))
            write("deep.json", '{"maxFPGAs": ' + text + "}")
            run("inspect", "deep.json", codes=(3,))


@thorough  # read-onnx has the like in every run
def test_functions_that_double_thirty_times_are_refused_soon():
    own = [function(f"F{k}", ["p"], ["q"], [node(f"F{k + 1}", ["p"], ["r"], "", "own"), node(f"F{k + 1}", ["r"], ["q"], "", "own")])
           for k in range(30)] + [function("F30", ["p"], ["q"], [node("Relu", ["p"], ["q"])])]
    write("m.onnx", model(graph([node("F0", ["x"], ["y"], "f", "own")], [value("x", [4])], [value("y", [4])]), own))
    assert "operators" in run("inspect", "m.onnx", codes=(3,)).stderr


def test_cycles_are_named():
    loop = graph([node("Relu", ["b"], ["a"], "p"), node("Relu", ["a"], ["b"], "q")], [], [value("b", [4])])
    write("m.onnx", model(loop))
    assert "cycle" in run("place", "m.onnx", codes=(3,)).stderr
    w = workload()
    w["edges"].append({"sourceId": 2, "destId": 0, "cost": 1})
    write("w.json", w)
    assert "cycle" in run("place", "w.json", codes=(3,)).stderr
    write("p.txt", PROFILE + "\tnode2 -- node1\n")
    assert "cycle" in run("place", "p.txt", codes=(3,)).stderr


def test_problems_without_a_choice_end_within_their_steps():
    for platform in (["cpu"], ["cpu+v100-16g", "--unused", "cpu"], ["v100-16g"]):
        for execution in (["--execution", "stream"], ["--execution", "calls"], ["--objective", "throughput"],
                          ["--objective", "throughput", "--free"]):
            run("place", TOY, "--platform", *platform, *execution, "--steps", "300", codes=(0,))


# ---- external data ----


def test_external_data_stay_in_the_folder():
    os.mkdir("inner")
    write("outside.bin", bytes(64))
    write("inner/in.bin", bytes(64))
    os.symlink("../outside.bin", "inner/link.bin")
    os.symlink("..", "inner/up")
    os.symlink("in.bin", "inner/fine.bin")
    for k, location in enumerate(("../outside.bin", "/etc/passwd", "link.bin", "up/outside.bin", "a/../../outside.bin", "..", "",
                                  "..\\outside.bin", "C:\\data.bin")):
        write("inner/m.onnx", one_node("Add", [tensor("w", [4], 1, None, {"location": location})], ("x", "w")))
        for folder, path in some(((".", "inner/m.onnx"), ("inner", "m.onnx")), k):
            run("inspect", path, codes=(3,), cwd=folder)
    for location in ("in.bin", "fine.bin", "absent.bin"):
        write("inner/m.onnx", one_node("Add", [tensor("w", [4], 1, None, {"location": location})], ("x", "w")))
        run("inspect", "inner/m.onnx", codes=(0,))
    for place in ({"offset": 60}, {"offset": -1}, {"length": -1}, {"length": 15}, {"offset": 1 << 62, "length": 1 << 62},
                  {"offset": "9" * 30}, {"length": "abc"}):
        write("inner/m.onnx", one_node("Add", [tensor("w", [4], 1, None, {"location": "in.bin", **place})], ("x", "w")))
        run("inspect", "inner/m.onnx", codes=(3,))


# ---- files that are none ----


def test_pipes_devices_and_folders_are_no_input():
    os.mkfifo("pipe")
    os.mkdir("folder")
    odd = [p for p in ("pipe", "folder", "/dev/zero", "/dev/null", "/dev/full", "/proc/self/mem") if os.path.exists(p)]
    for k, path in enumerate(odd):
        for command in some(("inspect", "place", "compare", "check", "simulate"), k):
            run(command, path, codes=(3,))
        for option in some(("--fix", "--cost-table", "--platform"), k):
            run("place", TOY, option, f"./{path}" if path[0] != "/" else path, *QUICK, codes=(3,))


def test_empty_garbled_and_huge_files_are_no_input():
    write("empty", b"")
    write("garbled", random.Random(1).randbytes(5000))
    with open("huge", "wb") as huge:
        huge.truncate(3 << 30)  # holes, which take no room
    readers = (["inspect", "--reader", name] for name in ("onnx", "workload", "pipedream", "openvino", "graph"))
    for k, command in enumerate((["inspect"], ["place"], ["check"], *readers, ["place", TOY, "--fix"],
                                 ["place", TOY, "--cost-table"], ["place", TOY, "--platform"])):
        for path in some(("empty", "garbled", "huge"), k):
            run(*command, path, codes=(3,))


def test_files_that_are_no_models_are_named():
    with zipfile.ZipFile("module.pt", "w") as archive:
        archive.writestr("data.pkl", "")
    for protocol in (2, 4):
        pathlib.Path(f"old{protocol}.pth").write_bytes(pickle.dumps({"weight": [1.0]}, protocol=protocol))
    pathlib.Path("pointer.gguf").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 4\n")
    pathlib.Path("page.safetensors").write_text("<!DOCTYPE html>\n<html></html>\n")
    pathlib.Path("m.onnx.gz").write_bytes(gzip.compress(b"model"))
    pathlib.Path("m.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(64))
    for name, said in (("module.pt", "zip archive"), ("old2.pth", "pickle"), ("old4.pth", "pickle"), ("pointer.gguf", "git lfs pull"),
                       ("page.safetensors", "web page"), ("m.onnx.gz", "gzip"), ("m.h5", "HDF5")):
        situ("place", name, code=3, err=said)
    for size in (0x0280, 0x0380, 0x8b1f):  # safetensors begin with the size of their header: as a pickle, as gzip
        pathlib.Path("m.safetensors").write_bytes(size.to_bytes(8, "little") + b"{}".ljust(size))
        assert refusal("m.safetensors") == refusal("m.safetensors", "--reader", "safetensors")


def refusal(*arguments):
    return subprocess.run([SITU, "place", *arguments], capture_output=True, text=True, env=environment(), timeout=60).stderr


def test_stages_beyond_13_days_are_not_said_to_lack_memory():
    way = {"id": "kept", "timePerSample": 1e5, "parameterSize": 0, "memoryUsageA": 1, "memoryUsageB": 0, "syncTimeFw": {}, "syncTimeBw": {}}
    nodes = [{"id": k, "TMPCs": {"1": [way]}} for k in range(12)]  # 1.2e15 ns on the one device, 2^50 is 1.126e15
    pathlib.Path("slow.json").write_text(json.dumps({"maxDevices": 1, "maxMemoryPerDevice": 99, "bandwidth": 1e9, "mbsInBatch": 1,
                                                     "edges": [], "nodes": nodes}))
    situ("stages", "slow.json", code=4, out="no plan of less than 13 days an input fits")


def stages_of(n, degrees, edges=()):
    way = {"id": "kept", "timePerSample": 1, "parameterSize": 7, "memoryUsageA": 1, "memoryUsageB": 0, "syncTimeFw": {}, "syncTimeBw": {}}
    nodes = [{"id": k, "TMPCs": {str(d): [{**way, "timePerSample": (k + 3) / d + d * 1e-3}] for d in degrees}} for k in range(n)]
    return {"maxDevices": 4000, "maxMemoryPerDevice": 99, "bandwidth": 1e9, "mbsInBatch": 4000, "edges": list(edges), "nodes": nodes}


def test_ctrl_c_ends_stages_with_the_best_so_far():
    pathlib.Path("long.json").write_text(json.dumps(stages_of(12, range(1, 500))))
    run = subprocess.Popen([SITU, "stages", "long.json", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
    time.sleep(1)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60)  # the judge ends what it began
    assert run.returncode in (0, 130), (run.returncode, err)
    assert json.loads(out)["lower_bound_ns"] > 0


def test_stages_of_too_many_edges_are_refused_before_they_take_memory():
    model = stages_of(2, ())
    model["edges"] = [{"sourceId": 0, "destId": 1, "communicationCost": 1}] * 3000
    for k in (0, 1):
        model["nodes"][k]["TMPCs"] = {str(d): [{}] * 64 for d in range(1, 200)}
    pathlib.Path("edges.json").write_text(json.dumps(model))
    situ("stages", "edges.json", code=3, err="edges at the variants")


def test_control_characters_in_a_model_do_not_reach_the_terminal():
    write("m.onnx", model(graph([node("Re\033[31mlu\n", ["x"], ["y"], "na\033]0;me\n")], [value("x", [4])], [value("y", [4])])))
    for command in ("inspect", "place", "compare"):
        call = [command, "m.onnx"] + ([] if command == "inspect" else QUICK)
        done = run(*call, codes=(0,))
        assert "\033" not in done.stdout + done.stderr


# ---- outputs ----


def test_outputs_that_fail_leave_nothing():
    os.mkdir("folder")
    for path in ("no/such/file", "folder", "folder/", "/dev/full"):
        for option in (["-o", path], ["--svg", path], ["--write", f"trace={path}"], ["--write", f"csv={path}"]):
            done = subprocess.run([SITU, "place", TOY, "--platform", "cpu+v100-16g", *QUICK, *option], capture_output=True, text=True)
            assert done.returncode == 6 and len(done.stderr.splitlines()) == 1, (option, done)
    situ("place", TOY, *QUICK, "-o", "plan.json")
    for path in ("no/such/file", "/dev/full"):
        done = subprocess.run([SITU, "simulate", "plan.json", "--trace", path], capture_output=True, text=True)
        assert done.returncode == 6 and len(done.stderr.splitlines()) == 1, done
    assert sorted(os.listdir()) == ["folder", "plan.json"] and os.listdir("folder") == []


def test_a_run_does_not_overwrite_what_it_reads():
    write("m.onnx", CHAIN)
    write("p.json", PLATFORM)
    os.link("m.onnx", "also.onnx")
    call = ["place", "m.onnx", *QUICK]
    for option in (["-o", "m.onnx"], ["-o", "./m.onnx"], ["--svg", "also.onnx"], ["--platform", "p.json", "-o", "p.json"],
                   ["--write", "csv=m.onnx"]):
        assert "this file is an input" in run(*call, *option, codes=(2,)).stderr
    assert "two outputs" in run(*call, "-o", "same", "--svg", "same", codes=(2,)).stderr
    assert "two outputs" in run(*call, "--write", "csv=same", "--write", "dot=same", codes=(2,)).stderr
    assert pathlib.Path("m.onnx").read_bytes() == CHAIN and not pathlib.Path("same").exists()
    run(*call, "-o", "plan.json", codes=(0,))
    assert "this file is an input" in run("simulate", "plan.json", "--trace", "plan.json", codes=(2,)).stderr
    run(*call, "--fix", "plan.json", "-o", "plan.json", codes=(0,))  # a plan may take the place of its pins
    run(*call, "-o", "/dev/null", "--svg", "/dev/null", codes=(0,))


def test_readers_that_go_away_do_no_harm():
    for call in (["list", "devices"], ["place", TOY, *QUICK, "-o", "plan.json"], ["completion", "bash"]):
        with subprocess.Popen([SITU, *call], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            running.stdout.close()
            running.communicate(timeout=240)
        assert running.returncode in (0, -signal.SIGPIPE, 6), (call, running.returncode)
    assert all("plan.json." not in name for name in os.listdir())


def test_a_folder_that_cannot_be_made_is_told_before_the_search():
    """`run` wants nothing on stdout: the plan of a search would be there."""
    write("chain.onnx", CHAIN)
    write("file", "x")
    for folder, message in (("no/such/parts", 'there is no folder "no/such"'), ("no/parts/", 'there is no folder "no"'),
                         ("file", "is a file, but onnx-parts writes a folder"), ("file/parts", 'no folder "file"')):
        situ("place", "chain.onnx", *QUICK, "--write", f"onnx-parts={folder}", code=6, err=message)
    situ("place", TOY, *QUICK, "-o", "no/such/plan.json", code=6, err='cannot be written: there is no folder "no/such"')
    situ("place", "chain.onnx", *QUICK, "--write", "onnx-parts=parts/")
    situ("place", "chain.onnx", *QUICK, "--write", f"onnx-parts={pathlib.Path('parts').resolve()}")


def test_slips_are_answered_with_what_to_do():
    write("empty.onnx", "")
    pathlib.Path("models").mkdir()
    place = ["place", "builtin:resnet50", *QUICK]
    situ("place", "empty.onnx", code=3, err="is empty; expected a model")
    situ("place", "models", code=3, err="is a folder without model.safetensors")
    write("models/model.onnx", CHAIN)
    assert situ_json("inspect", "models")["reader"] == "onnx"
    situ(*place, "--rules", "models", code=3, err="is a folder; expected a file")
    situ(*place, "--dim", "batch=4", code=2, err="as in builtin:gpt2[?]batch=8")
    situ(*place, "--prompt", "100", code=2, err="prompt and context are for builtin:llama")
    situ(*place, "--platform", "this-hots", code=2, err="did you mean this-host[?]")
    situ(*place, "--platform", "this-host+rtx3060", code=2, err="stands alone")
    situ("place", TOY, "--steps", "9" * 20, code=2, err="a whole number, at most 9223372036854775807")
    situ("place", TOY, *QUICK, "--dim", "batch=" + "9" * 20, code=2, err="expected NAME=VALUE with a whole number")
    for time in ("-5", "0", "5kg", "1e300s", "nan", ""):
        situ("place", TOY, "--max-latency", time, code=2, err="a time above 0 in milliseconds" if time else "is empty")
    situ("place", TOY, *QUICK, "--platform", "cpu+2*t4-16g", "--unused", "gpu", code=2, err="no device gpu; did you mean cpu or gpu0 or gpu1[?]")
    situ("place", TOY, *QUICK, "--platform", "cpu+t4-16g", "--unused", "elephant", code=2, err="known: cpu, gpu0")
    situ("place", TOY, "--time-limit", "10s", code=2, err="a number of seconds above 0")
    situ("place", TOY, "--seed", "9" * 20, code=2, err="a whole number, at most 18446744073709551615")
    situ("place", TOY, *QUICK, "--threads", "9" * 10, code=2, err="a whole number, at most 2147483647")


def test_a_model_and_a_plan_that_are_mixed_up_are_told_apart():
    write("chain.onnx", CHAIN)
    situ("place", TOY, *QUICK, "-o", "plan.json")
    situ("place", "plan.json", code=3, err="is a plan; expected a model")
    for other in ("chain.onnx", write("costs.json", COSTS), write("text", "text")):
        situ("explain", other, code=3, err="`situ place MODEL -o FILE` writes")
    situ("check", TOY, code=3, err="is a model; expected a plan, which `situ place builtin:layered.operators=12 -o FILE` writes")


def test_one_operator_is_not_operators():
    write("one.json", {"situ_graph": 1, "operators": [{"name": "a", "flops": 1000}]})
    situ("place", "one.json", *QUICK, out="; 1 operator; costs")


def test_sizes_that_would_read_the_same_are_told_in_bytes():
    weights = situ_json("inspect", SMALL)["weight_bytes"]
    small_platform(weights - 1)
    found = situ_json("place", SMALL, "--platform", "small.json", "--unused", "cpu", *QUICK, code=4)
    assert f"need {weights} bytes, all usable memories together hold {weights - 1} bytes" in found["reason"], found["reason"]


# ---- interruption ----


def test_ctrl_c_at_any_time_ends_soon_with_a_plan_or_without():
    for wait in (0, 0.002, 0.01, 0.05, 0.3):
        call = [SITU, "place", "builtin:inception-v3", "--time-limit", "3600", "-o", "plan.json", "--json"]
        with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
            time.sleep(wait)
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=240)
        assert running.returncode in (0, 130, -signal.SIGINT), (running.returncode, err)
        if running.returncode == 0:
            assert json.loads(out)["value_ns"] > 0 and situ_json("check", "plan.json")["valid"]
            os.unlink("plan.json")
        elif running.returncode == 130:
            assert json.loads(out)["outcome"] == "cancelled" and os.listdir() == [], (wait, out, err, os.listdir())
        assert [name for name in os.listdir() if name.startswith("plan.json.")] == [], (wait, os.listdir())


def test_ctrl_c_while_it_starts_leaves_no_file():
    """Outputs are tried out before the search, each by a file that is there for a moment."""
    for k in range(rounds_of(100)):
        call = [SITU, "place", "builtin:inception-v3", "--time-limit", "3600", "-o", "plan.json"]
        with subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
            time.sleep(0.001 + 0.00004 * k)
            running.send_signal(signal.SIGINT)
        assert [name for name in os.listdir() if name.startswith("plan.json.")] == [], (k, os.listdir())


@thorough
def test_a_second_signal_of_another_kind_ends_at_once():
    os.mkfifo("nobody-reads")  # the plan so far cannot be written: the tool waits for a reader
    call = [SITU, "place", "builtin:inception-v3", "--platform", "cpu+2*v100-16g", "--time-limit", "3600", "-o", "nobody-reads"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        let_it_find_a_plan(call[:-2])
        running.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        assert running.poll() is None, (running.returncode, running.stderr.read())
        running.send_signal(signal.SIGHUP)
        running.communicate(timeout=240)
    assert running.returncode == -signal.SIGHUP, running.returncode


@thorough
def test_nohup_keeps_sighup_ignored():
    call = [SITU, "place", "builtin:inception-v3", "--platform", "cpu+2*v100-16g", "--time-limit", "0.6", "--json"]
    ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=ignore) as running:
        time.sleep(0.3)
        running.send_signal(signal.SIGHUP)
        out, err = running.communicate(timeout=240)
    assert running.returncode == 0 and json.loads(out)["seconds"] > 0.5, (running.returncode, out, err)


# ---- the same run, the same file ----


@thorough
def test_plans_do_not_depend_on_folder_locale_or_terminal():
    def plan(**more):
        call = [SITU, "place", "builtin:inception-v3", "--steps", "100", "--seed", "3", "-o", "plan.json"]
        subprocess.run(call, check=True, capture_output=True, **more)
        return pathlib.Path(more.get("cwd", "."), "plan.json").read_bytes()

    os.mkdir("inner")
    first = plan()
    assert first == plan(cwd="inner") == plan(env=environment(LC_ALL="de_DE.UTF-8", LC_NUMERIC="de_DE.UTF-8", LANG="de_DE.UTF-8"))
    assert first == plan(env={"PATH": "/bin", "TERM": "dumb", "LC_ALL": "C", "COLUMNS": "1"})


if __name__ == "__main__":
    sys.exit(main(globals()))
