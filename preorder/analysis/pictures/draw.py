"""Curves and figures as pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from preorder.analysis.measures import KINDS, MEASURES
from preorder.analysis.pictures.style import INTERVAL, Style, add_legend, new_figure, styles
from preorder.analysis.results import Curves, Estimate, Figures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BAR = 0.8  # of the way from one group of bars to the next
APART, SPREAD = 0.05, 0.2  # of the way from one group to the next: two systems' points, those of all


def curves_title(curves: Curves) -> str:
    """Say what :func:`draw_curves` shows."""
    measures = " and ".join(MEASURES[name].title for name in curves.measures)
    return f"Lines of {measures} by {curves.axis}, of {', '.join(_names(curves))}"


def figures_title(figures: Figures) -> str:
    """Say what :func:`draw_figures` shows."""
    return f"Bars of {KINDS[figures.kind]}: of {', '.join(figures.systems)}"


def draw_curves(curves: Curves) -> Figure:
    """Draw a panel for each measure, with 95 % intervals.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    looks = styles(_names(curves))
    figure, panels = new_figure(len(curves.measures))
    places = _places(curves)
    handles: dict[str, Any] = {}
    for axes, (measure, lines) in zip(panels, curves.measures.items(), strict=True):
        handles |= _draw_lines(axes, places, lines, looks)
        axes.set_ylabel(MEASURES[measure].label)
        axes.set_xticks(places, _ticks(curves))
    panels[-1].set_xlabel(_axis(curves))
    add_legend(figure, handles)
    return figure


def draw_figures(figures: Figures) -> Figure:
    """Draw bars, measures side by side, with 95 % intervals.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    looks = styles(list(figures.systems))
    figure, (axes,) = new_figure(1)
    measures = list(next(iter(figures.systems.values())))
    width = BAR / len(looks)
    handles = {}
    for k, (name, found) in enumerate(figures.systems.items()):
        scores, below, above = _numbers([found[measure] for measure in measures])
        places = np.arange(len(measures)) + (k - (len(looks) - 1) / 2) * width
        look = looks[name]
        face = "#ffffff" if look.hatch else "#bfbfbf"
        colours = {"color": face, "edgecolor": look.colour, "hatch": look.hatch}
        handles[name] = axes.bar(places, scores, width, **colours)
        axes.errorbar(places, scores, (below, above), fmt="none", ecolor="#000000", **INTERVAL)
    titles = [MEASURES[measure].title.replace(" ", "\n") for measure in measures]
    axes.set_xticks(range(len(measures)), titles)
    axes.set_ylabel(KINDS[figures.kind].partition(";")[0])
    add_legend(figure, handles)
    return figure


def _draw_lines(
    axes: Axes,
    places: np.ndarray,
    lines: Mapping[str, Sequence[Estimate | None]],
    looks: Mapping[str, Style],
) -> dict[str, Any]:
    """Draw a line for each name; return what the legend is to show of each."""
    handles = {}
    step = np.diff(places).min(initial=np.inf)
    step = step if np.isfinite(step) else 1.0
    for k, (name, line) in enumerate(lines.items()):
        scores, below, above = _numbers(line)
        shift = (k - (len(lines) - 1) / 2) * min(APART, SPREAD / len(lines)) * step
        look = looks[name]
        handles[name] = axes.errorbar(
            places + shift,
            scores,
            (below, above),
            color=look.colour,
            linestyle=look.line,
            marker=look.marker,
            markersize=4.5,
            linewidth=1.3,
            **INTERVAL,
        )
    return handles


def _numbers(estimates: Sequence[Estimate | None]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return scores, and how far the intervals reach below and above them; NaN where there is none."""
    rows = [(np.nan,) * 3 if one is None else (one.score, *one.interval) for one in estimates]
    scores, low, high = np.array(rows, float).reshape(-1, 3).T
    return scores, np.maximum(scores - low, 0), np.maximum(high - scores, 0)


def _names(curves: Curves) -> list[str]:
    return list(dict.fromkeys(name for lines in curves.measures.values() for name in lines))


def _places(curves: Curves) -> np.ndarray:
    """Return where groups stand: at their number if all labels are numbers, else one after another."""
    labels = [group.label for group in curves.groups]
    numbers = map(int, labels) if all(label.isdecimal() for label in labels) else range(len(labels))
    return np.array(list(numbers), float)


def _ticks(curves: Curves) -> list[str]:
    labels = [group.label.replace(" to ", "…") for group in curves.groups]
    if len({group.sentences for group in curves.groups}) == 1:
        return labels
    return [f"{label}\n{group.sentences}" for label, group in zip(labels, curves.groups, strict=True)]


def _axis(curves: Curves) -> str:
    sizes = {group.sentences for group in curves.groups}
    if len(sizes) == 1:
        return f"{curves.axis}, {sizes.pop()} sentences each"
    return f"{curves.axis}, and how many sentences"
