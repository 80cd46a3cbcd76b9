"""A plan in a notebook: a table and the picture. All external text is escaped."""

from __future__ import annotations

import base64
from html import escape
from typing import Any, Mapping

from ._watch import duration


def _rows(rows: list[list[str]], head: bool = False) -> str:
    cell = "th" if head else "td"
    return "".join(
        "<tr>" + "".join(f'<{cell} style="text-align:left">{escape(one)}</{cell}>' for one in row) + "</tr>"
        for row in rows
    )


def _size(size_bytes: float | None) -> str:
    if size_bytes is None:
        return "-"
    unit, size = next(((u, s) for u, s in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)) if size_bytes >= s), ("B", 1.0))
    return f"{size_bytes / size:.3g} {unit}"


def html_of(report: Mapping[str, Any], svg: str) -> str:
    """The summary of a plan from the members of its report, and its picture, as an image, in which no script runs."""
    summary = [
        ["model", str(report["model"])],
        ["platform", str(report.get("platform", ""))],
        ["outcome", str(report["outcome"])],
        [str(report["objective"]), duration(report["value_ns"])],
        ["lower bound", duration(report["lower_bound_ns"])],
    ]
    if report["value_ns"] is not None:
        summary.append(["gap", f"{report['gap']:.2%}"])
    if report.get("best_single_ns") is not None:
        summary.append(["best single device", f"{duration(report['best_single_ns'])}, {report['best_single_device']}"])
    if report.get("reason"):
        summary.append(["reason", str(report["reason"])])
    devices = [
        [
            str(d["name"]),
            str(d["operators"]),
            duration(d["load_ns"]),
            _size(d["memory_bytes"]),
            _size(d["memory_limit_bytes"]),
        ]
        for d in report.get("devices", [])
    ]
    out = f"<table>{_rows(summary)}</table>"
    if devices:
        out += f"<table>{_rows([['device', 'operators', 'load', 'memory', 'of']], True)}{_rows(devices)}</table>"
    if svg:
        data = base64.b64encode(svg.encode("utf-8")).decode("ascii")
        out += f'<img alt="the plan over time" style="max-width:100%" src="data:image/svg+xml;base64,{data}"/>'
    return out
