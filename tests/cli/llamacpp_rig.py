"""llama.cpp for tests: its programs, RPC servers on this machine as devices, and what its log says of a model."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

from test_cli import Skip

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = {"llama-fit-params": ["llama-fit-params"], "llama-server": ["llama-server"], "llama-bench": ["llama-bench"],
            "rpc-server": ["rpc-server", "ggml-rpc-server"]}


def folders():
    given = os.environ.get("SITU_LLAMACPP")
    return [given] if given else [str(ROOT / "build/llamacpp/bin"), *os.environ["PATH"].split(os.pathsep)]


def program(name):
    for folder in folders():
        for file in PROGRAMS[name]:
            if found := shutil.which(file, path=folder):
                return found
    raise Skip(f"no {name} of llama.cpp (tools/setup.sh llamacpp, or SITU_LLAMACPP names the folder of its programs)")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


# Lets a process run for a share of each 4 ms; ends with it.
SLOWED = """
import os, sys, time
pid, share = int(sys.argv[1]), float(sys.argv[2])
try:
    while True:
        os.kill(pid, 18); time.sleep(0.004 * share)
        os.kill(pid, 19); time.sleep(0.004 * (1 - share))
except ProcessLookupError: pass
"""


@contextlib.contextmanager
def servers(n, shares=(), before=()):
    """The addresses of n RPC servers, each with one thread as its device, which computes for such a share of the time, else always.
    `before` begins the commands (chrt -r 1)."""
    own, addresses = [], []
    try:
        for i in range(n):
            port = free_port()
            own.append(subprocess.Popen([*before, program("rpc-server"), "-H", "127.0.0.1", "-p", str(port), "-d", "CPU", "-t", "1"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            addresses.append(f"127.0.0.1:{port}")
            for _ in range(100):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                time.sleep(0.05)
        slowing = [subprocess.Popen([*(["chrt", "-f", "2"] if before else []), sys.executable, "-c", SLOWED, str(server.pid), str(share)])
                   for server, share in zip(own, shares) if share < 1]
        own = slowing + own
        yield addresses
    finally:
        for process in own:
            process.send_signal(signal.SIGKILL)
            process.wait()


def run(name, options, timeout=120):
    """stdout and stderr of a program, with the options as a shell reads them from the file that situ writes."""
    done = subprocess.run(["sh", "-c", f'exec "$0" {options}', program(name)], capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, f"{name} {options}\n{done.stdout[-2000:]}{done.stderr[-3000:]}"
    return done.stdout + done.stderr


def loaded(model, options):
    """Where llama.cpp puts a model, by the log of llama-fit-params, which allocates nothing. It may end before its log does."""
    for _ in range(20):
        log = Log(run("llama-fit-params", f"-m {model} {options} -fitp on -v".replace("--fit off", "")))
        if log.compute_mib:
            break
    return log


def served(model, options, prompt, generate, threads=1, requests=1, before=()):
    """What llama-server reports of the times of each request, and its log. `before` begins the command (chrt -r 1)."""
    port = free_port()
    log = pathlib.Path("server.log")
    command = f'exec "$@" -m {model} {options} --host 127.0.0.1 --port {port} -t {threads} --no-warmup -v'
    words = ["sh", "-c", command, "sh", *before, program("llama-server")]
    with log.open("w") as out, subprocess.Popen(words, stdout=out, stderr=out) as server:
        try:
            for _ in range(400):
                with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/health") as answer:
                    if answer.status == 200:
                        break
                assert server.poll() is None, log.read_text(errors="replace")[-3000:]
                time.sleep(0.05)
            body = json.dumps({"prompt": [5] * prompt, "n_predict": generate, "ignore_eos": True, "cache_prompt": False}).encode()
            times = []
            for _ in range(requests):
                with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/completion", body)) as answer:
                    times.append(json.load(answer)["timings"])
            return times, Log(log.read_text(errors="replace"))
        finally:
            server.kill()


class Log:
    def __init__(self, text):
        self.text = text
        self.layers = dict((int(k), d) for k, d in re.findall(r"layer +(\d+) assigned to device (\w+)", text))
        self.caches = dict((int(k), d) for k, d in re.findall(r"layer +(\d+): dev = (\w+)", text))
        self.moved = re.findall(r"tensor (\S+) \(.*\) buffer type overridden to (\S+)", text)
        self.compute_mib = [(b, float(n)) for b, n in re.findall(r"(\S+) +compute buffer size = +([\d.]+) MiB", text)]
        self.cache_mib = [(b, float(n)) for b, n in re.findall(r"(\S+) +KV buffer size = +([\d.]+) MiB", text)]
        self.model_mib = [(b, float(n)) for b, n in re.findall(r"(\S+) +model buffer size = +([\d.]+) MiB", text)]
