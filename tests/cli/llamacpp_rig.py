"""llama.cpp for tests: its programs, RPC servers on this machine as devices, and what its log says of a model."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

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


@contextlib.contextmanager
def servers(n, threads=1):
    """The addresses of n RPC servers, each with the CPU as its device."""
    own, addresses = [], []
    try:
        for _ in range(n):
            port = free_port()
            own.append(subprocess.Popen([program("rpc-server"), "-H", "127.0.0.1", "-p", str(port), "-d", "CPU", "-t", str(threads)],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            addresses.append(f"127.0.0.1:{port}")
            for _ in range(100):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                time.sleep(0.05)
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


class Log:
    def __init__(self, text):
        self.text = text
        self.layers = dict((int(k), d) for k, d in re.findall(r"layer +(\d+) assigned to device (\w+)", text))
        self.caches = dict((int(k), d) for k, d in re.findall(r"layer +(\d+): dev = (\w+)", text))
        self.moved = re.findall(r"tensor (\S+) \(.*\) buffer type overridden to (\S+)", text)
        self.compute_mib = [(b, float(n)) for b, n in re.findall(r"(\S+) +compute buffer size = +([\d.]+) MiB", text)]
        self.cache_mib = [(b, float(n)) for b, n in re.findall(r"(\S+) +KV buffer size = +([\d.]+) MiB", text)]
        self.model_mib = [(b, float(n)) for b, n in re.findall(r"(\S+) +model buffer size = +([\d.]+) MiB", text)]
