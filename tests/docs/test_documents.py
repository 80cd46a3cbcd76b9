#!/usr/bin/env python3
"""The house check names what is wrong in documents: each test breaks one rule in a small tree that keeps them all.

    test_documents.py CHECK_HOUSE
"""
import pathlib
import subprocess
import sys
import tempfile

import runner

CHECK = pathlib.Path(sys.argv[1]).resolve()
PAGE = "docs/theory/heuristics/single.md"
TREE = {
    "docs/ARCHITECTURE.md": "# Architecture\n\nAfter this page you know the floors.\n\n"
                            "| 0 | `base/` | arena |\n\n## Where to add: `rows`, and more\n",
    PAGE: "# single\n\nAfter this page you know "
          "[the floors](../../ARCHITECTURE.md#where-to-add-rows-and-more), `base/arena` and `arena.c`.\n",
    "src/base/arena.c": "/* docs/theory/heuristics/single.md has the argument. */\nint arena;\n",
}


def breaches(changes):
    """What the check says of the tree with some texts replaced: {file: (old, new)}."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in TREE.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            old, new = changes.get(name, ("", ""))
            assert old in text, f"{name} has no {old}"
            path.write_text(text.replace(old, new, 1))
        done = subprocess.run([sys.executable, CHECK, folder], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert done.returncode == (1 if changes else 0), done.stdout + done.stderr
        return done.stdout


def names(what, file, old, new):
    output = breaches({file: (old, new)})
    assert what in output, output


def test_a_tree_that_keeps_the_rules_passes():
    breaches({})


def test_a_link_to_a_page_that_is_not_there_is_named():
    names(PAGE + ":3: links to ../MISSING.md", PAGE,
          "../../ARCHITECTURE.md#where-to-add-rows-and-more", "../MISSING.md")


def test_a_link_to_a_heading_that_is_not_there_is_named():
    names("ARCHITECTURE.md#where, a heading", PAGE, "#where-to-add-rows-and-more", "#where")


def test_a_page_that_a_source_names_has_to_be_there():
    names("src/base/arena.c:1: names docs/theory/heuristics/m_topo.md", "src/base/arena.c", "single.md", "m_topo.md")


def test_a_file_that_a_page_names_has_to_be_there():
    names("names heap.c, which", PAGE, "arena.c", "heap.c")


def test_a_path_in_backquotes_has_to_be_there():
    names("names base/heap, which", PAGE, "base/arena", "base/heap")


def test_a_page_begins_with_what_its_reader_learns():
    names(PAGE + ": does not begin", PAGE, "After this page you know", "This is about")


if __name__ == "__main__":
    sys.exit(runner.run(globals()))
