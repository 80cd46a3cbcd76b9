#!/usr/bin/env python3
"""functions.py INCLUDE TEST...: every public function is called by a test of these files."""
import pathlib
import re
import sys

headers = "\n".join(h.read_text() for h in pathlib.Path(sys.argv[1]).rglob("*.h"))
public = set(re.findall(r"\b(situ_\w+)\(", "\n".join(re.findall(r"^SITU_API[^;]*;", headers, re.M))))
tests = set(re.findall(r"\bsitu_\w+", "\n".join(pathlib.Path(t).read_text() for t in sys.argv[2:])))
missing = sorted(public - tests)
for name in missing:
    print(f"{name} is never called with NULL and extreme arguments; add it to {sys.argv[2]}")
print(f"{len(public)} public functions, {len(missing)} of them missing")
sys.exit(1 if missing or not public else 0)
