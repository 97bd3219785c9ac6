"""A drawing as PNG, by matplotlib."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from preorder.analysis.pictures.encode import Picture, encode
from preorder.analysis.show.drawing import GREY, INK, PAPER, Box, Disc, Drawing, Line, Link, Shape, Text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

UNIT = 1 / 100  # inches of a drawing's unit
POINTS = 72 * UNIT


def png(drawing: Drawing) -> Picture:
    """Return the drawing as a file.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    return encode(lambda: _figure(drawing), drawing.title, ".png")


def _figure(drawing: Drawing) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(drawing.width * UNIT, drawing.height * UNIT), facecolor=PAPER)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, drawing.width), ylim=(drawing.height, 0))
    axes.axis("off")
    for order, shape in enumerate(drawing.shapes):
        _PAINTERS[type(shape)](axes, shape, order)
    return figure


def _text(axes: Axes, text: Text, order: int) -> None:
    anchor = {"start": "left", "middle": "center", "end": "right"}[text.anchor]
    look = {"fontsize": text.size * POINTS, "color": text.colour, "zorder": order, "parse_math": False}
    axes.text(text.x, text.y, text.text, ha=anchor, va="baseline", **look)


def _line(axes: Axes, line: Line, order: int) -> None:
    ends = (line.x1, line.x2), (line.y1, line.y2)
    axes.plot(*ends, color=line.colour, linewidth=line.width * POINTS, zorder=order)


def _link(axes: Axes, link: Link, order: int) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    middle = (link.y1 + link.y2) / 2
    points = [(link.x1, link.y1), (link.x1, middle), (link.x2, middle), (link.x2, link.y2)]
    curve = Path(points, [Path.MOVETO, *[Path.CURVE4] * 3])
    style = "--" if link.dashed else "-"
    look = {"edgecolor": link.colour, "linewidth": 2.5 * POINTS, "linestyle": style, "zorder": order}
    axes.add_patch(PathPatch(curve, facecolor="none", **look))


def _disc(axes: Axes, disc: Disc, order: int) -> None:
    from matplotlib.patches import Circle

    axes.add_patch(Circle((disc.x, disc.y), disc.radius, fc=disc.fill, ec=INK, lw=POINTS, zorder=order))


def _box(axes: Axes, box: Box, order: int) -> None:
    from matplotlib.patches import Rectangle

    place = (box.x, box.y), box.width, box.height
    axes.add_patch(Rectangle(*place, fc=box.fill, ec=GREY, lw=POINTS, zorder=order))


_PAINTERS: dict[type[Shape], Callable[[Any, Any, int], None]] = {
    Text: _text,
    Line: _line,
    Link: _link,
    Disc: _disc,
    Box: _box,
}
