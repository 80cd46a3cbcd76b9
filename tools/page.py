#!/usr/bin/env python3
"""Makes src/report/page/ one C file: the page before its data, and the page after.

    page.py OUT.c page.html page.css SCRIPT.js...

`@css@`, `@js@` and `@data@` in the HTML say where things go; scripts are joined in the order given.
"""

import pathlib
import sys


def literal(text):
    """C string literals, one for each line."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?")
    return "\n".join(f'    "{line}\\n"' for line in escaped.split("\n"))


def main(out, html, css, *scripts):
    read = lambda name: pathlib.Path(name).read_text(encoding="utf-8")
    page = read(html).replace("@css@", read(css)).replace("@js@", "".join(map(read, scripts)))
    before, after = page.split("@data@")
    pathlib.Path(out).write_text(
        '#include "report/page.h"\n\n'
        + "".join(
            f"const char page_{name}[] =\n{literal(text)};\n" for name, text in (("before", before), ("after", after))
        ),
        encoding="utf-8",
    )


main(*sys.argv[1:])
