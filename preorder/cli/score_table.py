"""The tables of ``preorder score``, marked as Tables II and III of Kawara et al. 2021 are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from preorder.analysis.figures import OPERATIONS
from preorder.analysis.measures import MEASURES
from preorder.analysis.tables import mark
from preorder.cli.table import print_table
from preorder.metrics.significance import LEVEL, Comparison

if TYPE_CHECKING:
    from rich.text import Text

    from preorder.metrics.scoring import Scoring


def print_scoring(scoring: Scoring, baseline: str | None) -> None:
    """Print the scores, the counts behind them, and the signatures."""
    figures = list(scoring.best)
    _print_figures(scoring, [name for name in figures if name not in OPERATIONS])
    if "bleu" in figures:
        _print_precisions(scoring)
    if "ter" in figures:
        print("\nedits per sentence; deletions: under-generation, insertions: over-generation")
        _print_figures(scoring, OPERATIONS)
    for line in _legend(scoring, baseline):
        print(line)
    for name, signature in scoring.signature.items():
        print(f"{MEASURES[name].title if name in MEASURES else name}  {signature}")


def print_pairwise(scoring: Scoring) -> None:
    """Print for each figure every system's difference from every other, with both p-values."""
    systems = list(scoring.systems)
    for name in scoring.best:
        rows = [
            [one, *(_pair(name, others[other][name]) if other != one else "" for other in systems)]
            for one, others in scoring.pairwise.items()
        ]
        title = f"{MEASURES[name].title}: row less column (p of the bootstrap, of the sign test)"
        print_table(title, ["", *systems], rows)


def _print_figures(scoring: Scoring, figures: Sequence[str]) -> None:
    rows = [[system, *(_cell(scoring, system, name) for name in figures)] for system in scoring.systems]
    print_table(None, ["system", *(MEASURES[name].title for name in figures)], rows, lines=True)


def _print_precisions(scoring: Scoring) -> None:
    columns = ["system", *(f"{n}-gram" for n in range(1, 5)), "brevity penalty"]
    rows = [
        [system, *(f"{x:.1f}" for x in found["bleu_precisions"]), f"{found['bleu_brevity_penalty']:.3f}"]
        for system, found in scoring.systems.items()
    ]
    print_table("BLEU's n-gram precisions, %", columns, rows)


def _cell(scoring: Scoring, system: str, name: str) -> Text:
    """Return the score with its marks, its interval, and the p-values against the baseline."""
    from rich.text import Text

    measure = MEASURES[name]
    runs = scoring.runs[system][name]
    score = measure.format(runs.mean)
    if runs.deviation is not None:
        score += f" ± {measure.format(runs.deviation)}"
    is_best = len(scoring.systems) > 1 and system in scoring.best[name].not_worse
    low, high = map(measure.format, scoring.intervals[system][name])
    rest = f"\n[{low}, {high}]"
    arrow = ""
    if system in scoring.significance:
        comparison = scoring.significance[system][name]
        arrow = mark(name, comparison)
        rest += f"\np {comparison.p_value:.3f}, {comparison.sign_test_p_value:.3f}"
    return Text.assemble((f"{score}{'*' if is_best else ''}{arrow}", "bold" if is_best else ""), rest)


def _pair(name: str, comparison: Comparison) -> str:
    difference = f"{comparison.difference:+.{MEASURES[name].digits}f}"
    return (
        f"{difference}{mark(name, comparison)} ({comparison.p_value:.3f}, {comparison.sign_test_p_value:.3f})"
    )


def _legend(scoring: Scoring, baseline: str | None) -> list[str]:
    lower = [MEASURES[name].title for name in scoring.best if not MEASURES[name].higher_is_better]
    lines = ["in square brackets: 95 % of the bootstrap's resamples"]
    if any(runs.deviation is not None for found in scoring.runs.values() for runs in found.values()):
        lines.append("± standard deviation over the runs of a system; the score is their mean")
    if len(scoring.systems) > 1:
        lines.append(f"* the best system, and those not significantly worse (paired bootstrap, p < {LEVEL})")
    if baseline is not None:
        lines.append(
            f"↑ ↓ significantly better, worse than {baseline}; p of the paired bootstrap, of the sign test"
        )
    if lower:
        lines.append(f"less is better: {', '.join(lower)}")
    return lines
