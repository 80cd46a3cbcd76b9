"""The declarations of the Python face against the headers, its options against the tool's."""
import ctypes
import os
import pathlib
import re
import subprocess
import sys

import pytest

import situ
from situ import _interface, _options

ROOT = pathlib.Path(__file__).resolve().parents[2]
ABI = (ROOT / "tests/export/abi.txt").read_text()


def test_the_declarations_are_those_of_the_headers():
    done = subprocess.run([sys.executable, ROOT / "tools/bind_python.py", ROOT / "include", ROOT / "python/situ/_interface.py"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_structs_lie_in_memory_as_a_compiler_lays_them_out():
    if ctypes.sizeof(ctypes.c_void_p) != 8 or os.uname().machine != "x86_64":
        pytest.skip("abi.txt is of x86-64")
    seen = 0
    for name, size, rows in re.findall(r"# struct (\w+): (\d+) bytes.*\n((?:\s*\d+\s+\d+ \w+\n)+)", ABI):
        struct = getattr(_interface, name)
        assert ctypes.sizeof(struct) == int(size), name
        declared = {field: (getattr(struct, field).offset, getattr(struct, field).size) for field, *_ in struct._fields_}
        assert declared == {field: (int(at), int(n)) for at, n, field in re.findall(r"(\d+)\s+(\d+) (\w+)", rows)}, name
        seen += 1
    assert seen == ABI.count("# struct ")


def test_enumerators_have_the_values_of_the_compiler():
    values = re.findall(r"^(SITU_\w+) (-?\d+)$", ABI, re.M)
    assert len(values) > 50
    assert [(name, getattr(_interface, name)) for name, _ in values] == [(name, int(value)) for name, value in values]


def test_every_public_function_is_declared_and_none_else():
    in_abi = set(re.findall(r"\b(situ_\w+)\(", ABI.split("# Callbacks")[0]))
    assert set(_interface.FUNCTIONS) == in_abi


def test_options_bear_the_names_of_the_command_line():
    source = (ROOT / "cli/options.c").read_text()
    rows = {}
    for group, body in re.findall(r"static const option (\w+_rows)\[\] = \{(.*?)\n?\s*\{0\}\};", source, re.S):
        rows[group] = re.findall(r'\.name = "([a-z-]+)"', body) + (["fusion"] if "FUSION_ROW" in body else [])
    given = [rows[group] for group in ("model_rows", "problem_rows", "solve_rows", "choice_rows")]
    theirs = {name.replace("-", "_") + "_" * (name == "not") for names in given for name in names} - {"platform", "costs"}  # arguments of their own
    ours = set(_options.TABLE) | set(_options._LISTS)
    assert ours == theirs | {"writers"}  # what --write asks of the plan
    earlier = dict(re.findall(r'\.name = "([a-z-]+)",\s*\.old = "([a-z-]+)"', source))
    assert _options._RENAMED == {old.replace("-", "_"): new.replace("-", "_") for new, old in earlier.items()}
    assert set(situ.Options.__annotations__) == ours | set(_options._RENAMED)
