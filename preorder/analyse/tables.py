"""Results as tables of text, for a terminal or a page."""

from __future__ import annotations

from dataclasses import dataclass

from preorder.analyse.measures import MEASURES
from preorder.analyse.results import Curves, Estimate, Figures
from preorder.metrics.significance import LEVEL, Comparison


@dataclass(frozen=True)
class Table:
    """Rows of cells; the first column says what a row is of."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def curve_tables(curves: Curves) -> list[Table]:
    """Return a table for each measure: groups down, systems across."""
    return [_curve_table(curves, name) for name in curves.measures]


def _curve_table(curves: Curves, name: str) -> Table:
    lines = curves.measures[name]
    rows = tuple(
        (group.label, str(group.sentences), *(_interval(name, line[k]) for line in lines.values()))
        for k, group in enumerate(curves.groups)
    )
    caption = f"{MEASURES[name].label} by {curves.axis}, with 95 % intervals"
    if curves.skipped:
        caption += f"; sentences in no group: {curves.skipped}"
    return Table(caption, (curves.axis, "sentences", *lines), rows)


def figure_table(figures: Figures) -> Table:
    """Return a table of systems down, measures across, with differences from the baseline."""
    baseline = next(name for name in figures.systems if name not in figures.significance)
    rows = tuple(
        (system, *(_cell(name, estimate, figures, system) for name, estimate in found.items()))
        for system, found in figures.systems.items()
    )
    measures = next(iter(figures.systems.values()))
    caption = f"in brackets the difference from {baseline}; ↑ better, ↓ worse, p < {LEVEL} by bootstrap"
    return Table(caption, ("system", *(MEASURES[name].label for name in measures)), rows)


def mark(name: str, comparison: Comparison) -> str:
    """Return an arrow after a space where a system is significantly better, ↑, or worse, ↓, than another."""
    if comparison.p_value >= LEVEL:
        return ""
    return " ↑" if (comparison.difference > 0) == MEASURES[name].higher_is_better else " ↓"


def _interval(name: str, estimate: Estimate | None) -> str:
    if estimate is None:
        return "–"
    score, low, high = map(MEASURES[name].format, (estimate.score, *estimate.interval))
    return f"{score} [{low}, {high}]"


def _cell(name: str, estimate: Estimate, figures: Figures, system: str) -> str:
    score = MEASURES[name].format(estimate.score)
    if system not in figures.significance:
        return score
    comparison = figures.significance[system][name]
    return f"{score} ({comparison.difference:+.{MEASURES[name].digits}f}{mark(name, comparison)})"
