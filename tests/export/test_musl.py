#!/usr/bin/env python3
"""Files that ask the system compile with musl, whose headers have POSIX and Linux but not all of glibc. Skips without musl-gcc.

    test_musl.py SOURCE_ROOT
"""
import pathlib
import re
import shutil
import subprocess
import sys

SYSTEM = re.compile(r"#include <(sys/\w+|unistd|dlfcn|poll|sched|pthread|signal|locale|regex|arpa/inet|fcntl)\.h>")


def main():
    root = pathlib.Path(sys.argv[1])
    if not shutil.which("musl-gcc"):
        print("skipped: no musl-gcc (Debian: musl-tools)")
        return 77
    files = [f for f in sorted(root.glob("src/**/*.c")) if SYSTEM.search(f.read_text())]
    assert len(files) > 10, "files that include headers of the system are not found"
    wrong = 0
    for file in files:
        call = ["musl-gcc", "-std=gnu17", "-fsyntax-only", "-Werror=implicit-function-declaration", f"-I{root}/include",
                f"-I{root}/src", str(file)]
        done = subprocess.run(call, stderr=subprocess.PIPE, text=True)
        wrong += done.returncode != 0
        print(f"{'not ' if done.returncode else ''}ok - {file.relative_to(root)}")
        if done.returncode:
            sys.stderr.write(done.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
