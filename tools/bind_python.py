#!/usr/bin/env python3
"""bind_python.py INCLUDE [--write FILE | FILE]: the public headers as declarations for ctypes: every function, enumerator,
callback and struct. Writes them to FILE (or prints them), or with FILE alone compares: exits 1 where they differ. After a
change of the headers:

    python3 tools/bind_python.py include --write python/situ/_interface.py
"""
import difflib
import pathlib
import re
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/export"))
from abi import one_line, read_headers  # noqa: E402  the one reader of headers

PLAIN = {"int32_t": "c_int32", "int64_t": "c_int64", "uint64_t": "c_uint64", "size_t": "c_size_t", "double": "c_double",
         "bool": "c_bool", "char": "c_char", "int": "c_int"}


def enumerators(words):
    """Names and values of "A = 0", "B", ...: a value that is not said is one more than that before."""
    found = []
    for word in words:
        name, _, value = word.partition(" = ")
        found.append((name, int(value) if value else found[-1][1] + 1 if found else 0))
    return found


class Headers:
    def __init__(self, include):
        text = read_headers(include)
        self.structs = dict(re.findall(r"typedef struct (\w+) \{(.*?)\n\} \w+;", text, re.S))
        self.enums = {name: enumerators([one_line(e) for e in body.split(",") if e.strip()])
                      for name, body in re.findall(r"typedef enum (\w+) \{(.*?)\}", text, re.S)}
        self.callbacks = dict((name, (result, arguments)) for result, name, arguments in
                              re.findall(r"^typedef (\w+) (\w+)\(([^;]*)\);", one_per_line(text), re.M))
        self.functions = [one_line(f) for f in re.findall(r"^SITU_API ([^;]*);", text, re.M)]
        self.lengths = {n: int(v) for n, v in re.findall(r"^#define (SITU_\w+) (\d+)$", text, re.M)}
        self.lengths.update((n, int(v)) for n, v in re.findall(r"^enum \{ (\w+) = (\d+) \};", text, re.M))

    def type_of(self, declaration):
        """What ctypes calls the type of a declaration without its name: "const char *", "situ_plan **"."""
        base = re.sub(r"\b(const|struct)\b|\*", " ", declaration).split()[0]
        stars = declaration.count("*")
        if base == "void":
            return "c_void_p" if stars else "None"
        if base in self.callbacks:
            return base
        if base == "char" and stars:
            if stars == 1:
                return "c_char_p" if "const" in declaration else "c_void_p"
            return "POINTER(c_char_p)" if "const" in declaration else "POINTER(c_void_p)"  # else a text to be freed
        if base in PLAIN or base in self.enums or base in self.structs:
            made = PLAIN.get(base, "c_int" if base in self.enums else base)
            return "POINTER(" * stars + made + ")" * stars
        assert stars, declaration  # an opaque type
        return "POINTER(" * (stars - 1) + "c_void_p" + ")" * (stars - 1)

    def arguments_of(self, text):
        """Types of the arguments of a function."""
        if text.strip() == "void":
            return []
        parts = [re.sub(r"(\w+)\[\w*\]$", r"*\1", a.strip()) for a in text.split(",")]
        return [self.type_of(re.sub(r"(?<=[\s*])\w+$", "", a)) for a in parts]

    def fields_of(self, name):
        """(field, type) of a struct, in order."""
        found = []
        for declaration in filter(None, map(one_line, self.structs[name].split(";"))):
            first, *others = declaration.split(",")
            base = re.match(r"(?:const )?\w+", first).group()
            for part in [first[len(base):], *others]:
                field, length = re.search(r"(\w+)(?:\[(\w+)\])?$", part.strip()).groups()
                made = self.type_of(base + " " + part.strip()[:part.strip().index(field)])
                found.append((field, f"{made} * {self.lengths.get(length, length)}" if length else made))
        return found


def one_per_line(text):
    return re.sub(r"\n[ \t]+", " ", text)


def wrapped(line, indent):
    return textwrap.wrap(line, 118, initial_indent=" " * 4, subsequent_indent=" " * indent, break_long_words=False)


def declare(include):
    h = Headers(include)
    out = ['"""The C interface of situ for ctypes: written by tools/bind_python.py from the headers, never by hand."""',
           "# mypy: disable-error-code=\"misc\"", "from __future__ import annotations", "",
           "from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_int, c_int32, c_int64,",
           "                    c_size_t, c_uint64, c_void_p)", ""]
    out += [f"{name} = {value}" for name, value in sorted(h.lengths.items())]
    for members in h.enums.values():
        names, values = [name for name, _ in members], [value for _, value in members]
        first, n = values[0], len(values)
        if values == list(range(first, first + n)) and n > 1:  # most are: a line or two for each enum
            span = str(n) if first == 0 else f"{first}, {first + n}"
            listed = textwrap.wrap(", ".join(names), 110, initial_indent="(", subsequent_indent=" ")
            out += [*listed[:-1], f"{listed[-1]}) = range({span})"]
        else:
            out += [f"{name} = {value}" for name, value in members]
    waiting, done = [*h.callbacks, *h.structs], set()
    while waiting:
        name = waiting.pop(0)
        if name in h.callbacks:
            result, arguments = h.callbacks[name]
            types = h.arguments_of(arguments)
            lines = ["", f"{name} = CFUNCTYPE({', '.join([h.type_of(result), *types])})"]
        else:
            fields = h.fields_of(name)
            types = [made for _, made in fields]
            listed = ", ".join(f'("{field}", {made})' for field, made in fields)
            lines = ["", f"class {name}(Structure):", *wrapped(f"_fields_ = [{listed}]", 16)]
        needs = {word for made in types for word in re.findall(r"situ_\w+", made)}
        if needs <= done:
            out += lines
            done.add(name)
        else:
            waiting.append(name)
    out += ["", "", "# function: (result, arguments)", "FUNCTIONS: dict[str, tuple[object, list[object]]] = {"]
    for function in sorted(h.functions, key=lambda f: re.search(r"situ_\w+(?=\()", f).group()):
        result, name, arguments = re.match(r"(.*?)(situ_\w+)\((.*)\)$", function).groups()
        line = f'"{name}": ({h.type_of(result)}, [{", ".join(h.arguments_of(arguments))}]),'
        out += wrapped(line, 8)
    return "\n".join(out + ["}"]) + "\n"


def main():
    now = declare(pathlib.Path(sys.argv[1]))
    if "--write" in sys.argv:
        pathlib.Path(sys.argv[3]).write_text(now)
    elif len(sys.argv) < 3:
        print(now, end="")
    else:
        then = pathlib.Path(sys.argv[2]).read_text()
        change = list(difflib.unified_diff(then.splitlines(), now.splitlines(), sys.argv[2], "the headers", lineterm="", n=1))
        print("\n".join(change) or f"{len(now.splitlines())} lines, as the headers have it")
        if change:
            print("The headers have changed. bind_python.py --write writes the declarations anew.")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
