#!/usr/bin/env python3
"""Makes man pages from the help of the tool, which is the only place where commands and options are described.

    man.py SITU FOLDER [--check]

Writes FOLDER/situ.1 and one page for each command. With --check nothing is written; exit code 1 when a page differs.
"""
import pathlib
import re
import subprocess
import sys


def output_of(situ, *arguments):
    return subprocess.run([situ, *arguments], capture_output=True, text=True, check=True).stdout


def roff(text):
    """Text as roff takes it: no line begins with a control character, dashes and backslashes stay what they are."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.splitlines())


def options(lines):
    """The rows of one group of options: a spelling in columns 2 to 26, its meaning from column 27 on."""
    rows = []
    for line in lines:
        if re.match(r"  -", line):
            spelling, about = (line[2:].split("  ", 1) + [""])[:2]
            rows.append([spelling.strip(), about.strip()])
        else:
            rows[-1][1] += " " + line.strip()
    return "\n".join(f".TP\n.B {roff(spelling)}\n{roff(about.strip())}" for spelling, about in rows)


def page(name, summary, help_text, also):
    usage, _, rest = help_text.partition("\n\n")
    blocks, out = rest.rstrip("\n").split("\n\n"), []
    out.append(f'.TH {name.upper()} 1 "" "" "situ"\n.SH NAME\n{roff(name)} \\- {roff(summary)}')
    out.append(f".SH SYNOPSIS\n.B {roff(usage.removeprefix('usage: '))}\n.SH DESCRIPTION")
    section = False
    for block in blocks:
        lines = block.splitlines()
        if lines[0] == "Examples:":
            out.append(".SH EXAMPLES\n.nf\n" + roff("\n".join(line[2:] for line in lines[1:])) + "\n.fi")
        elif lines[0].endswith(":") and len(lines) > 1 and lines[1].startswith("  -"):
            out.append(("" if section else ".SH OPTIONS\n") + f".SS {roff(lines[0][:-1])}\n" + options(lines[1:]))
            section = True
        elif lines[0].endswith(":") and len(lines) > 1 and lines[1].startswith("  "):
            rows = [line.split(None, 1) for line in lines[1:]]
            out.append(f".SH {lines[0][:-1].upper()}\n" + "\n".join(f".TP\n.B {a}\n{roff(b)}" for a, b in rows))
        else:
            out.append(".PP\n" + roff(block))
    out.append(".SH SEE ALSO\n" + ",\n".join(f".BR {roff(other)} (1)" for other in also if other != name))
    return "\n".join(out) + "\n"


def main():
    situ, folder, check = sys.argv[1], pathlib.Path(sys.argv[2]), "--check" in sys.argv
    listing = [line.split(None, 1) for line in output_of(situ, "list", "commands").splitlines()]
    names = ["situ"] + [f"situ-{name}" for name, _ in listing]
    pages = {"situ": page("situ", "place neural networks on machines, with proof", output_of(situ, "--help"), names)}
    for name, summary in listing:
        pages[f"situ-{name}"] = page(f"situ-{name}", summary, output_of(situ, name, "--help"), names)
    stale = 0
    for name, text in pages.items():
        path = folder / f"{name}.1"
        if check and (not path.exists() or path.read_text() != text):
            print(f"{path} is not what the help says; run `make docs`")
            stale = 1
        elif not check:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return stale


if __name__ == "__main__":
    sys.exit(main())
