"""Scores broken down into parts, beside a baseline's: n-gram precisions, under- and over-generation."""

from __future__ import annotations

from typing import ClassVar

from preorder.analysis.evaluation_data import EvaluationData
from preorder.analysis.results import Breakdown, Estimate
from preorder.metrics import Metric, Score
from preorder.metrics.scoring import measure, score_systems
from preorder.metrics.translation import Bleu, Ter, bleu_precisions

OPERATIONS = ("ter_deletions", "ter_insertions", "ter_substitutions", "ter_shifts")


class Precisions(Bleu):
    """BLEU's statistics, with the precisions of 1- to 4-grams as scores, in per cent."""

    scores: ClassVar[tuple[Score, ...]] = tuple(
        Score(f"precision_{n + 1}", lambda totals, n=n: bleu_precisions(totals)[..., n]) for n in range(4)
    )


class Operations(Ter):
    """TER's statistics, with the edits of each kind per sentence as scores."""

    scores: ClassVar[tuple[Score, ...]] = tuple(
        sorted(Ter.scores[1:], key=lambda score: OPERATIONS.index(score.name))
    )


def precision_breakdown(data: EvaluationData, baseline: str) -> Breakdown:
    """Compare n-gram precisions (Kawara et al. 2021, Table VI)."""
    return _breakdown("precision", Precisions(data.references, data.options), data, baseline)


def generation_breakdown(data: EvaluationData, baseline: str) -> Breakdown:
    """Compare TER's edits per sentence (Kawara et al. 2021, Tables VII and VIII).

    Deletions are words of the reference that a translation lacks: under-generation; insertions are words
    that it has too many: over-generation.
    """
    return _breakdown("generation", Operations(data.references, data.options), data, baseline)


def _breakdown(kind: str, metric: Metric, data: EvaluationData, baseline: str) -> Breakdown:
    found = score_systems(measure([metric], data.systems), baseline, data.seed)
    systems = {
        name: {key: Estimate(runs.mean, found.intervals[name][key]) for key, runs in of_system.items()}
        for name, of_system in found.runs.items()
    }
    return Breakdown(kind, systems, found.significance, found.signature)
