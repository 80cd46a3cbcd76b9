#!/usr/bin/env python3
"""Names that mean harm - markup, quotes, escapes of terminals, bytes that are no text, a megabyte - in every output.

    test_names.py SITU [NAME...]

Cases as in test_cli.py. Every output stays UTF-8 without control characters, and what has a syntax keeps it.
"""

import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import xml.dom.minidom

from test_cli import SITU, environment, main, situ, thorough

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lab"))
from onnx_writer import graph, model, node, value
from test_report import data_of

MEGABYTE = "long" * 250_000
HARM = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "\"quotes\" and 'more' &amp; <!-- ]]> -->",
    "\033]0;title\007\033[31mred",
    "line\u2028end\u2029and\r\nnext\tcell",
    "right\u202eto left",
    'comma,"cell"',
    "back\\slash \\u003c ${x} `y`",
    "nul\x01\x7f\x9b31m",
    b"\xff\xfe\xc0\x80 bytes \xed\xa0\x80",
    "%s%n{0}",
    MEGABYTE,
]
csv.field_size_limit(1 << 30)
PLATFORM = ["--platform", "cpu+2*p100-16g", "--granularity", "operator"]


def write_model(names):
    """A chain of convolutions wide enough that two devices share it: each operator has one of the names."""
    nodes, made = [], b"x"
    for k, name in enumerate(names):
        made, before = (name if isinstance(name, bytes) else name.encode()) + str(k).encode(), made
        nodes.append(node("<b>Kind</b>\033[31m" if k == len(names) - 1 else "Relu", [before], [made], name))
    pathlib.Path("m.onnx").write_bytes(
        model(graph(nodes, [value("x", [64, 1024, 1024])], [value(made, [64, 1024, 1024])], name=names[0]))
    )
    return "m.onnx"


def call(*arguments, codes=(0,)):
    done = subprocess.run([SITU, *map(str, arguments)], capture_output=True, timeout=120, env=environment())
    assert done.returncode in codes, (arguments, done.returncode, done.stderr[-500:])
    return done.stdout, done.stderr


def harmless(text, where, allowed="\n"):
    """UTF-8 without control characters other than ends of lines."""
    decoded = text.decode("utf-8")
    bad = re.search(rf"[\x00-\x1f\x7f-\x9f]", decoded.translate({ord(c): None for c in allowed}))
    assert (
        bad is None
    ), f"{where}: {bad.group()!r} at {bad.start()}: {decoded[max(0, bad.start() - 60):bad.start() + 60]!r}"
    return decoded


def placed(*more):
    write_model(HARM)
    names = json.loads(call("place", "m.onnx", *PLATFORM, "--steps", "20", "--json")[0])["placement"]
    pathlib.Path("pins.json").write_text(
        json.dumps({name: ("cpu", "gpu0", "gpu1")[k % 3] for k, name in enumerate(names)})
    )
    return call("place", "m.onnx", *PLATFORM, "--fix", "pins.json", "-o", "plan.json", *more)


@thorough
def test_tables_are_harmless():
    for text in placed():
        harmless(text, "place")
    for words in (
        ["explain", "plan.json", "--steps", "20"],
        ["check", "plan.json"],
        ["simulate", "plan.json", "--gantt"],
        ["inspect", "m.onnx"],
        ["compare", "m.onnx", *PLATFORM, "--solver", "single,heft"],
        ["pareto", "m.onnx", *PLATFORM, "--steps", "50", "--points", "2"],
        ["costs", "m.onnx", *PLATFORM],
    ):
        for text in call(*words):
            harmless(text, words[0], "\r\n\t" if words[0] == "costs" else "\n")


def test_json_is_harmless_and_valid():
    placed()
    for words in (
        ["place", "m.onnx", *PLATFORM, "--steps", "20"],
        ["explain", "plan.json", "--steps", "20"],
        ["check", "plan.json"],
        ["simulate", "plan.json"],
        ["inspect", "m.onnx"],
        ["compare", "m.onnx", *PLATFORM, "--solver", "single,heft"],
        ["pareto", "m.onnx", *PLATFORM, "--steps", "50", "--points", "2"],
    ):
        out, err = call(*words, "--json")
        json.loads(harmless(out, words[0]))
        harmless(err, words[0])
    json.loads(harmless(pathlib.Path("plan.json").read_bytes(), "plan"))


def test_written_formats_are_harmless_and_keep_their_syntax():
    placed(
        "--svg",
        "p.svg",
        "--graph-svg",
        "g.svg",
        "--write",
        "trace=t.json",
        "--write",
        "csv=t.csv",
        "--write",
        "dot=t.dot",
        "--write",
        "split=s.json",
    )
    for name in ("p.svg", "g.svg"):
        text = harmless(pathlib.Path(name).read_bytes(), name)
        drawn = xml.dom.minidom.parseString(text)
        assert not any(drawn.getElementsByTagName(tag) for tag in ("script", "img", "b")) and len(text) < 100_000
    for name in ("t.json", "s.json"):
        json.loads(harmless(pathlib.Path(name).read_bytes(), name))
    rows = list(csv.reader(io.StringIO(harmless(pathlib.Path("t.csv").read_bytes(), "t.csv", "\r\n\t"))))
    assert len({len(row) for row in rows}) == 1, "a name broke a row of the CSV"
    dot = harmless(pathlib.Path("t.dot").read_bytes(), "t.dot")
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', "", dot)
    assert '"' not in bare and "alert" not in bare, "a name left its quotes in DOT"
    call("pareto", "m.onnx", *PLATFORM, "--steps", "50", "--points", "2", "--svg", "f.svg")
    xml.dom.minidom.parseString(harmless(pathlib.Path("f.svg").read_bytes(), "f.svg"))


def test_a_page_is_harmless():
    placed()
    call("report", "plan.json", "-o", "page.html", "--what-if", "--compare", "--solver", "single,heft", "--steps", "20")
    text = harmless(pathlib.Path("page.html").read_bytes(), "page.html")
    assert text.count("<script") == 2 and text.count("</script>") == 2 and "<img" not in text, "a name became markup"
    assert "\u2028" not in text and "\u2029" not in text
    assert len(text) < 400_000, "a name of a megabyte was not cut"
    names = data_of("page.html")["plans"][0]["name"]
    assert len(names) == len(HARM)


if __name__ == "__main__":
    sys.exit(main(globals()))
