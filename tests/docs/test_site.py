#!/usr/bin/env python3
"""test_site.py BUILD: the documentation site is made without a warning, broken links among them, and its reference has
every public function and every name of the Python face. Skipped (77) where the generator is not installed
(tools/setup.sh docs)."""

import ast
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    generator = build / "docs/bin/sphinx-build"
    if not generator.is_file():
        print(f"{generator} is not there: tools/setup.sh docs installs it")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [generator, "-q", "-W", "--keep-going", "-c", ROOT / "docs", ROOT, folder],
            text=True,
            check=False,
            env={**os.environ, "SITU_LIBRARY": str(build / "libsitu.so"), "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert done.returncode == 0, done.stdout
        shown = {
            language: set(
                re.findall(
                    r'id="(?:c\.)?([\w.]+)"', (pathlib.Path(folder) / f"docs/reference/{language}.html").read_text()
                )
            )
            for language in ("c", "python")
        }
    headers = "\n".join(path.read_text() for path in (ROOT / "include/situ").glob("*.h"))
    functions = set(re.findall(r"^SITU_API [^;(]*?\b(situ_\w+)\(", headers, re.M))
    assert len(functions) > 100 and functions <= shown["c"], f"absent: {functions - shown['c']}"
    module = ast.parse((ROOT / "python/situ/__init__.py").read_text())
    (names,) = [
        ast.literal_eval(node.value)
        for node in module.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
    ]
    absent = {name for name in names if f"situ.{name}" not in shown["python"]}
    assert not absent, f"absent: {absent}"
    print(f"the site has {len(functions)} functions of C and {len(names)} names of Python, and no warning")
    return 0


if __name__ == "__main__":
    sys.exit(main())
