#!/usr/bin/env python3
"""headers.py INCLUDE COMPILER LANGUAGE STANDARD: each public header alone, and each initialiser, as strict code of that
language."""
import pathlib
import re
import subprocess
import sys
import tempfile

include, compiler, language, standard = sys.argv[1:5]
headers = sorted(pathlib.Path(include).rglob("*.h"))
macros = sorted({m for h in headers for m in re.findall(r"#define (SITU_\w+)_INIT\b", h.read_text())})
with tempfile.TemporaryDirectory() as folder:
    user = pathlib.Path(folder) / "initialisers.c"
    user.write_text("#include <situ.h>\n" + "".join(
        f"size_t use_{k}(void);\nsize_t use_{k}(void) {{\n  {m.lower()} made = {m}_INIT;\n  return made.size;\n}}\n"
        for k, m in enumerate(macros)))
    failed = [h for h in [*headers, user] if subprocess.run(
        [compiler, "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror",
         "-fsyntax-only", "-I", include, str(h)]).returncode]
print(f"{len(headers)} headers and {len(macros)} initialisers, {len(failed)} files do not compile as {standard}")
sys.exit(1 if failed or not headers or not macros else 0)
