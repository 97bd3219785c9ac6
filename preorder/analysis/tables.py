"""Results as tables of text, for a terminal or a page."""

from __future__ import annotations

from dataclasses import dataclass

from preorder.analysis.measures import KINDS, MEASURES
from preorder.analysis.results import Curves, Estimate, Figures
from preorder.metrics.scoring import Scoring
from preorder.metrics.significance import LEVEL, Comparison

SCORES = ("bleu", "chrf", "ter", "ribes", "tau")


@dataclass(frozen=True)
class Table:
    """Rows of cells; the first column says what a row is of. The note explains the cells."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


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
    note = f"In brackets the difference from {baseline}. ↑ better, ↓ worse, p < {LEVEL} (paired bootstrap)."
    columns = ("system", *(MEASURES[name].title for name in measures))
    return Table(KINDS[figures.kind], columns, rows, note)


def scoring_table(scoring: Scoring) -> Table:
    """Return a table of systems down, scores across: means over runs, with intervals and marks."""
    measures = [name for name in SCORES if name in scoring.best]
    rows = tuple(
        (system, *(_score_cell(scoring, system, name) for name in measures)) for system in scoring.systems
    )
    baseline = next(name for name in scoring.systems if name not in scoring.significance)
    units = "; ".join(
        MEASURES[name].label + ("" if MEASURES[name].higher_is_better else ", less is better")
        for name in measures
    )
    note = (
        "Means of runs (± standard deviation), and what 95 % of bootstrap resamples lie between. "
        "* The best system, and those not significantly worse. "
        f"↑ better, ↓ worse than {baseline}, p < {LEVEL}. {units}."
    )
    return Table("Scores", ("system", *(MEASURES[name].title for name in measures)), rows, note)


def _score_cell(scoring: Scoring, system: str, name: str) -> str:
    form, runs = MEASURES[name].format, scoring.runs[system][name]
    low, high = map(form, scoring.intervals[system][name])
    deviation = "" if runs.deviation is None else f" ± {form(runs.deviation)}"
    star = "*" if system in scoring.best[name].not_worse else ""
    compared = scoring.significance.get(system)
    arrow = "" if compared is None else mark(name, compared[name])
    return f"{form(runs.mean)}{deviation}{star}{arrow} [{low}, {high}]"


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
