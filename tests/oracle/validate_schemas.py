#!/usr/bin/env python3
"""Holds JSON files, and what situ writes, against a JSON Schema of docs/formats.

    validate_schemas.py SCHEMA [--dump PROGRAM] FILE_OR_NAME...

Each file must fit the schema, and one whose name begins with "bad-" must not. PROGRAM, if given, is run on each
argument (files, and names that are no files): it must print a document that fits the schema, and refuse what the
schema refuses. Exit code 77 (skipped) without the Python module jsonschema.
"""
import json
import pathlib
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("the Python module jsonschema is absent")
    sys.exit(77)


def complaints(validator, text):
    return [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in validator.iter_errors(json.loads(text))]


def check_dump(validator, program, argument, bad):
    """What is wrong with the program's answer, as a list."""
    run = subprocess.run([program, argument], capture_output=True, text=True, check=False)
    if bad:
        return [] if run.returncode == 1 else [f"{argument}: is not refused, exit code {run.returncode}"]
    if run.returncode != 0:
        return [f"{argument}: is refused: {run.stderr.strip()}"]
    return [f"{argument}, as written: {c}" for c in complaints(validator, run.stdout)]


def main(schema_path, *arguments):
    program = None
    if arguments[:1] == ("--dump",):
        program, arguments = arguments[1], arguments[2:]
    schema = json.loads(pathlib.Path(schema_path).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    failures = []
    for argument in arguments:
        path = pathlib.Path(argument)
        bad = path.name.startswith("bad-")
        if path.is_file():
            found = complaints(validator, path.read_text())
            if bad and not found:
                failures.append(f"{path}: fits the schema although it is wrong")
            elif not bad:
                failures += [f"{path}: {c}" for c in found]
        if program:
            failures += check_dump(validator, program, argument, bad)
    print("\n".join(failures + [f"{len(arguments)} documents, {len(failures)} failures"]))
    return 1 if failures or not arguments else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
