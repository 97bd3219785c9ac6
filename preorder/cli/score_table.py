"""The tables of ``preorder score``, marked as Tables II and III of Kawara et al. 2021 are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from preorder.analysis.comparisons import OPERATIONS
from preorder.analysis.results import SCORE_FORMATS, difference, p_values, score_cell, score_titles
from preorder.command_line import print_table, visible
from preorder.metrics.significance import SIGNIFICANCE_LEVEL, Comparison

if TYPE_CHECKING:
    from rich.text import Text

    from preorder.metrics.scoring import Scoring


def print_scoring(scoring: Scoring, baseline: str | None) -> None:
    """Print the scores, the counts behind them, and the signatures."""
    names = list(scoring.best)
    _print_scores(scoring, [name for name in names if name not in OPERATIONS])
    if "bleu" in names:
        _print_precisions(scoring)
    if "ter" in names:
        print("\nedits per sentence; deletions: under-generation, insertions: over-generation")
        _print_scores(scoring, OPERATIONS)
    for line in _legend(scoring, baseline):
        print(visible(line))
    for name, signature in scoring.signature.items():
        print(f"{SCORE_FORMATS[name].title if name in SCORE_FORMATS else name}  {signature}")


def print_pairwise(scoring: Scoring) -> None:
    """Print for each score every system's difference from every other, with both p-values."""
    systems = list(scoring.systems)
    for name in scoring.best:
        rows = [
            [one, *(_pair(name, others[other][name]) if other != one else "" for other in systems)]
            for one, others in scoring.pairwise.items()
        ]
        title = f"{SCORE_FORMATS[name].title}: row less column (p of the bootstrap, of the sign test)"
        print_table(title, ["", *systems], rows)


def _print_scores(scoring: Scoring, names: Sequence[str]) -> None:
    rows = [[system, *(_cell(scoring, system, name) for name in names)] for system in scoring.systems]
    print_table(None, ["system", *score_titles(names)], rows, lines=True)


def _print_precisions(scoring: Scoring) -> None:
    columns = ["system", *(f"{n}-gram" for n in range(1, 5)), "brevity penalty"]
    rows = [
        [system, *(f"{x:.1f}" for x in found["bleu_precisions"]), f"{found['bleu_brevity_penalty']:.3f}"]
        for system, found in scoring.systems.items()
    ]
    print_table("BLEU's n-gram precisions, %", columns, rows)


def _cell(scoring: Scoring, system: str, name: str) -> Text:
    """Return the score with its marks, below it the interval, and the p-values against the baseline."""
    from rich.text import Text

    cell = score_cell(scoring, system, name)
    is_best = cell.is_best and len(scoring.systems) > 1
    score = f"{cell.mean}{'*' if is_best else ''}{cell.arrow}"
    p_line = f"\np {cell.p_values}" if cell.p_values else ""
    return Text.assemble((score, "bold" if is_best else ""), f"\n{cell.interval}{p_line}")


def _pair(name: str, comparison: Comparison) -> str:
    return f"{difference(name, comparison)} ({p_values(comparison)})"


def _legend(scoring: Scoring, baseline: str | None) -> list[str]:
    lower = [name for name in scoring.best if not SCORE_FORMATS[name].higher_is_better]
    lines = ["in square brackets: 95 % of the bootstrap's resamples"]
    if any(runs.deviation is not None for found in scoring.runs.values() for runs in found.values()):
        lines.append("± standard deviation over the runs of a system; the score is their mean")
    if len(scoring.systems) > 1:
        lines.append(
            "* the best system, and those not significantly worse "
            f"(paired bootstrap, p < {SIGNIFICANCE_LEVEL})"
        )
    if baseline is not None:
        lines.append(
            f"↑ ↓ significantly better, worse than {baseline}; p of the paired bootstrap, of the sign test"
        )
    if lower:
        lines.append(f"less is better: {', '.join(score_titles(lower))}")
    return lines
