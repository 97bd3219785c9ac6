"""Curves and breakdowns as pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from preorder.analysis.pictures.style import INTERVAL, Style, add_legend, new_figure, styles
from preorder.analysis.results import Breakdown, Curves, Estimate
from preorder.analysis.tables import BREAKDOWN_TITLES, SCORE_FORMATS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Widths, as shares of the distance of two groups:
BARS = 0.8  # all bars of a group
APART, SPREAD = 0.05, 0.2  # the points of two neighbouring systems, and those of all systems, at most


def curves_title(curves: Curves) -> str:
    """Say what :func:`draw_curves` shows."""
    titles = " and ".join(SCORE_FORMATS[name].title for name in curves.measures)
    return f"Lines of {titles} by {curves.axis}, of {', '.join(_names(curves))}"


def breakdown_title(breakdown: Breakdown) -> str:
    """Say what :func:`draw_breakdown` shows."""
    return f"Bars of {BREAKDOWN_TITLES[breakdown.kind]}: of {', '.join(breakdown.systems)}"


def draw_curves(curves: Curves) -> Figure:
    """Draw a panel for each score, with 95 % intervals.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    looks = styles(_names(curves))
    figure, panels = new_figure(len(curves.measures))
    xs = _xs(curves)
    labels = [group.label.replace(" to ", "…") for group in curves.groups]
    sizes = [group.sentences for group in curves.groups]
    if len(set(sizes)) == 1:
        counted = f"{sizes[0]} sentences each"
    else:
        labels = [f"{label}\n{size}" for label, size in zip(labels, sizes, strict=True)]
        counted = "and how many sentences"
    handles: dict[str, Any] = {}
    for axes, (name, lines) in zip(panels, curves.measures.items(), strict=True):
        handles |= _draw_lines(axes, xs, lines, looks)
        axes.set_ylabel(SCORE_FORMATS[name].label)
        axes.set_xticks(xs, labels)
    panels[-1].set_xlabel(f"{curves.axis}, {counted}")
    add_legend(figure, handles)
    return figure


def draw_breakdown(breakdown: Breakdown) -> Figure:
    """Draw bars, the parts side by side, with 95 % intervals.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    looks = styles(list(breakdown.systems))
    figure, (axes,) = new_figure(1)
    parts = list(next(iter(breakdown.systems.values())))
    width = BARS / len(looks)
    handles = {}
    for k, (name, found) in enumerate(breakdown.systems.items()):
        scores, below, above = _numbers([found[part] for part in parts])
        xs = np.arange(len(parts)) + (k - (len(looks) - 1) / 2) * width
        look = looks[name]
        face = "#ffffff" if look.hatch else "#bfbfbf"
        colours = {"color": face, "edgecolor": look.colour, "hatch": look.hatch}
        handles[name] = axes.bar(xs, scores, width, **colours)
        axes.errorbar(xs, scores, (below, above), fmt="none", ecolor="#000000", **INTERVAL)
    titles = [SCORE_FORMATS[part].title.replace(" ", "\n") for part in parts]
    axes.set_xticks(range(len(parts)), titles)
    axes.set_ylabel(BREAKDOWN_TITLES[breakdown.kind].partition(";")[0])
    add_legend(figure, handles)
    return figure


def _draw_lines(
    axes: Axes, xs: np.ndarray, lines: Mapping[str, Sequence[Estimate | None]], looks: Mapping[str, Style]
) -> dict[str, Any]:
    """Draw a line for each name; return the name's entry in the legend."""
    handles = {}
    step = np.diff(xs).min(initial=np.inf)
    step = step if np.isfinite(step) else 1.0
    for k, (name, line) in enumerate(lines.items()):
        scores, below, above = _numbers(line)
        shift = (k - (len(lines) - 1) / 2) * min(APART, SPREAD / len(lines)) * step
        look = looks[name]
        line_look = {"color": look.colour, "linestyle": look.line, "linewidth": 1.3}
        marker_look = {"marker": look.marker, "markersize": 4.5}
        handles[name] = axes.errorbar(
            xs + shift, scores, (below, above), **line_look, **marker_look, **INTERVAL
        )
    return handles


def _numbers(estimates: Sequence[Estimate | None]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return scores, and how far the intervals reach below and above them; NaN where there is none."""
    rows = [(np.nan,) * 3 if one is None else (one.score, *one.interval) for one in estimates]
    scores, low, high = np.array(rows, float).reshape(-1, 3).T
    return scores, np.maximum(scores - low, 0), np.maximum(high - scores, 0)


def _names(curves: Curves) -> list[str]:
    return list(dict.fromkeys(name for lines in curves.measures.values() for name in lines))


def _xs(curves: Curves) -> np.ndarray:
    """Return the x of each group: its number if all labels are numbers, else 0, 1, …."""
    labels = [group.label for group in curves.groups]
    numbers = map(int, labels) if all(label.isdecimal() for label in labels) else range(len(labels))
    return np.array(list(numbers), float)
