"""Scores of groups of sentences, as Figures 7 to 10 of Kawara et al. 2021 have them by length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from preorder.analysis.evaluation_data import EvaluationData
from preorder.analysis.results import Curves, Estimate, Group
from preorder.analysis.sentence_groups import SentenceGroups, by_gain
from preorder.data.errors import DataError
from preorder.metrics.metric import MetricOptions, Score
from preorder.metrics.preordering import Tau
from preorder.metrics.scoring import Systems, SystemStatistics, Text, measure, measure_translations
from preorder.metrics.significance import draw_runs, resampled, resampled_totals

UNREORDERED = "unreordered"
"""The name, among the orders, of the source as it is."""


def length_curves(data: EvaluationData, metrics: Sequence[str], groups: SentenceGroups) -> Curves:
    """Score systems and, where there is an alignment, orders by the length of the source.

    Raises:
        UsageError: a tokenizer is not installed.
        DataError: no sentence is in a group.
    """
    measured = data.measure(metrics)
    if data.target_groups:
        orders = {UNREORDERED: data.monotone, **data.orders}
        measured += measure([Tau(data.target_groups)], {name: [order] for name, order in orders.items()})
    return _grouped_curves("length", groups, measured, data.seed)


def gain_curves(data: EvaluationData, metrics: Sequence[str], order: str, width: float) -> Curves:
    """Score systems by how much an order raises the tau of a sentence.

    Raises:
        UsageError: a tokenizer is not installed.
        DataError: no sentence is in a group.
    """
    groups = by_gain(Tau(data.target_groups).gains(data.orders[order]), width)
    return _grouped_curves("gain", groups, data.measure(metrics), data.seed)


def robustness_curves(
    references: Sequence[Text],
    by_percent: Mapping[int, Systems],
    metrics: Sequence[str],
    options: MetricOptions,
    seed: int,
) -> Curves:
    """Score translations of a source with more and more words swapped (Chen et al. 2019, Figures 3 to 5).

    Args:
        references: of the source as it was.
        by_percent: percentage of swapped words → system → translations of each run.

    Raises:
        UsageError: a tokenizer is not installed.
        DataError: the texts are not all of one length.
    """
    parts = (
        (Group(str(percent), len(references[0])), measure_translations(references, systems, metrics, options))
        for percent, systems in by_percent.items()
    )
    return _curves("robustness", "source words swapped (%)", parts, 0, seed)


def _grouped_curves(
    kind: str, groups: SentenceGroups, measured: Sequence[SystemStatistics], seed: int
) -> Curves:
    parts = (
        (Group(label, len(indices)), [one.take(indices) for one in measured])
        for label, indices in groups.groups
    )
    return _curves(kind, groups.axis, parts, groups.skipped, seed)


def _curves(
    kind: str, axis: str, parts: Iterable[tuple[Group, Sequence[SystemStatistics]]], skipped: int, seed: int
) -> Curves:
    """Make curves of groups, each with the same metrics of the same systems, all resampled alike.

    Cost: :func:`preorder.metrics.significance.resampled_totals` for each group.

    Raises:
        DataError: there is no group.
    """
    groups: list[Group] = []
    measures: dict[str, dict[str, tuple[Estimate | None, ...]]] = {}
    signature: dict[str, str] = {}
    for group, measured in parts:
        groups.append(group)
        totals = iter(resampled_totals([runs for one in measured for runs in one.systems.values()], seed))
        for one in measured:
            signature[one.metric.name] = one.metric.signature
            lines = measures.setdefault(one.metric.name, {})
            for system, runs in one.systems.items():
                drawn = next(totals), draw_runs(len(runs), seed, system)
                lines[system] = (*lines.get(system, ()), _estimate(one.metric.scores[0], runs, *drawn))
    if not groups:
        raise DataError(f"no sentence can be grouped by {axis}")
    return Curves(kind, axis, tuple(groups), measures, skipped, signature)


def _estimate(score: Score, runs: np.ndarray, totals: np.ndarray, weights: np.ndarray) -> Estimate | None:
    sample = resampled(score, runs, totals, weights)
    return None if np.isnan(sample.score) else Estimate(sample.score, sample.interval)
