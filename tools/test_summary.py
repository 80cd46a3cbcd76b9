#!/usr/bin/env python3
"""Says what the last test run of a build folder ran: tests of each suite, what was skipped and why, what is left.

    tools/test_summary.py BUILD
"""
import collections
import json
import pathlib
import re
import subprocess
import sys


def suite_of(name):
    """Names of tests in logs read "suite+suite - project:test"; the first suite is the kind."""
    return re.split(r"[+ ]", name)[0]


def skipped_cases(test):
    """What a test that ran says it left out: cmocka names cases, our own scripts say why."""
    text = test.get("stdout", "") + test.get("stderr", "")
    own = re.findall(r"^ok \d+ - (.*) # SKIP (.*)$", text, re.M)
    cases = collections.Counter(why for _, why in own)
    cases.update("needs data that is not here" for _ in set(re.findall(r"^\[  SKIPPED \] (\w+)$", text, re.M)))
    return cases


def main(build):
    newest = max((build / "meson-logs").glob("testlog*.json"), key=lambda path: path.stat().st_mtime)
    lines = newest.read_text().splitlines()
    tests = [json.loads(line) for line in lines]
    every = json.loads(subprocess.run(["meson", "introspect", "--tests", str(build)], capture_output=True, text=True,
                                      check=True).stdout)
    ran = collections.Counter(suite_of(t["name"]) for t in tests)
    print(f"{len(tests)} tests ran: " + ", ".join(f"{n} {suite}" for suite, n in ran.most_common()))
    skips = collections.Counter()
    for test in tests:
        if test["result"] == "SKIP":
            skips[f"test {test['name'].split(':')[-1]} needs what is not installed"] += 1
        else:
            skips.update(skipped_cases(test))
    for why, n in skips.most_common():
        print(f"  {n} left out: {why}")
    left = len(every) - len(tests)
    print(f"Left to `make check`: {left} long tests, nine tenths of the rounds, clang, sanitizers, a build without learning.")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
