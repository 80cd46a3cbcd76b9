"""The types of the Python face against mypy."""
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_types_pass_mypy():
    pytest.importorskip("mypy", reason="mypy is absent")
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--cache-dir", os.devnull,
                           ROOT / "python/situ"], capture_output=True, text=True, check=False, cwd=ROOT)
    missing = [m for m in ("torch", "networkx", "pandas") if f'library stubs not installed for "{m}"' in done.stdout
               or f'module named "{m}"' in done.stdout]
    if missing:
        pytest.skip(f"mypy finds no types of {', '.join(missing)}")
    assert done.returncode == 0, done.stdout
