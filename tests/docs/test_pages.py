#!/usr/bin/env python3
"""Follows pages literally: test_pages.py BUILD PAGE... [--update]

In a fenced block a line `$ COMMAND` is a call of the shell, and the lines up to the next call are what it prints, with
a last line `exit N` where that is not 0. A line `...` stands for any lines, in a line for any text. A block
"```json NAME" is a file, in any language. All calls of a page run in one folder, in order, where `model.onnx` is there
from the start. Seconds are not compared. --update writes the outputs anew, but for those with a line `...`.

A block "```text by-hand" has lines `NAME = ARITHMETIC = RESULT UNIT`. The arithmetic must give the result, and the next call
must print `RESULT UNIT`.
"""

import ast
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CALL = re.compile(r"^\$ (?:.*\\\n)*.*\n", re.MULTILINE)
BY_HAND = re.compile(r"^\s*(.+?) = (.+) = ([\d,.]+) (\S+)$")


def without_seconds(text):
    return re.sub(
        r"\d+\.\d+ s\b", "... s", re.sub(r"(feasible|optimal|limit) +\d+\.\d+$", r"\1 ...", text, flags=re.MULTILINE)
    )


def agrees(shown, printed):
    lines = without_seconds(shown).splitlines(True)
    pattern = "".join("(?:.*\n)*?" if line == "...\n" else re.escape(line).replace(r"\.\.\.", ".*") for line in lines)
    return re.fullmatch(pattern, without_seconds(printed)) is not None


def value_of(arithmetic):
    """Numbers, + - * /, brackets and max."""
    tree = ast.parse(arithmetic, mode="eval")
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert names <= {"max"}, arithmetic
    return eval(compile(tree, "by hand", "eval"), {"__builtins__": {}, "max": max})  # pylint: disable=eval-used


class Page:
    """One page that is followed in a folder of its own."""

    def __init__(self, build, folder):
        self.folder, self.calls, self.wrong, self.expected = folder, 0, [], []
        self.environment = {
            **os.environ,
            "PATH": f"{build}:{os.environ['PATH']}",
            "LD_LIBRARY_PATH": str(build),
            "COLUMNS": "80",
            "SITU_LIBRARY": str(build / "libsitu.so"),
            "PYTHONPATH": str(ROOT / "python"),
            "PKG_CONFIG_PATH": str(build / "meson-uninstalled"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        shutil.copy(ROOT / "tests/golden/onnx-chain/model.onnx", folder)

    def printed(self, call):
        command = call[2:].replace("\\\n", " ")
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        return done.stdout + (f"exit {done.returncode}\n" if done.returncode else "")

    def follow(self, match):
        """The block as it should be."""
        opening, body = match.groups()
        if opening == "text by-hand":
            for line in body.splitlines():
                name, arithmetic, result, unit = BY_HAND.match(line).groups()
                if abs(value_of(arithmetic) - float(result.replace(",", ""))) > 1e-9:
                    self.wrong.append(f"{name}: {arithmetic} is {value_of(arithmetic)}, not {result}")
                self.expected.append(f"{result} {unit}")
        elif " " in opening:
            (self.folder / opening.split()[1]).write_text(body, encoding="utf-8")
        elif body.startswith("$ "):
            new, calls = "", list(CALL.finditer(body))
            for call, end in zip(calls, [c.start() for c in calls[1:]] + [len(body)]):
                shown, printed = body[call.end() : end], self.printed(call.group())
                self.calls += 1
                if not agrees(shown, printed):
                    self.wrong.append(f"--- on the page\n{call.group()}{shown}--- printed\n{printed}")
                self.wrong += [f"{call.group()}does not print {what}" for what in self.expected if what not in printed]
                self.expected = []
                new += call.group() + (shown if agrees(shown, printed) or "\n...\n" in "\n" + shown else printed)
            return f"```{opening}\n{new}```"
        return match.group()


def main():
    update = "--update" in sys.argv
    build, *pages = (pathlib.Path(a).resolve() for a in sys.argv[1:] if a != "--update")
    failed = False
    for path in pages:
        with tempfile.TemporaryDirectory() as folder:
            page = Page(build, pathlib.Path(folder))
            text = BLOCK.sub(page.follow, path.read_text(encoding="utf-8"))
        if update:
            path.write_text(text, encoding="utf-8")
        failed |= bool(page.wrong) or page.calls == 0
        print(
            "\n".join([f"{path.name}:", *page.wrong])
            if page.wrong
            else f"{path.name}: {page.calls} calls print what the page says"
        )
    return 1 if failed and not update else 0


if __name__ == "__main__":
    sys.exit(main())
