"""The documentation site: `make site` has Sphinx write it to build/site, without a warning. Its pages are those of the
repository, at their places, so that one set of links holds in both. The directive `c-headers` shows the public headers,
whose comments are the reference of the C interface."""

import os
import pathlib
import re
import sys

from sphinx.util.docutils import SphinxDirective

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))
os.environ.setdefault("SITU_LIBRARY", str(ROOT / "build/libsitu.so"))

project, author, html_title = "situ", "The situ maintainers", "situ"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc, html_theme = "README", "furo"
html_theme_options = {"navigation_with_keys": True}
include_patterns = [
    "*.md",
    "docs/*.md",
    "docs/**/*.md",
    "docs/reference/*.rst",
    "src/**/*.md",
    "share/**/*.md",
    "examples/*.md",
]
myst_heading_anchors = 4
autodoc_mock_imports = ["torch"]
autodoc_member_order, autodoc_typehints = "bysource", "description"

CONTENTS = """
```{{toctree}}
:hidden:
:glob:
:caption: {}

{}
```
"""
NAVIGATION = {
    "Begin": "docs/first-steps docs/worked-examples docs/how-to/*",
    "Use": """docs/python docs/c-api docs/language-models docs/size docs/scale docs/report docs/run-your-plan docs/engines
        docs/formats/*""",
    "Know": "docs/model docs/papers docs/theory/README docs/theory/chain docs/theory/search docs/theory/level docs/theory/*/* docs/results/README docs/results/* share/policies/README",
    "Reference": "docs/reference/*",
    "Inside": """docs/ARCHITECTURE src/*/README examples/README docs/testing docs/dependencies docs/abi CONVENTIONS
        CONTRIBUTING CHANGELOG""",
}

DECLARED = re.compile(
    r"^(?:SITU_API|typedef) (?P<function>[^;({]*?\b(?P<f>situ_\w+)\([^;]*);|^\} (?P<struct>situ_\w+);"
    r"|^typedef struct \w+ (?P<opaque>situ_\w+);|^#define (?P<macro>(?!SITU_API)SITU_\w+)",
    re.MULTILINE,
)
NAME = re.compile(r"\b(?:situ_|SITU_[A-Z])\w+\b")


def groups_of(header):
    """(comment, declarations) in order; the first has the comment of the file. A group ends at an empty line outside of
    brackets and before the next comment. What is for C++ alone is left out."""
    groups, comment, code, for_cpp = [], [], [], False
    text = re.sub(r"^#ifndef SITU_\w+_H\n#define \w+\n|^#endif\s*\Z|^#include.*\n", "", header.read_text(), flags=re.M)
    for line in text.splitlines():
        if line.startswith(("#if", "#else", "#endif")):
            for_cpp = line.startswith("#if")
        elif for_cpp:
            pass
        elif comment and not comment[-1].endswith("*/") or line.startswith("/*"):
            if code:
                groups, comment, code = [*groups, (comment, code)], [], []
            comment.append(line)
        elif line or sum(c.count("{") - c.count("}") for c in code) > 0:
            code.append(line)
        elif comment or code:
            groups, comment, code = [*groups, (comment, code)], [], []
    groups += [(comment, code)] if comment or code else []
    return [
        ("\n".join(re.sub(r"^(/\*| \*) ?|\s*\*/$", "", row) for row in about), "\n".join(code))
        for about, code in groups
    ]


def rst_of(text, kinds):
    """A comment as reStructuredText: names are links to where they are declared."""

    def linked(match):
        return f":c:{kinds[match.group()]}:`{match.group()}`" if match.group() in kinds else f"``{match.group()}``"

    escaped = re.sub(r"([*`|<>\\]|_(?!\w))", r"\\\1", text)
    return NAME.sub(linked, escaped).replace("`(", "`\\ (").splitlines()


def declarations_of(code):
    """(kind of the C domain, name, signature) in order."""
    for found in DECLARED.finditer(code):
        if found["f"]:
            kind = "type" if found.group().startswith("typedef") else "function"
            yield kind, found["f"], " ".join(found["function"].split())
        else:
            name = found["struct"] or found["opaque"] or found["macro"]
            yield "macro" if found["macro"] else "type", name, name


def indented(lines):
    return [f"   {line}" for line in lines]


class Headers(SphinxDirective):
    """All public headers: each declaration with what its header says of it."""

    def run(self):
        headers = sorted((ROOT / "include/situ").glob("*.h"))
        groups = {header: groups_of(header) for header in headers}
        kinds = {
            name: kind.replace("function", "func")
            for found in groups.values()
            for _, code in found
            for kind, name, _ in declarations_of(code)
        }
        lines = []
        for header, ((about, _), *found) in groups.items():
            self.env.note_dependency(str(header))
            title, _, rest = about.partition(" - ")
            lines += [title, "-" * len(title), "", *rst_of(rest[:1].upper() + rest[1:], kinds), ""]
            for comment, code in found:
                lines += self.group(rst_of(comment, kinds), code)
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)

    @staticmethod
    def group(text, code):
        """Functions share the text; a struct or enum shows its members."""
        declared = list(declarations_of(code))
        if not declared:
            return [*text, "", *([".. code-block:: c", "", *indented(code.splitlines()), ""] if code else [])]
        first = declared[0][0]
        signatures = [signature for kind, _, signature in declared if kind == first]
        lines = [
            f".. c:{first}:: {signatures[0]}",
            *(f"   {' ' * len(first)}      {s}" for s in signatures[1:]),
            "",
            *indented(text),
            "",
        ]
        if "{" in code or first == "macro":
            members = re.sub(r"^SITU_API [^;]*;\n?", "", code, flags=re.MULTILINE)
            lines += indented([".. code-block:: c", "", *indented(members.splitlines()), ""])
        for kind, _, signature in declared:
            if kind != first:
                lines += [f".. c:{kind}:: {signature}", ""]
        return lines


def add_navigation(app, docname, source):
    if docname == root_doc:
        source[0] += "".join(CONTENTS.format(title, "\n".join(pages.split())) for title, pages in NAVIGATION.items())


def setup(app):
    app.add_directive("c-headers", Headers)
    app.connect("source-read", add_navigation)
