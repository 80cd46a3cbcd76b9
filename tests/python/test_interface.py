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
TOOL = os.environ.get("SITU_TOOL", "")
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


def test_options_are_those_of_the_table_of_the_library():
    ours = set(_options.TABLE) | set(_options._LISTS)
    theirs = {row.name + "_" * (row.name == "not") for row in _options.ROWS}
    assert ours == theirs | {"writers"}  # what --write asks of the plan
    assert _options._RENAMED == {"engine": "cost_engine"}
    assert set(situ.Options.__annotations__) == ours | set(_options._RENAMED)
    if not os.access(TOOL, os.X_OK):
        pytest.skip("SITU_TOOL names no tool")
    shown = subprocess.run([TOOL, "place", "--help"], capture_output=True, text=True, check=True).stdout
    for row in _options.ROWS:
        assert f"--{row.name.replace('_', '-')}" in shown, row.name


def test_every_option_has_a_type_of_its_kind():
    kinds = {_interface.SITU_OPTION_ON: "bool", _interface.SITU_OPTION_OFF: "bool", _interface.SITU_OPTION_CHOICE: "str",
             _interface.SITU_OPTION_INT64: "int", _interface.SITU_OPTION_INT32: "int", _interface.SITU_OPTION_SEED: "int",
             _interface.SITU_OPTION_MS: "float", _interface.SITU_OPTION_PERCENT: "float",
             _interface.SITU_OPTION_REAL: "float"}
    for row in _options.ROWS:
        if row.kind in kinds:
            assert situ.Options.__annotations__[row.name] in (kinds[row.kind], f"ForwardRef('{kinds[row.kind]}')") or \
                situ.Options.__annotations__[row.name].__forward_arg__ == kinds[row.kind], row.name
