"""Curves and breakdowns as pictures, and pictures as files, with matplotlib (the extra ``plots``).

They are readable without colour, and the same result gives the same bytes.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.sax.saxutils import escape

import numpy as np
from rich.cells import cell_len

from preorder.analysis import PICTURES
from preorder.analysis.results import (
    BREAKDOWN_TITLES,
    SCORE_FORMATS,
    Breakdown,
    Curves,
    Estimate,
    score_titles,
)
from preorder.errors import UsageError, require, shown
from preorder.io.files import write_bytes
from preorder.progress import LOGGER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 5.4  # inches; text keeps its size where a picture is set as wide as a page's column
HEIGHT = 2.5  # of a panel
INTERVAL = {"capsize": 2, "elinewidth": 0.8, "capthick": 0.8}

PARAMETERS: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Arial"],
    "font.size": 9.5,
    "grid.color": "#d9d9d9",
    "hatch.linewidth": 0.7,
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text: it can be searched, and read aloud
    "svg.hashsalt": "onmt-preorder",  # else names inside the file are random
}


class Style(NamedTuple):
    """How a system is drawn; the seven styles differ in line, marker and hatch, not only in colour."""

    colour: str
    line: Any
    marker: str
    hatch: str


_STYLES = (
    Style("#000000", "-", "o", ""),
    Style("#d55e00", "--", "s", "///"),
    Style("#0072b2", "-.", "^", "---"),
    Style("#009e73", ":", "D", "\\\\\\"),
    Style("#cc79a7", (0, (5, 1, 1, 1, 1, 1)), "v", "xxx"),
    Style("#a6761d", (0, (8, 2)), "P", "|||"),
    Style("#56b4e9", (0, (1, 3)), "X", "+++"),
)


def styles(names: Sequence[str]) -> dict[str, Style]:
    """Return a style for each name, in order; the eighth has that of the first."""
    return {name: _STYLES[k % len(_STYLES)] for k, name in enumerate(names)}


def new_figure(panels: int) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels one below the other, as wide as a page's column."""
    require("matplotlib", "plots")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, HEIGHT * panels + 0.4), layout="constrained")
    return figure, list(figure.subplots(panels, 1, squeeze=False)[:, 0])


def add_legend(figure: Figure, handles: Mapping[str, Any]) -> None:
    """Put one legend above all panels; names in it are plain text, whatever characters they have."""
    longest = max(map(cell_len, handles)) * 0.6 * PARAMETERS["font.size"] / 72  # inches
    columns = min(4, max(1, int(WIDTH / (longest + 0.6))))
    legend = figure.legend(handles.values(), range(len(handles)), loc="outside upper left", ncols=columns)
    for text, name in zip(legend.get_texts(), handles, strict=True):
        text.set_parse_math(False)
        text.set_text(name)


# Widths, as shares of the distance of two groups:
BARS = 0.8  # all bars of a group
APART, SPREAD = 0.05, 0.2  # the points of two neighbouring systems, and those of all systems, at most


def curves_title(curves: Curves) -> str:
    """Return the title of :func:`draw_curves`."""
    titles = " and ".join(score_titles(curves.measures))
    return f"Lines of {titles} by {curves.axis}, of {', '.join(_names(curves))}"


def breakdown_title(breakdown: Breakdown) -> str:
    """Return the title of :func:`draw_breakdown`."""
    return f"Bars of {BREAKDOWN_TITLES[breakdown.kind]}: of {', '.join(breakdown.systems)}"


def draw_curves(curves: Curves) -> Figure:
    """Draw a panel for each score, with 95% intervals."""
    looks = styles(_names(curves))
    figure, panels = new_figure(len(curves.measures))
    labels = [group.label.replace(" to ", "…") for group in curves.groups]
    are_numbers = all(len(label) < 9 and label.isdecimal() for label in labels)
    xs = np.array(list(map(int, labels) if are_numbers else range(len(labels))), float)
    step = np.diff(xs).min() if len(xs) > 1 else 1.0
    sizes = [group.sentences for group in curves.groups]
    if len(set(sizes)) == 1:
        counted = f"{sizes[0]} sentences each"
    else:
        labels = [f"{label}\n{size}" for label, size in zip(labels, sizes, strict=True)]
        counted = "and how many sentences"
    handles: dict[str, Any] = {}
    for axes, (name, lines) in zip(panels, curves.measures.items(), strict=True):
        for k, (system, line) in enumerate(lines.items()):
            scores, below, above = numbers(line)
            shift = (k - (len(lines) - 1) / 2) * min(APART, SPREAD / len(lines)) * step
            look = {"color": looks[system].colour, "linestyle": looks[system].line, "linewidth": 1.3}
            look |= {"marker": looks[system].marker, "markersize": 4.5}
            handles[system] = axes.errorbar(xs + shift, scores, (below, above), **look, **INTERVAL)
        axes.set_ylabel(SCORE_FORMATS[name].label)
        axes.set_xticks(xs, labels)
    panels[-1].set_xlabel(f"{curves.axis}, {counted}")
    add_legend(figure, handles)
    return figure


def draw_breakdown(breakdown: Breakdown) -> Figure:
    """Draw bars, the parts side by side, with 95% intervals."""
    looks = styles(list(breakdown.systems))
    figure, (axes,) = new_figure(1)
    parts = list(next(iter(breakdown.systems.values())))
    width = BARS / len(looks)
    handles = {}
    for k, (name, found) in enumerate(breakdown.systems.items()):
        scores, below, above = numbers([found[part] for part in parts])
        xs = np.arange(len(parts)) + (k - (len(looks) - 1) / 2) * width
        face = "#ffffff" if looks[name].hatch else "#bfbfbf"
        look = {"color": face, "edgecolor": looks[name].colour, "hatch": looks[name].hatch}
        handles[name] = axes.bar(xs, scores, width, **look)
        axes.errorbar(xs, scores, (below, above), fmt="none", ecolor="#000000", **INTERVAL)
    titles = [SCORE_FORMATS[part].title.replace(" ", "\n") for part in parts]
    axes.set_xticks(range(len(parts)), titles)
    axes.set_ylabel(BREAKDOWN_TITLES[breakdown.kind].partition(";")[0])
    add_legend(figure, handles)
    return figure


def numbers(estimates: Sequence[Estimate | None]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return scores, and how far the intervals reach below and above them; NaN where there is none."""
    rows = [(np.nan,) * 3 if one is None else (one.score, *one.interval) for one in estimates]
    scores, low, high = np.array(rows, float).reshape(-1, 3).T
    return scores, np.maximum(scores - low, 0), np.maximum(high - scores, 0)


def _names(curves: Curves) -> list[str]:
    return list(dict.fromkeys(name for lines in curves.measures.values() for name in lines))


RESOLUTION = 160  # dots an inch
MOST_PIXELS = 2**16  # on either side: more matplotlib does not draw
CJK_FONTS = ("Noto Sans CJK JP", "Noto Sans CJK SC", "IPAGothic", "Hiragino Sans", "Yu Gothic", "MS Gothic")
"""Fonts that may be installed, for letters that DejaVu Sans lacks."""

XML = '<?xml version="1.0" encoding="utf-8"?>'
NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


DRAWINGS: dict[type, tuple[Callable[..., Figure], Callable[..., str]]] = {
    Curves: (draw_curves, curves_title),
    Breakdown: (draw_breakdown, breakdown_title),
}
"""Kind of result → how it is drawn, and the title of its picture."""


def write_picture(draw: Callable[[], Figure], title: str, path: str) -> None:
    """Write a picture as a file, whose name ends in one of :data:`PICTURES`; say so if it lacks letters."""
    complete = True
    if path.endswith(".svg"):
        data = f"{XML}\n{svg_element(draw, title)}\n".encode()
    elif path.endswith(".pdf"):
        unknown = dict.fromkeys(("Creator", "Producer", "CreationDate"))
        data, complete = _saved(draw, "pdf", metadata=unknown | {"Title": title})
    elif path.endswith(".png"):
        data, complete = _saved(draw, "png", dpi=RESOLUTION, metadata={"Software": None, "Title": title})
    else:
        raise UsageError(f"a picture's name ends in {' or '.join(PICTURES)}: {shown(path)}")
    write_bytes(path, data)
    if not complete:
        LOGGER.warning(f"{path}: no installed font has all its characters; an .svg keeps them")


def svg_element(draw: Callable[[], Figure], title: str, transparent: bool = False) -> str:
    """Return a picture as one ``<svg>`` element for a page, on white or on the page's own ground."""
    unknown = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    text = _saved(draw, "svg", metadata=unknown, transparent=transparent)[0].decode("utf-8")
    head, end, rest = _without_ballast(text[text.index("<svg") :].rstrip()).partition(">")
    title = escape(NOT_IN_XML.sub("\ufffd", title), {'"': "&quot;"})
    rest = NOT_IN_XML.sub("\ufffd", rest)
    return f'{head} role="img" aria-label="{title}"{end}\n <title>{title}</title>{rest}'


def _without_ballast(svg: str) -> str:
    """Leave out unused names, groups of one element, and attributes that every word repeats."""
    svg = re.sub(r'<g id="[^"]*">', "<g>", svg)  # a page holds several pictures: names would clash
    svg = re.sub(r' transform="rotate\(-0 [^"]*"', "", svg)
    families = set(re.findall(r"font-family: [^;]*;", svg))
    if len(families) == 1:  # once, not with every word
        (family,) = families
        svg = svg.replace(f"{family} ", "").replace("<svg ", f'<svg style="{family}" ', 1)
    svg = re.sub(r"<g>\s*(<text [^<]*</text>|<path [^<]*/>)\s*</g>", r"\1", svg)
    return re.sub(r' d="[^"]*"', lambda path: path[0].replace(" \n", " ").replace("\n", ""), svg)


def _saved(draw: Callable[[], Figure], form: str, **options: object) -> tuple[bytes, bool]:
    """Return a picture as the content of a file, and whether there were letters for all its text."""
    matplotlib = require("matplotlib", "plots")
    stream = io.BytesIO()
    with matplotlib.rc_context(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        matplotlib.rcdefaults()  # the user's own settings would change the bytes
        matplotlib.rcParams.update(PARAMETERS)
        if form != "svg":  # which leaves the choice of a font to the program that shows it
            from matplotlib.font_manager import fontManager

            installed = {font.name for font in fontManager.ttflist}
            matplotlib.rcParams["font.family"] = ["DejaVu Sans", *filter(installed.__contains__, CJK_FONTS)]
        figure = draw()
        if form == "png" and max(figure.get_size_inches()) * RESOLUTION >= MOST_PIXELS:
            raise UsageError("too large for a .png: give fewer or shorter sentences, or write an .svg")
        figure.savefig(stream, format=form, **options)
    return stream.getvalue(), not any("missing from" in str(warning.message) for warning in caught)
