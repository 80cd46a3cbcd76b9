#!/usr/bin/env python3
"""What asks the operating system compiles for others: with musl, whose headers have POSIX and Linux but not all of glibc, and
for macOS with the headers that come with Zig. Skips without the compiler.

    test_systems.py musl|macos SOURCE_ROOT
"""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

WARNINGS = ["-std=gnu17", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"]


def compiler(system):
    """Its call and the file that is of this system alone, or None."""
    if system == "musl":
        return shutil.which("musl-gcc") and ["musl-gcc"], "os_linux.c"
    zig = shutil.which("zig")
    call = [zig, "cc"] if zig else importlib.util.find_spec("ziglang") and [sys.executable, "-m", "ziglang", "cc"]
    return call and [*call, "-target", "aarch64-macos"], "os_darwin.c"


def main():
    system, root = sys.argv[1], pathlib.Path(sys.argv[2])
    call, own = compiler(system)
    if not call:
        print("skipped: no musl-gcc (Debian: musl-tools)" if system == "musl" else "skipped: no zig (pip install ziglang)")
        return 77
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for file in ("src/base/os_posix.c", "src/base/os_process.c", f"src/base/{own}", "cli/console_posix.c"):
            words = [*call, *WARNINGS, f"-I{root}/include", f"-I{root}/src", "-c", str(root / file), "-o", f"{folder}/made.o"]
            done = subprocess.run(words, stderr=subprocess.PIPE, text=True, env={**os.environ, "ZIG_GLOBAL_CACHE_DIR": folder})
            wrong += done.returncode != 0
            print(f"{'not ' if done.returncode else ''}ok - {file}")
            if done.returncode:
                sys.stderr.write(done.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
