#!/usr/bin/env python3
"""Plans of language models that a server runs: what situ asks of it and makes of its answers, log and failures. The server is a
stand-in; test_llamacpp.py has the true one.

    test_served.py SITU [NAME...]
"""
import json
import os
import pathlib
import subprocess
import sys

import gguf_models
from test_cli import environment, main, situ

# 200 tokens in 50 ms are 4,000 tokens/s; 64 in 640 ms are 100.
SERVER = '''#!{python} -S
import json, pathlib, sys
HELP = "{help}"
words = sys.argv[1:]
if "--help" in words: print(HELP); sys.exit()
if "--version" in words: print("version: 77 (abc)"); sys.exit()
if "--list-devices" in words: print("Available devices:\\n  CUDA0: a GPU (1 MiB, 1 MiB free)\\n  RPC0: another"); sys.exit()
pathlib.Path({folder!r}, "words.json").write_text(json.dumps(words))
print("""{log}""", flush=True)
if "{ends}": sys.exit(1)
import http.server
class Answer(http.server.BaseHTTPRequestHandler):
    def reply(self, text):
        self.send_response(200); self.send_header("Content-Length", str(len(text))); self.end_headers(); self.wfile.write(text.encode())
    def do_GET(self): self.reply("ok")
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        n = len(asked["prompt"])
        self.reply(json.dumps({{"timings": {{"prompt_n": n, "prompt_ms": n / 4, "predicted_n": asked["n_predict"], "predicted_ms": 10.0 * asked["n_predict"]}}}}))
    def log_message(self, *a): pass
http.server.HTTPServer(("127.0.0.1", int(words[words.index("--port") + 1])), Answer).serve_forever()
'''
OPTIONS = "-m -t -v -dev -sm -ts -ngl -ot -c -np -b -ub -fa -ctk -ctv --fit --rpc"


def log(*devices, head):
    lines = [f"load_tensors: layer {k:3d} assigned to device {d}, is_swa = 0" for k, d in enumerate([*devices, head])]
    return "\n".join([*lines, "load_tensors:   CPU_Mapped model buffer size =     2.00 MiB", "load_tensors:   CUDA0 model buffer size =   3.00 MiB",
                      "llama_kv_cache:  CUDA0 KV buffer size =  4.00 MiB", "sched_reserve:  CUDA0 compute buffer size =   9.00 MiB",
                      "sched_reserve:  CUDA0 compute buffer size =   5.00 MiB", "sched_reserve:  CUDA01 compute buffer size =   7.00 MiB"])


def stand_in(text, options=OPTIONS, ends=""):
    path = pathlib.Path("bin/llama-server")
    path.parent.mkdir(exist_ok=True)
    path.write_text(SERVER.format(python=sys.executable, help=options + " ", folder=os.getcwd(), log=text, ends=ends))
    path.chmod(0o755)
    return {"env": environment(SITU_LLAMACPP=str(path.parent.resolve()))}


BENCH = """#!{python} -S
import json, pathlib, sys
words = sys.argv[1:]
of = lambda o: int(words[words.index(o) + 1])
with open({folder!r} + "/calls.jsonl", "a") as f: f.write(json.dumps(words) + chr(10))
ns = {{True: 5_000_000 * of("-p"), False: 20_000_000 * of("-n")}}[of("-p") > 0]
if not {fails}: print(json.dumps({{"build_commit": "abc", "samples_ns": [ns, ns // 2, 2 * ns]}}))
else: print("loading", "no such device", sep=chr(10))
"""


def test_a_profile_scales_each_kind_of_step_to_what_is_measured():
    """5 ms for each token of the prompt, 20 ms for each that is generated: 40 and 8 take 360 ms, those of decoding alone 20 ms."""
    gguf_models.write("m.gguf", *gguf_models.llama())
    pathlib.Path("bin").mkdir()
    program = pathlib.Path("bin/llama-bench")
    for fails in (False, True):
        program.write_text(BENCH.format(python=sys.executable, folder=os.getcwd(), fails=fails))
        program.chmod(0o755)
        call = {"env": environment(SITU_LLAMACPP=str(program.resolve().parent)), "capture_output": True, "text": True}
        done = subprocess.run(["situ", "profile", "m.gguf", "--prompt", "40", "--generate", "8", "--threads", "2", "-o", "c.json"], **call)
        assert done.returncode == (8 if fails else 0) and (not fails or "gave no times: no such device" in done.stderr), done
    program.write_text(BENCH.format(python=sys.executable, folder=os.getcwd(), fails=False))
    times = json.loads(pathlib.Path("c.json").read_text())["operators"]
    assert all(abs(sum(t["cpu"][kind] for t in times.values()) - ns) < 1000 for kind, ns in (("prefill", 200_000_000), ("decode", 20_000_000)))
    calls = [json.loads(line) for line in pathlib.Path("calls.jsonl").read_text().splitlines()][:2]
    assert [(c[c.index("-p") + 1], c[c.index("-n") + 1], c[c.index("-d") + 1]) for c in calls] == [("40", "0", "0"), ("0", "8", "40")]
    assert all(c[c.index("-dev") + 1] == "none" and c[c.index("-t") + 1] == "2" for c in calls)
    placed = situ("place", "m.gguf", "--platform", "this-host", "--prompt", "40", "--generate", "8", "--cost-table", "c.json", "--json")
    assert abs(json.loads(placed)["value_ns"] - 360_000_000) < 2000 and abs(json.loads(placed)["decode_tokens_per_second"] - 50) < 0.01
    longer = situ("place", "m.gguf", "--platform", "this-host", "--prompt", "40", "--generate", "16", "--cost-table", "c.json", "--json")
    assert abs(json.loads(longer)["value_ns"] - 520_000_000) < 4000
    done = subprocess.run(["situ", "profile", "m.gguf", "--context", "100", "--device", "RPC[h:1]", "--json"], **call)
    assert abs(json.loads(done.stdout)["measured_ns"] - 20_000_000) < 1000, done
    words = json.loads(pathlib.Path("calls.jsonl").read_text().splitlines()[-1])
    assert words[words.index("-rpc") + 1] == "h:1" and words[words.index("-dev") + 1] == "RPC0", words


def test_a_profile_names_the_device_that_was_measured():
    """The class of CUDA0 is that of the GPU which nvidia-smi lists, if all are alike; nothing is measured for an unknown class."""
    gguf_models.write("m.gguf", *gguf_models.llama())
    pathlib.Path("bin").mkdir()
    for name, text in (("llama-bench", BENCH.format(python=sys.executable, folder=os.getcwd(), fails=False)), ("nvidia-smi", "#!/bin/sh\ncat list\n")):
        pathlib.Path("bin", name).write_text(text)
        pathlib.Path("bin", name).chmod(0o755)
    here = str(pathlib.Path("bin").resolve())
    env = environment(SITU_LLAMACPP=here)
    env["PATH"] = f"{here}:{env['PATH']}"

    def profiled(device, *gpus, code=0):
        pathlib.Path("list").write_text("".join(f"GPU {i}: NVIDIA GeForce {name} (UUID: GPU-{i})\n" for i, name in enumerate(gpus)))
        pathlib.Path("c.json").unlink(missing_ok=True)
        call = ["situ", "profile", "m.gguf", "--context", "100", "--threads", "2", "-o", "c.json", *(["--device", device] if device else [])]
        done = subprocess.run(call, env=env, capture_output=True, text=True)
        assert done.returncode == code, done
        return json.loads(pathlib.Path("c.json").read_text())["measured"][0] if code == 0 else done.stderr

    row = profiled(None)
    assert (row["class"], row["device"], row["threads"]) == ("cpu", "CPU", 2) and row.get("machine", "") in pathlib.Path("/proc/cpuinfo").read_text()
    assert profiled("CUDA0", "RTX 4090", "RTX 4090")["class"] == "rtx4090-24g"
    calls = pathlib.Path("calls.jsonl").read_text()
    assert '"CUDA0" is not known' in profiled("CUDA0", "RTX 4090", "RTX 3060", code=2)
    assert "--class NAME" in profiled("RPC[h:1]", "RTX 4090", code=2) and '"CUDA0"' in profiled("CUDA0", code=2)
    assert pathlib.Path("calls.jsonl").read_text() == calls


FIT = """#!{python}
import sys
if "--help" in sys.argv: print("-m -t -v -dev -sm -ts -ngl -ot -c -np -b -ub -fa -ctk -ctv --rpc ")
elif "--fit" in sys.argv: sys.exit("fits")
elif "{lacks}": sys.exit("error: invalid device: CUDA0")
else: print("CUDA0 {weights} 10 20 " + chr(10) + "Host 1 0 2 ")
"""


def test_what_llamacpp_itself_says_of_memory_is_beside_the_plan():
    """llama-fit-params prints MiB of weights, caches and buffers; who writes flags is warned where these are others."""
    def asked(weights, lacks=""):
        path = pathlib.Path("bin/llama-fit-params")
        path.parent.mkdir(exist_ok=True)
        path.write_text(FIT.format(python=sys.executable, weights=weights, lacks=lacks))
        path.chmod(0o755)
        call = {"env": environment(SITU_LLAMACPP=str(path.parent.resolve())), "capture_output": True, "text": True}
        shown = json.loads(subprocess.run(["situ", "check", "plan.json", "--json"], **call).stdout)["engine_memory"]
        text = subprocess.run(["situ", "check", "plan.json"], **call)
        written = subprocess.run(["situ", "place", "m.gguf", "--platform", "cpu+rtx3090", "--unused", "cpu", "--steps", "50", "--write",
                                  "llama.cpp=flags.sh"], **call)
        assert text.returncode == written.returncode == 0, (text, written)
        return {row["device"]: (row["planned_bytes"], row["engine_bytes"]) for row in shown}, text.stdout, written.stderr

    plan()
    held = {d["name"]: d["memory_bytes"] for d in json.loads(situ("simulate", "plan.json", "--json"))["devices"]}
    rows, text, warned = asked(300)
    assert rows["gpu0"] == (held["gpu0"], 330 << 20), (rows, held)
    assert "takes 346 MB on gpu0" in text and "llama.cpp itself takes 0.35 GB on gpu0; planned are" in warned, (text, warned)
    assert "itself" not in asked(0)[2]
    rows, text, warned = asked(0, lacks="CUDA0")
    assert rows == {} and "llama.cpp  " not in text and "itself" not in warned, (rows, text, warned)


def plan(*more):
    gguf_models.write("m.gguf", *gguf_models.llama())
    situ("place", "m.gguf", "--platform", "cpu+rtx3090", "--unused", "cpu", "--steps", "50", *more, "-o", "plan.json")


def run(call, *options, code=0, **expected):
    done = subprocess.run(["situ", "run", "plan.json", *options], capture_output=True, text=True, timeout=60, **call)
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    for pattern in expected.values():
        assert pattern in done.stderr + done.stdout, (pattern, done.stdout, done.stderr)
    return done.stdout


def test_times_layers_and_buffers_are_compared_with_the_plan():
    plan()
    call = stand_in(log("CUDA0", "CUDA0", "CPU", "CUDA0", "CUDA0", "CUDA0", head="CUDA0"))
    found = json.loads(run(call, "--json", "--items", "3"))
    assert found["engine"] == "llama.cpp 77 (abc)" and found["items"] == 3
    assert (found["prompt_tokens"], found["generated_tokens"]) == (200, 64)
    assert found["prefill_tokens_per_second"] == 4000 and found["decode_tokens_per_second"] == 100 and found["measured_ns"] == 690_000_000
    assert found["predicted_prefill_tokens_per_second"] > 0 and found["predicted_decode_tokens_per_second"] > 0
    assert not found["layers_as_planned"] and found["strays"] == [{"layer": 2, "planned": "CUDA0", "found": "CPU"}]
    buffers = {b["name"]: b["measured_bytes"] / 2**20 for b in found["buffers"]}
    assert buffers["CUDA0"] == 12 and buffers.get("CPU", 2) == 2, buffers  # of what is reserved twice the last counts
    words = json.loads(pathlib.Path("words.json").read_text())
    assert words[words.index("-ngl") + 1] == "7" and words[words.index("-c") + 1] == "4096" and words[words.index("-m") + 1].endswith("m.gguf")
    assert words[words.index("-ot") + 1] == "^token_embd\\.weight$=CUDA0"  # without the quotes of the file
    text = run(call)
    assert "2 is on CPU, planned on CUDA0" in text and "measured 4,000" in text, text
    found = json.loads(run(stand_in(log(*["CUDA0"] * 7, head="CPU")), "--json"))  # with a block that predicts a further token
    assert found["strays"] == [{"layer": 6, "planned": "CUDA0", "found": "CPU"}], found


def test_a_request_of_the_plan_is_what_is_measured():
    plan("--prompt", "40", "--generate", "8")
    found = json.loads(run(stand_in(log(*["CUDA0"] * 6, head="CUDA0")), "--json"))
    assert (found["prompt_tokens"], found["generated_tokens"]) == (40, 8) and found["layers_as_planned"]
    assert found["measured_ns"] == 90_000_000 and found["items"] == 5
    assert abs(found["predicted_ns"] / json.loads(pathlib.Path("plan.json").read_text())["value_ns"] - 1) < 1e-9
    # A plan of many streams at the highest rate, or with guesses: one stream without them is measured and predicted.
    for more in (["--batch", "4", "--objective", "throughput"], ["--draft", "3"]):
        plan("--context", "512", *more)
        other = json.loads(run(stand_in(log(*["CUDA0"] * 6, head="CUDA0")), "--json"))
        plan("--context", "512")
        alone = json.loads(run(stand_in(log(*["CUDA0"] * 6, head="CUDA0")), "--json"))
        for key in ("predicted_ns", "predicted_decode_tokens_per_second"):
            assert abs(other[key] / alone[key] - 1) < 1e-9, (more, key, other[key], alone[key])
    plan("--context", "128")
    run(stand_in(log(*["CUDA0"] * 6, head="CUDA0")), code=3, err="has caches of 128 tokens; a run needs 264")


def test_what_a_server_lacks_or_says_is_told_in_one_line():
    plan()
    good = log(*["CUDA0"] * 6, head="CUDA0")
    run(stand_in(good, options=OPTIONS.replace("-np ", "")), code=8, err="has no option -np, which the plan needs")
    run(stand_in(good, options=OPTIONS.replace(" --fit", "")))  # what it does not do, it need not leave
    assert "--fit" not in json.loads(pathlib.Path("words.json").read_text())
    run(stand_in(good + "\\nerror: no such device: CUDA0", ends="yes"), code=8, err="ended while it loaded the model: error: no such device")
    run(stand_in("nothing to see"), code=8, err="does not log where layers are")
    run({"env": environment(SITU_LLAMACPP="/nowhere")}, code=8, err="/nowhere: holds no llama-server of llama.cpp")
    run({"env": environment()}, "--engine", "onnxruntime", code=3, err="runs no GGUF models; llama.cpp does")
    situ("place", "builtin:llama?layers=1", "--platform", "cpu", "-o", "plan.json")
    run({"env": environment()}, "--engine", "llama.cpp", code=3, err="only these can be run")


def test_it_is_listed_with_its_devices():
    done = subprocess.run(["situ", "list", "engines", "--json"], capture_output=True, text=True, **stand_in(""))
    listed = json.loads(done.stdout)
    row = next(r for r in listed["engines"] if r["name"] == "llama.cpp")
    assert row["version"] == "77 (abc)" and row["providers"] == "CPU CUDA0 RPC0", row


if __name__ == "__main__":
    raise SystemExit(main(globals()))
