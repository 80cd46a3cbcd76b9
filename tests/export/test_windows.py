#!/usr/bin/env python3
"""The tool and the library for Windows: built by MinGW-w64, run by wine, which give byte for byte what Linux gives.

    test_windows.py BUILD_ROOT SOURCE_ROOT

Skips without the cross compiler, its libraries (tools/setup.sh mingw) or wine.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BUILD, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
WINDOWS = BUILD / "windows"
SMALL = ["--steps", "500"]
TIMES = re.compile(r'^ *"(seconds|m_sct_programs_solved)": .*\n', re.MULTILINE)  # m_sct: Clp is not built for Windows
PATH = re.compile(r'"model": "[^"]*",')


def build():
    cross = "[properties]\npkg_config_libdir = '" + str(BUILD / "mingw/lib/pkgconfig") + "'\n"
    (BUILD / "windows.ini").write_text(cross)
    if not (WINDOWS / "build.ninja").is_file():
        call = ["meson", "setup", WINDOWS, SOURCE, "--cross-file", SOURCE / "tools/mingw.ini", "--cross-file", BUILD / "windows.ini",
                "-Dtests=disabled", "-Dwerror=true"]
        subprocess.run(call, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", WINDOWS, "-j", "2", "--quiet"], check=True)


def environment(**more):
    return {**os.environ, "WINEPREFIX": str(BUILD / "wine"), "WINEDEBUG": "-all", "LC_ALL": "C.UTF-8", **more}


def wine(words, folder, **how):
    return subprocess.run(["wine", *map(str, words)], cwd=folder, env=environment(**how.pop("env", {})), capture_output=True,
                          timeout=120, **how)


def linux(words, folder, **how):
    return subprocess.run([BUILD / "situ", *map(str, words)], cwd=folder, capture_output=True, timeout=120, **how)


def situ(words, folder, **how):
    return wine([WINDOWS / "situ.exe", *words], folder, **how)


def untimed(text):
    return TIMES.sub("", text.decode())


def same(words, folder, **how):
    """Both systems exit alike and print the same, apart from times."""
    theirs, ours = situ(words, folder, **how), linux(words, folder, **how)
    assert theirs.returncode == ours.returncode, (words, theirs, ours)
    assert untimed(theirs.stdout) == untimed(ours.stdout), (words, theirs.stdout, ours.stdout)
    return theirs


def test_plans_are_those_of_linux(folder):
    for model, machine in (("builtin:resnet50", "cpu+2*v100-16g"), ("builtin:bert-base", "cpu+rtx3090"),
                           ("builtin:llama?layers=4", "2*rtx4090+cpu"), ("builtin:inception-v3", "cpu+v100-16g")):
        done = same(["place", model, "--platform", machine, *SMALL, "--json", "-o", "plan.json"], folder)
        assert done.returncode == 0 and b"\r" not in done.stdout + (folder / "plan.json").read_bytes(), done
    words = ["place", "builtin:inception-v3", "--platform", "cpu+2*v100-16g", "--objective", "throughput", *SMALL, "--json"]
    assert same(words, folder).returncode == 0


def test_files_are_found_by_every_spelling(folder):
    model = SOURCE / "tests/fuzz/corpus/onnx-chain"
    far = folder / "größe 模型"
    far.mkdir()
    shutil.copy(model, far / "modèle.onnx")
    drive = "Z:" + str(far / "modèle.onnx")
    expected = untimed(linux(["place", far / "modèle.onnx", "--platform", "cpu+v100-16g", *SMALL, "-o", "-"], folder).stdout)
    for path in (drive, drive.replace("/", "\\"), far.name + "/modèle.onnx", far.name + "\\modèle.onnx"):
        done = situ(["place", path, "--platform", "cpu+v100-16g", *SMALL, "-o", "-"], folder)
        assert done.returncode == 0, done.stderr
        assert json.dumps(path, ensure_ascii=False) in done.stdout.decode(), path
        assert PATH.sub("", untimed(done.stdout)) == PATH.sub("", expected), path


def test_files_are_written_over_and_read_again(folder):
    name = "ergebnis-größe.json"
    for _ in range(2):
        done = situ(["place", "builtin:resnet50", "--platform", "cpu+v100-16g", *SMALL, "-o", name, "--svg", "picture.svg"], folder)
        assert done.returncode == 0, done.stderr
        assert sorted(path.name for path in folder.glob("*")) == [name, "picture.svg"]
    theirs = (folder / name).read_bytes()
    linux(["place", "builtin:resnet50", "--platform", "cpu+v100-16g", *SMALL, "-o", name], folder)
    assert untimed(theirs) == untimed((folder / name).read_bytes())
    assert same(["check", name], folder).returncode == 0
    with open(folder / name, "rb") as given:
        assert situ(["check", "-"], folder, stdin=given).returncode == 0
    gone = situ(["check", "gone.json"], folder)
    assert gone.returncode == 3 and gone.stderr.count(b"\n") == 1, gone
    unwritable = situ(["place", "builtin:resnet50", "-o", "no\\such\\folder.json"], folder)
    assert unwritable.returncode == 6 and b'no folder "no\\such"' in unwritable.stderr, unwritable


def test_parts_are_a_folder(folder):
    shutil.copy(SOURCE / "tests/fuzz/corpus/onnx-convolution", folder / "model.onnx")
    words = ["place", "model.onnx", "--platform", "cpu+v100-16g", *SMALL, "--write"]
    assert situ([*words, "onnx-parts=theirs"], folder).returncode == linux([*words, "onnx-parts=ours"], folder).returncode == 0
    names = sorted(path.name for path in (folder / "ours").iterdir())
    assert len(names) > 1 and names == sorted(path.name for path in (folder / "theirs").iterdir())
    for name in names:
        assert (folder / "ours" / name).read_bytes() == (folder / "theirs" / name).read_bytes(), name


def test_what_needs_a_fork_or_mpi_says_so(folder):
    shutil.copy(SOURCE / "tests/fuzz/corpus/onnx-convolution", folder / "model.onnx")
    linux(["place", "model.onnx", "--platform", "cpu+v100-16g", *SMALL, "-o", "plan.json"], folder)
    for words, env in ((["run", "plan.json"], {}), (["place", "builtin:resnet50"], {"OMPI_COMM_WORLD_SIZE": "2"})):
        done = situ(words, folder, env=env)
        assert done.returncode == 8 and done.stderr.count(b"\n") == 1, done
    assert situ(["platform", "this-host"], folder).returncode == 0


def test_a_program_links_the_library(folder):
    shutil.copy(next(WINDOWS.glob("libsitu-*.dll")), folder)
    cc = ["x86_64-w64-mingw32-gcc-posix", "-I", SOURCE / "include", SOURCE / "examples/place_model.c", next(WINDOWS.glob("libsitu.dll.a")),
          "-o", folder / "place_model.exe"]
    subprocess.run(cc, check=True)
    theirs = wine([folder / "place_model.exe", "builtin:resnet50", "cpu+v100-16g"], folder)
    assert theirs.returncode == 0 and theirs.stdout.count(b"\n") > 100, theirs
    listing = subprocess.run(["x86_64-w64-mingw32-objdump", "-p", next(WINDOWS.glob("libsitu-*.dll"))], capture_output=True, text=True).stdout
    names = re.findall(r"^\s+\[ *\d+\](?: \+base\[ *\d+\])?\s+(?:[0-9a-f]{4,} )?([A-Za-z_]\w*)$", listing, re.MULTILINE)
    declared = {name for header in (SOURCE / "include").rglob("*.h")
                for name in re.findall(r"SITU_API\s[^;]*?\b(situ_\w+)\s*\(", header.read_text())}
    assert set(names) == declared, set(names) ^ declared


def main():
    if not shutil.which("x86_64-w64-mingw32-gcc-posix") or not (BUILD / "mingw/lib/libprotobuf-c.a").is_file():
        print("skipped: no cross compiler (Debian: gcc-mingw-w64-x86-64), or no libraries (tools/setup.sh mingw)")
        return 77
    build()
    print("ok - the tool and the library build without a warning")
    if not shutil.which("wine"):
        print("skipped: no wine (Debian: wine64 wine)")
        return 77
    wrong = 0
    for name, test in [item for item in globals().items() if item[0].startswith("test_")]:
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(pathlib.Path(folder))
                print(f"ok - {name[5:].replace('_', ' ')}")
            except AssertionError as error:
                wrong += 1
                print(f"not ok - {name[5:].replace('_', ' ')}\n# {str(error)[:2000]}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
