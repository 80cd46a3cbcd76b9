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
from test_profiles import activations

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


def runners():
    """Those installed that run ONNX files."""
    return [name for name in ("onnxruntime", "openvino") if not known_rows()[name]["missing"]]


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


def test_pytorch_says_that_it_runs_no_files():
    engine("pytorch")
    activations()
    situ("profile", "m.onnx", "--engine", "pytorch", code=3, err="PyTorch cannot read ONNX files; use situ.torch in Python")


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
    for name in runners():
        situ("run", "plan.json", "--engine", name, "--time-limit", "0.000001", code=8, err="gave no answer|listens no more")
        situ("run", "plan.json", "--engine", name, "--device", "FROB", code=3, err="FROB")
    assert left() == []
    assert subprocess.run(["pgrep", "-P", str(os.getpid()), "situ"], capture_output=True).stdout == b""


def test_engines_run_in_process_too():
    """Parts of two devices, in situ's own process: the same outputs; a period cannot be measured so."""
    found = runners()
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


def ticks_of(worker):
    """Hundredths of a second that it has computed."""
    fields = pathlib.Path(f"/proc/{worker}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def worker_of(process):
    """A worker that measures: it computes on, once it has loaded the library. One that only says its version ends."""
    first = {}
    for _ in range(600):
        for worker in engine_workers(process):
            try:
                if ticks_of(worker) - first.setdefault(worker, ticks_of(worker)) >= 15:
                    return worker
            except OSError:
                pass  # it has just ended
        time.sleep(0.05)
    raise AssertionError(f"no worker began: {process.args}")


def kill_workers(process):
    """Kills workers that live for one short measurement each, until one of them was hit; the first only says its version."""
    seen = set()
    for _ in range(3000):
        for worker in engine_workers(process):
            if len(seen | {worker}) > 2 and process.poll() is None:
                try:
                    os.kill(worker, signal.SIGKILL)
                except OSError:
                    pass  # it has just ended
            seen.add(worker)
        if process.poll() is not None:
            return
        time.sleep(0.01)
    raise AssertionError(f"no worker was killed: {process.args}")


def test_a_worker_that_is_killed_or_stopped_is_one_error_and_nothing_stays():
    path = need("data/onnx/mnist.onnx")
    situ("place", path, "--platform", "2*cpu", "--steps", "10", "-o", "plan.json")
    found = runners()
    if not found:
        raise Skip("no engine is installed (tools/setup.sh engines)")
    for k, name in enumerate(found):
        for kind, limit, message in some(((signal.SIGKILL, "60", "killed by signal 9|ended during"),
                                       (signal.SIGSTOP, "2", "gave no answer to")), k):
            calls = [["run", "plan.json", "--items", "1000000", "--time-limit", limit]]
            if kind == signal.SIGKILL and SHARE >= 100:
                calls.append(["learn", "hsdag", path, "--platform", "2*cpu", "--fusion", "none", "--measurements", "100000",
                              "--steps", "1000000", "-o", "p.policy"])
            for call in calls:
                run = subprocess.Popen([SITU, *call, "--engine", name], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       text=True)
                if call[0] == "learn":
                    kill_workers(run)
                else:
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
