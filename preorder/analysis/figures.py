"""Figures of whole systems beside a baseline's: n-gram precisions, under- and over-generation."""

from __future__ import annotations

from typing import ClassVar

from preorder.analysis.material import Material
from preorder.analysis.results import Estimate, Figures
from preorder.metrics.metric import Figure, Metric
from preorder.metrics.scoring import Measured, score_systems
from preorder.metrics.ter import Ter
from preorder.metrics.translation import Bleu, bleu_precisions

OPERATIONS = ("ter_deletions", "ter_insertions", "ter_substitutions", "ter_shifts")


class Precisions(Bleu):
    """BLEU's statistics, of which the precisions of 1- to 4-grams are told, in per cent."""

    figures: ClassVar[tuple[Figure, ...]] = tuple(
        Figure(f"precision_{n + 1}", lambda totals, n=n: bleu_precisions(totals)[..., n]) for n in range(4)
    )


class Operations(Ter):
    """TER's statistics, of which the edits of each kind are told, per sentence."""

    figures: ClassVar[tuple[Figure, ...]] = tuple(
        sorted(Ter.figures[1:], key=lambda figure: OPERATIONS.index(figure.name))
    )


def precision_figures(material: Material, baseline: str) -> Figures:
    """Compare n-gram precisions (Kawara et al. 2021, Table VI).

    Raises:
        UsageError: there is no such baseline, or a tokenizer is not installed.
    """
    metric = Precisions(material.references, material.options)
    return _figures("precision", metric, material, baseline)


def generation_figures(material: Material, baseline: str) -> Figures:
    """Compare TER's edits per sentence (Kawara et al. 2021, Tables VII and VIII).

    Deletions are words of the reference that a translation lacks: under-generation; insertions words that it
    has too many: over-generation.

    Raises:
        UsageError: there is no such baseline, or a tokenizer is not installed.
    """
    metric = Operations(material.references, material.options)
    return _figures("generation", metric, material, baseline)


def _figures(kind: str, metric: Metric, material: Material, baseline: str) -> Figures:
    found = score_systems([Measured(metric, material.systems)], baseline, material.seed)
    systems = {
        name: {key: Estimate(runs.mean, found.intervals[name][key]) for key, runs in of_system.items()}
        for name, of_system in found.runs.items()
    }
    return Figures(kind, systems, found.significance, found.signature)
