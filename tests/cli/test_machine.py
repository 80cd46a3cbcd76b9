#!/usr/bin/env python3
"""`situ platform`, and what `this-host` asks the system.

    test_machine.py SITU [NAME...]
"""
import json
import os
import pathlib
import sys

from test_cli import main, situ, situ_json, thorough

GPU = "GPU 0: NVIDIA GeForce RTX 3090 (UUID: GPU-1)\nGPU 1: NVIDIA GeForce RTX 3090 (UUID: GPU-2)\n"
TABLE = """| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|   0  NVIDIA GeForce RTX 4090        Off |   00000000:01:00.0  On |                  Off |
|  0%   45C    P8             20W /  450W |    1234MiB /  24564MiB |      2%      Default |
|   1  NVIDIA GeForce RTX 3060        Off |   00000000:05:00.0 Off |                  N/A |
|  0%   40C    P8             10W /  170W |       5MiB /  12288MiB |      0%      Default |
"""
CSV = """name, memory.total [MiB], memory.free [MiB], pcie.link.gen.max, pcie.link.width.max
NVIDIA GeForce RTX 3090, 24576 MiB, 23000 MiB, 4, 8
NVIDIA GeForce RTX 3090, 24576 MiB, 24000 MiB, 4, 16
"""
TOPOLOGY = "        GPU0    GPU1    CPU Affinity\nGPU0     X      NV4     0-15\nGPU1    NV4      X      0-15\n"
MIB = 976562  # bytes that count for one, as in the catalogue


def described(*call, **more):
    return json.loads(situ("platform", *call, "--json", **more))


def flat(*call):
    """The table for people without the breaks of its lines."""
    return " ".join(situ("platform", *call).split())


def with_driver(script):
    """A folder with a program nvidia-smi."""
    folder = pathlib.Path("bin")
    folder.mkdir(exist_ok=True)
    program = folder / "nvidia-smi"
    program.write_text("#!/bin/sh\n" + script)
    program.chmod(0o755)
    os.environ["PATH"] = f"{folder.resolve()}:{FOLDERS}"


FOLDERS = os.environ["PATH"]


def gpus(machine):
    return [(d["class"], d.get("memory_bytes")) for d in machine["devices"] if d["name"].startswith("gpu")]


def rate(machine, one, other):
    return [x["bytes_per_s"] for x in machine["links"] if (x["from"], x["to"]) == (one, other)]


def test_a_written_platform_is_the_same_machine():
    for name in ("cpu+2*rtx3090", "4*(8*h100-80g@nvlink)@infiniband-ndr", "cpu+gpu(16GB,900GB/s,90TF)", "M2 Ultra 128GB", "i9-12900k+uhd770+flex170-16g"):
        machine = described(name, "-o", "rig.json")
        again = described("rig.json")
        assert json.loads(pathlib.Path("rig.json").read_text()) == machine == again, name
        assert all(x["source"] for x in [*machine["devices"], *machine["links"]]), name
    text = flat("cpu+2*rtx3090")
    assert "gpu0 and 1 more: rtx3090-24g of the catalogue (" in text and "the figures of pcie4" in text, text
    assert "memory: as stated" in flat("Ryzen 9 7950X 32GB")
    assert "i9-13900k of the catalogue" in (said := flat("i9-13900K with 64GB DDR5-6000")) and "bandwidth: as stated" in said, said


def test_pasted_text_is_a_machine_from_a_file_or_standard_input():
    pathlib.Path("nvidia-smi.txt").write_text(TABLE)
    pathlib.Path("info").write_text(GPU + TOPOLOGY)
    want = [("rtx4090-24g", (24564 - 1234) * MIB), ("rtx3060-12g", (12288 - 5) * MIB)]
    for call in (["nvidia-smi.txt"], ["--from", "nvidia-smi.txt"]):
        assert gpus(described(*call)) == want, call
    assert gpus(described("-", input=TABLE)) == gpus(described("--from", "-", input=TABLE)) == want
    linked = described("--from", "info")
    assert rate(linked, "gpu0", "gpu1") and linked["devices"][1]["source"].startswith("named by nvidia-smi -L"), linked
    assert "memory: what is free by nvidia-smi" in flat("nvidia-smi.txt")
    situ("platform", "--from", "nothing.txt", code=3, err="nothing.txt")
    situ("platform", "cpu", "--from", "info", code=2, err="give one of them")
    situ("platform", "-", code=3, err="names no device", input="hello\n")
    situ("platform", "cpuu", code=2, err="cpu")


def test_texts_are_read_as_shells_and_mails_leave_them():
    """PowerShell writes UTF-16, editors of Windows a mark of UTF-8, mails and threads quote with "> "."""
    pathlib.Path("smi.txt").write_text(TABLE)
    expected = described("--from", "smi.txt")["devices"]
    assert len(expected) == 3
    quoted = "".join(f"> {line}\n" for line in TABLE.splitlines())
    for text in (TABLE.encode("utf-16-le"), TABLE.encode("utf-16-be")):
        mark = b"\xff\xfe" if text[1] == 0 else b"\xfe\xff"
        pathlib.Path("wide.txt").write_bytes(mark + text)
        assert described("--from", "wide.txt")["devices"] == expected
    for text in (b"\xef\xbb\xbf" + TABLE.encode(), quoted.encode(), quoted.replace("> ", ">> ").encode()):
        pathlib.Path("other.txt").write_bytes(text)
        assert described("--from", "other.txt")["devices"] == expected, text[:40]
    for text in (b"\xff\xfe", b"\xff\xfeG", b"\xff\xfeG\0\0\0", b"\xff\xfe\x00\xd8"):  # nothing, half, a zero, half a pair
        pathlib.Path("bad.txt").write_bytes(text)
        situ("platform", "--from", "bad.txt", code=3)
    platform = b"\xef\xbb\xbf" + json.dumps({"situ_platform": 1, "devices": [{"name": "a", "base": "rtx3090-24g"}]}).encode()
    pathlib.Path("p.json").write_bytes(platform)
    assert described("p.json")["devices"][0]["name"] == "a"


def test_this_host_asks_nvidia_smi():
    """The rate of a link of 8 lanes is half of that of 16; all recorded forms are read."""
    with_driver(f"case $1 in --query-gpu*) cat <<E\n{CSV}E\n;; topo) cat <<E\n{TOPOLOGY}E\n;; esac\n")
    machine = described()
    assert gpus(machine) == [("rtx3090-24g", 23000 * MIB), ("rtx3090-24g", 24000 * MIB)], machine
    host = machine["devices"][0]["name"]
    assert [2 * x for x in rate(machine, host, "gpu0")] == rate(machine, host, "gpu1") != [], machine["links"]
    assert len(rate(machine, "gpu0", "gpu1")) == len(rate(machine, "gpu1", "gpu0")) == 1, "NVLink"
    assert "nvidia-smi --query-gpu" in machine["devices"][-1]["source"], machine
    placed = situ_json("place", "builtin:resnet50?image=64", "--platform", "this-host", "--steps", "10")
    assert [d["memory_limit_bytes"] for d in placed["devices"] if d["name"] == "gpu0"] == [23000 * MIB]
    with_driver(f"cat <<E\n{TABLE}E\n")  # whatever is asked, as a driver of old prints help
    assert gpus(described("this-host")) == [("rtx4090-24g", 23330 * MIB), ("rtx3060-12g", 12283 * MIB)]
    with_driver(f"[ $1 = -L ] && cat <<E\n{GPU}E\n")
    assert gpus(described("this-host")) == [("rtx3090-24g", 24000000000)] * 2


def test_this_host_asks_rocm_smi():
    with_driver("exit 9\n")  # of NVIDIA
    program = pathlib.Path("bin/rocm-smi")
    program.write_text("#!/bin/sh\n[ \"$*\" = '--showproductname --showmeminfo vram' ] && cat <<E\n"
                       "GPU[0]\t\t: Card Series: \t\tAMD Instinct MI210\nGPU[1]\t\t: Card Series: \t\tAMD Instinct MI210\n"
                       "GPU[0]\t\t: VRAM Total Memory (B): 68702699520\nGPU[0]\t\t: VRAM Total Used Memory (B): 1048576000\n"
                       "GPU[1]\t\t: VRAM Total Memory (B): 68702699520\nGPU[1]\t\t: VRAM Total Used Memory (B): 0\nE\n")
    program.chmod(0o755)
    machine = described()
    program.unlink()
    assert gpus(machine) == [("mi210-64g", 64520 * MIB), ("mi210-64g", 64000000000)], machine  # 65,520 MiB less 1,000
    assert "rocm-smi" in machine["devices"][-1]["source"], machine


def test_this_host_works_whatever_nvidia_smi_does():
    without = described()
    for script in ("echo NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver; exit 9", "exit 1", "kill -9 $$",
                   "echo 'GPU 0: NVIDIA Geforce'", "head -c 3000000 /dev/zero"):
        with_driver(script + "\n")
        assert gpus(described()) == gpus(without), script
    with_driver(f"echo 'GPU 0: NVIDIA Unheard Of (UUID: GPU-0)'; echo 'GPU 1: NVIDIA GeForce RTX 3090 (UUID: GPU-1)'\n")
    machine = described()
    assert gpus(machine) == [("rtx3090-24g", 24000000000)] and "lacks it: NVIDIA Unheard Of" in machine["source"], machine


@thorough
def test_an_nvidia_smi_that_hangs_is_not_waited_for():
    without = described()
    with_driver("sleep 60\n")
    assert gpus(described()) == gpus(without)


if __name__ == "__main__":
    sys.exit(main(globals()))
