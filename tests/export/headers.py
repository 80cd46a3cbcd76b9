#!/usr/bin/env python3
"""headers.py INCLUDE COMPILER LANGUAGE STANDARD: each public header alone, as strict code of that language."""
import pathlib
import subprocess
import sys

include, compiler, language, standard = sys.argv[1:5]
headers = sorted(pathlib.Path(include).rglob("*.h"))
failed = [h for h in headers if subprocess.run(
    [compiler, "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror",
     "-fsyntax-only", "-I", include, str(h)]).returncode]
print(f"{len(headers)} headers, {len(failed)} do not compile as {standard}")
sys.exit(1 if failed or not headers else 0)
