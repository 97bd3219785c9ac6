"""A drawing as SVG."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from preorder.analysis.show.drawing import GREY, INK, PAPER, Box, Disc, Drawing, Line, Link, Shape, Text
from preorder.analysis.xml import escaped


def svg(drawing: Drawing) -> str:
    """Return an ``<svg>`` element on white paper, as wide as what it stands in; text stays text."""
    size = f"{_number(drawing.width)} {_number(drawing.height)}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" '
            'font-family="sans-serif" role="img">',
            f"<title>{escaped(drawing.title)}</title>",
            f'<rect width="100%" height="100%" rx="12" fill="{PAPER}"/>',
            *(_ELEMENTS[type(shape)](shape) for shape in drawing.shapes),
            "</svg>",
        ]
    )


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _text(text: Text) -> str:
    place = f'x="{_number(text.x)}" y="{_number(text.y)}" text-anchor="{text.anchor}"'
    look = f'font-size="{_number(text.size)}" fill="{text.colour}"'
    return f"<text {place} {look}>{escaped(text.text)}</text>"


def _line(line: Line) -> str:
    ends = f"M{_number(line.x1)} {_number(line.y1)} L{_number(line.x2)} {_number(line.y2)}"
    return f'<path d="{ends}" stroke="{line.colour}" stroke-width="{line.width}"/>'


def _link(link: Link) -> str:
    x1, y1, x2, y2, middle = map(_number, (link.x1, link.y1, link.x2, link.y2, (link.y1 + link.y2) / 2))
    dashes = ' stroke-dasharray="5 4"' if link.dashed else ""
    curve = f"M{x1} {y1} C{x1} {middle} {x2} {middle} {x2} {y2}"
    return f'<path d="{curve}" fill="none" stroke="{link.colour}" stroke-width="2.5"{dashes}/>'


def _disc(disc: Disc) -> str:
    place = f'cx="{_number(disc.x)}" cy="{_number(disc.y)}" r="{_number(disc.radius)}"'
    return f'<circle {place} fill="{disc.fill}" stroke="{INK}"/>'


def _box(box: Box) -> str:
    x, y, width, height = map(_number, (box.x, box.y, box.width, box.height))
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{box.fill}" stroke="{GREY}"/>'


_ELEMENTS: dict[type[Shape], Callable[[Any], str]] = {
    Text: _text,
    Line: _line,
    Link: _link,
    Disc: _disc,
    Box: _box,
}
