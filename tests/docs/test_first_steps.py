#!/usr/bin/env python3
"""Runs the calls of a page and compares what they print: test_first_steps.py SITU PAGE [--update]

A fenced block whose first line is `$ situ ...` holds a call and its output, and in a last line `exit N` where that is
not 0. A block "```json NAME" is a file. All run in one empty folder, in order. Seconds are not compared. --update writes
the outputs anew.
"""
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def without_seconds(text):
    return re.sub(r"\d+\.\d+ s,", "... s,", text)


def played(situ, folder, opening, body):
    """The block as it should be."""
    if opening.startswith("json "):
        (folder / opening.split()[1]).write_text(body)
        return body
    call = body.splitlines()[0]
    if not call.startswith("$ situ "):
        return body
    done = subprocess.run([situ, *shlex.split(call[7:])], cwd=folder, capture_output=True, text=True, timeout=120)
    end = f"exit {done.returncode}\n" if done.returncode else ""
    return f"{call}\n{done.stdout}{done.stderr}{end}"


def main():
    situ, page = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
    text, wrong, calls = page.read_text(encoding="utf-8"), [], 0
    with tempfile.TemporaryDirectory() as folder:
        def renewed(match):
            nonlocal calls
            opening, body = match.groups()
            new = played(situ, pathlib.Path(folder), opening, body)
            calls += body.startswith("$ situ ")
            if without_seconds(new) == without_seconds(body):
                return match.group(0)
            wrong.append(f"--- on the page\n{body}--- printed\n{new}")
            return f"```{opening}\n{new}```"
        new_text = BLOCK.sub(renewed, text)
    if "--update" in sys.argv:
        page.write_text(new_text, encoding="utf-8")
        return 0
    print("\n".join(wrong) or f"{page.name}: {calls} calls print what the page says")
    return 1 if wrong or calls == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
