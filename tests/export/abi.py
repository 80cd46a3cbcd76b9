#!/usr/bin/env python3
"""abi.py INCLUDE COMPILER [--write FILE | FILE]: describes the binary interface of the public headers, on x86-64: every
function with its signature, every enumerator with its value, every struct with its size, fields and offsets. Numbers
come from a program that COMPILER makes. Writes that to FILE (or prints it), or with FILE alone compares: exits 1 where
they differ. After a change that is meant:

    python3 tests/export/abi.py include cc --write tests/export/abi.txt
"""
import difflib
import pathlib
import platform
import re
import subprocess
import sys
import tempfile


def read_headers(include):
    """The headers as one text, as C sees it, without comments and conditionals for C++."""
    text = "\n".join(p.read_text() for p in [*sorted((include / "situ").glob("*.h"))])
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"^#ifdef __cplusplus\n.*?^#(else|endif)", r"#\1", text, flags=re.S | re.M)
    return text.replace("\\\n", " ")


def one_line(text):
    return re.sub(r"\s+", " ", text).strip()


def structs_of(text):
    """{struct: fields}."""
    found = {}
    for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\n\} \w+;", text, re.S):
        fields = []
        for declaration in filter(None, map(one_line, body.split(";"))):
            fields += [re.sub(r"\[.*", "", part).split()[-1].lstrip("*") for part in declaration.split(",")]
        found[name] = fields
    return found


def measure(include, compiler, structs, enumerators):
    """What the compiler makes of them: lines of text by struct, and values by enumerator."""
    lines = ['#include <stddef.h>', '#include <stdio.h>', '#include "situ.h"', "int main(void) {"]
    for name, fields in structs.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        for f in fields:
            lines.append(f'printf("{name} {f} %zu %zu\\n", offsetof({name}, {f}), sizeof((({name} *)0)->{f}));')
    for name in enumerators:
        lines.append(f'printf("{name} %lld\\n", (long long){name});')
    lines.append("return 0; }")
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder) / "probe.c", pathlib.Path(folder) / "probe"
        source.write_text("\n".join(lines))
        subprocess.run([compiler, "-std=c11", "-I", str(include), str(source), "-o", str(program)], check=True)
        out = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    return [line.split() for line in out.splitlines()]


def describe(include, compiler):
    text = read_headers(include)
    structs = structs_of(text)
    enums = {name: [one_line(e).split(" ")[0] for e in body.split(",") if e.strip()]
             for name, body in re.findall(r"typedef enum (\w+) \{(.*?)\}", text, re.S)}
    anonymous = [e.split()[0] for body in re.findall(r"^enum \{(.*?)\}", text, re.S | re.M) for e in body.split(",")]
    measured = measure(include, compiler, structs, sum(enums.values(), []) + anonymous)
    value = {row[0]: row[1] for row in measured if len(row) == 2}
    out = ["# The binary interface of situ on x86-64 (LP64): written by tests/export/abi.py, held by the suite export.",
           "", "# Functions"]
    functions = [one_line(f) for f in re.findall(r"^SITU_API ([^;]*);", text, re.M)]
    out += sorted(functions, key=lambda f: re.search(r"situ_\w+(?=\()", f).group())
    out += ["", "# Callbacks"]
    out += sorted(one_line(f) for f in re.findall(r"^typedef (\w+ \w+\([^;]*\));", text, re.M))
    out += ["", "# Opaque types"]
    out += sorted(name for name in re.findall(r"^typedef struct (\w+) \w+;", text, re.M))
    out += ["", "# Constants"]
    out += sorted(f"{name} {one_line(body)}" for name, body in re.findall(r"^#define (SITU_\w+)[ ]+([^\n]+)$", text, re.M)
                  if not re.search(r"\b(sizeof|situ_sized|visibility|dllexport)\b|SITU_SIZED|^VERSION", body) and "INIT" not in name)
    out += [f"{name} {value[name]}" for name in anonymous]
    for name, members in sorted(enums.items()):
        out += ["", f"# enum {name}"] + [f"{m} {value[m]}" for m in members]
    broken = []
    for name, fields in sorted(structs.items()):
        rows = [row for row in measured if row[0] == name and len(row) == 4]
        grows = fields[0] == "size"
        out += ["", f"# struct {name}: {value[name]} bytes, {'grows' if grows else 'closed'}"]
        out += [f"{offset:>4} {size:>4} {field}" for _, field, offset, size in rows]
        if grows and int(rows[-1][2]) + int(rows[-1][3]) != int(value[name]):
            broken.append(f"{name} ends with padding, where a later field would go unseen: order its fields otherwise")
    return "\n".join(out) + "\n", broken


def main():
    include, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
    if platform.machine() != "x86_64" or sys.maxsize < 2**32:
        print("the description is of x86-64")
        return 77
    now, broken = describe(include, compiler)
    print("\n".join(broken), end="\n" if broken else "")
    if "--write" in sys.argv:
        pathlib.Path(sys.argv[4]).write_text(now)
    elif len(sys.argv) < 4:
        print(now, end="")
    else:
        then = pathlib.Path(sys.argv[3]).read_text()
        change = list(difflib.unified_diff(then.splitlines(), now.splitlines(), "abi.txt", "the headers", lineterm="", n=1))
        print("\n".join(change) or f"{len(now.splitlines())} lines, as the headers have it")
        if change:
            print("The binary interface differs. docs/abi.md says what may change; abi.py --write writes it anew.")
            return 1
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
