"""Pictures as PNG. The library draws SVG; resvg renders it, if installed."""

from __future__ import annotations

from ._library import Unsupported


def png_of(svg: str, zoom: float = 2.0) -> bytes:
    """The picture as PNG, with `zoom` pixels for each unit of the SVG. Unsupported if resvg is not installed."""
    try:
        import resvg_py
    except ImportError:
        raise Unsupported("a PNG picture needs resvg (pip install resvg-py); svg() works without it") from None
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=zoom))
