#!/usr/bin/env python3
"""Validates JSON files against a JSON Schema of docs/formats: validate_schemas.py SCHEMA FILE...

A file whose name begins with "bad-" must fail. Exit code 77 (skipped) without the module jsonschema.
"""
import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    print("the Python module jsonschema is absent")
    sys.exit(77)


def main(schema_path, *paths):
    schema = json.loads(pathlib.Path(schema_path).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    failures = 0
    for path in map(pathlib.Path, paths):
        errors = [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}"
                  for e in validator.iter_errors(json.loads(path.read_text()))]
        expected_bad = path.name.startswith("bad-")
        if bool(errors) != expected_bad:
            failures += 1
            print(f"{path}: {'; '.join(errors) or 'is accepted although it is wrong'}")
    print(f"{len(paths)} files, {failures} failures")
    return 1 if failures or not paths else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
