#!/usr/bin/env python3
"""run.py BUILD FILE...: runs tests of the Python face by pytest against the library of a build folder. The Python is
SITU_PYTHON, else build/python (tools/setup.sh python), else one that is found. Exit code 77 (skipped) where none has
pytest."""
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def find_python(build):
    for place in (os.environ.get("SITU_PYTHON"), build / "python/bin/python3", ROOT / "build/python/bin/python3", sys.executable,
                  shutil.which("python3")):
        seek = "import importlib.util, sys; sys.exit(importlib.util.find_spec('pytest') is None)"  # not imported: that takes longer
        if place and os.access(place, os.X_OK) and subprocess.run([place, "-c", seek], capture_output=True, check=False).returncode == 0:
            return str(place)
    return None


def main():
    build, *files = (pathlib.Path(a).resolve() for a in sys.argv[1:])
    python = find_python(build)
    if python is None:
        print("no Python with pytest: tools/setup.sh python makes one")
        return 77
    environment = {**os.environ, "SITU_LIBRARY": str(build / "libsitu.so"), "SITU_TOOL": str(build / "situ"),
                   "PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([python, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *files], env=environment, check=False)
    return 77 if done.returncode == 5 else done.returncode


if __name__ == "__main__":
    sys.exit(main())
