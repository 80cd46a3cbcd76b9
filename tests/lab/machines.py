"""Machines made of network namespaces, joined by a switch, with links of a given rate: for tests of runs under mpirun.

Each machine is a process that sleeps in namespaces of its own, so all goes when that process ends. Needs root, `unshare`,
`nsenter`, `ip`, and `tc` for a rate.
"""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import time


def why_not():
    """Why there can be none; "" where they work."""
    for tool in "mpirun", "unshare", "nsenter", "ip", "tc":
        if not shutil.which(tool):
            return f"there is no {tool} (tools/setup.sh check)"
    if subprocess.run(["unshare", "--net", "--uts", "true"], capture_output=True).returncode != 0:
        return "no network namespaces can be made here"
    return ""


def call(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    assert done.returncode == 0, f"{words}: {done.stderr}"


class Machines:
    """n of them, as a context. rate: of each link to the switch, as `tc` writes it, or None."""

    def __init__(self, n, rate=None):
        self.n, self.rate, self.sleepers = n, rate, []

    def __enter__(self):
        try:
            switch = self.space()
            call(*self.inside(switch), "ip", "link", "add", "s", "type", "bridge")
            call(*self.inside(switch), "ip", "link", "set", "s", "up")
            self.hosts = {f"10.77.0.{1 + i}": self.machine(1 + i, switch) for i in range(self.n)}
        except BaseException:
            self.__exit__()
            raise
        agent = pathlib.Path("agent.sh").resolve()  # what mpirun takes for ssh
        cases = "\n".join(f"{host}) pid={process.pid};;" for host, process in self.hosts.items())
        agent.write_text(f'#!/bin/sh\nhost=$1; shift\ncase $host in\n{cases}\nesac\n'
                         'exec nsenter -t $pid --net --uts sh -c "$*"\n')
        agent.chmod(0o755)
        subnet = "10.77.0.0/24"
        self.start = [*self.inside(self.hosts["10.77.0.1"]), *MPIRUN, "--mca", "plm_rsh_agent", str(agent), "-H",
                      ",".join(f"{host}:1" for host in self.hosts), "--mca", "oob_tcp_if_include", subnet, "--mca",
                      "btl_tcp_if_include", subnet, "--mca", "btl", "tcp,self"]
        return self

    def __exit__(self, *_):
        for process in self.sleepers:
            process.kill()
            process.wait()

    def space(self):
        process = subprocess.Popen(["unshare", "--net", "--uts", "sleep", "600"])
        self.sleepers.append(process)
        while pathlib.Path(f"/proc/{process.pid}/comm").read_text() != "sleep\n":
            assert process.poll() is None
            time.sleep(0.01)
        return process

    @staticmethod
    def inside(process):
        return ["nsenter", "-t", str(process.pid), "--net", "--uts"]

    def machine(self, number, switch):
        process = self.space()
        enter = self.inside(process)
        call(*enter, "hostname", f"m{number}")
        call(*enter, "ip", "link", "set", "lo", "up")
        call(*enter, "ip", "link", "add", "e", "type", "veth", "peer", "name", f"p{number}", "netns", switch.pid)
        call(*enter, "ip", "addr", "add", f"10.77.0.{number}/24", "dev", "e")
        call(*enter, "ip", "link", "set", "e", "up")
        call(*self.inside(switch), "ip", "link", "set", f"p{number}", "master", "s")
        call(*self.inside(switch), "ip", "link", "set", f"p{number}", "up")
        if self.rate:
            call(*enter, "tc", "qdisc", "add", "dev", "e", "root", "tbf", "rate", self.rate, "burst", "128kb", "latency", "50ms")
        return process


@contextlib.contextmanager
def under_mpirun(words, environment):
    """A call that mpirun runs, stopped at the end."""
    sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"  # Open MPI leaks
    process = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env={**environment, "ASAN_OPTIONS": sanitizer})
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            process.communicate()


def own_lines(text):
    return [line for line in text.splitlines() if line.startswith("situ: ")]


MPIRUN = ["mpirun", "--bind-to", "none", *(["--allow-run-as-root"] if os.geteuid() == 0 else [])]


def ranks_of(tool):
    """Processes of a tool that mpirun started in this folder: {rank: [the rank, its workers ...]}."""
    found = {}
    for process in pathlib.Path("/proc").iterdir():
        try:
            if not process.name.isdigit() or (process / "exe").resolve() != pathlib.Path(tool):
                continue
            if (process / "cwd").resolve() != pathlib.Path.cwd():
                continue  # of a test that runs beside this one
            rank = re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)", (process / "environ").read_bytes())
        except OSError:
            continue  # it has just ended
        if rank:
            found.setdefault(int(rank[1]), []).append(int(process.name))
    return {rank: sorted(processes) for rank, processes in found.items()}
