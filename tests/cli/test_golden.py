#!/usr/bin/env python3
"""Replays the cases of tests/golden: test_golden.py SITU [--update] [CASE...]

A case is a folder with a file `session` and the input that it names. A session is calls with what they tell:

    $ situ inspect model.json
    situ: model.json: is not a workload: expected an object with nodes and edges
    exit 3

Each call runs in a copy of the folder. The lines after a call are its stderr when it fails, word for word; when it ends
with 0, 4, 5 or 7 they are lines that its output must have, blanks aside. --update writes the errors anew.
"""
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"


def calls_of(session):
    """[(call, lines, exit code)]"""
    calls = []
    for line in session.splitlines():
        if line.startswith("$ situ "):
            calls.append((line[7:], [], 0))
        elif line.startswith("exit "):
            calls[-1] = (*calls[-1][:2], int(line[5:]))
        elif line.strip():
            calls[-1][1].append(line)
    return calls


def squeeze(text):
    return re.sub(r"\s+", " ", text).strip()


def play(situ, case, update):
    """Complaints of one case."""
    session = (case / "session").read_text()
    complaints, replayed = [], []
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(case, folder, dirs_exist_ok=True)
        before = sorted(path.name for path in pathlib.Path(folder).iterdir())
        for call, lines, code in calls_of(session):
            done = subprocess.run([situ, *shlex.split(call)], cwd=folder, capture_output=True, text=True, timeout=60)
            found = done.stderr.splitlines() if done.returncode in (2, 3, 6, 70) else lines
            replayed += [f"$ situ {call}", *found] + ([f"exit {done.returncode}"] if done.returncode else [])
            if done.returncode != code:
                complaints.append(f"situ {call}: exit code {done.returncode}, expected {code}: {done.stderr}")
            elif code in (2, 3, 6, 70) and (found != lines or done.stdout):
                complaints.append(f"situ {call}: told\n{done.stdout}{done.stderr}instead of\n" + "\n".join(lines))
            whole = squeeze(done.stdout)
            complaints += [f"situ {call}: '{line}' is not in\n{done.stdout}" for line in lines
                           if found is lines and squeeze(line) not in whole]
        after = sorted(path.name for path in pathlib.Path(folder).iterdir())
        if after != before and "-o " not in session:
            complaints.append(f"files were left: {set(after) - set(before)}")
    if update:
        (case / "session").write_text("\n".join(replayed) + "\n")
        return []
    return complaints


def main():
    situ = pathlib.Path(sys.argv[1]).resolve()
    wanted = [a for a in sys.argv[2:] if not a.startswith("-")]
    cases = [path.parent for path in sorted(GOLDEN.glob("*/session")) if not wanted or path.parent.name in wanted]
    failed = 0
    print(f"1..{len(cases)}")
    for number, case in enumerate(cases, 1):
        complaints = play(situ, case, "--update" in sys.argv)
        print(f"{'not ok' if complaints else 'ok'} {number} - {case.name}")
        for line in "\n".join(complaints).splitlines():
            print("# " + line)
        failed += bool(complaints)
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
