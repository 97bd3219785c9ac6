"""Curves of scores over groups of sentences: by length, by what preordering gains, over shuffled sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from preorder.analysis import GAIN_WIDTH, LAST_LENGTH, LENGTH_WIDTH
from preorder.analysis.evaluation_data import EvaluationData
from preorder.analysis.results import Curves, Estimate, Group
from preorder.errors import DataError
from preorder.metrics import MetricOptions
from preorder.metrics.orders import Preordering
from preorder.metrics.scoring import Systems, SystemStatistics, Text, measure, measure_translations, resample

NARROW_WIDTHS = (1, 2, 3, 4, 5)  # for short sentences
ROUNDING = 1e-9  # gains may be off by this


@dataclass(frozen=True)
class SentenceGroups:
    """Groups of sentences, each a label and the indices of its sentences."""

    axis: str  # what distinguishes them, with its unit
    groups: tuple[tuple[str, np.ndarray], ...]
    skipped: int  # how many sentences are in no group


def by_length(
    lengths: Sequence[int],
    width: int = LENGTH_WIDTH,
    last: int = LAST_LENGTH,
    axis: str = "source length (tokens)",
) -> SentenceGroups:
    """Group sentences by their number of tokens: 1–10, 11–20, …, 61+; empty ones are skipped.

    ``last`` is the least length of the last group, before which a group of ``width`` lengths may be cut.
    """
    numbers = np.asarray(lengths)
    bins = np.where(numbers >= last, (last - 2) // width + 1, (numbers - 1) // width)

    def label(index: int) -> str:
        begin, end = index * width + 1, min((index + 1) * width, last - 1)
        if begin > end:
            return f"{last}+"
        return f"{begin}–{end}" if begin < end else str(begin)

    return _grouped(axis, bins, numbers > 0, label)


def fitting_width(lengths: Sequence[int]) -> tuple[int, int]:
    """Return a width of groups such that six hold nearly all sentences, and the least length of the last."""
    longest = np.percentile(lengths, 99) if len(lengths) else 0
    width = next((width for width in NARROW_WIDTHS if 6 * width >= longest), LENGTH_WIDTH)
    return width, 6 * width + 1


def by_gain(gains: Sequence[float], width: float = GAIN_WIDTH) -> SentenceGroups:
    """Group sentences by how much reordering raised their tau, -2 to 2; those with NaN are skipped.

    ``width`` is that of all groups but that of exactly 0; each includes its end that is farther from 0.
    """
    numbers = np.asarray(gains, float)
    known = ~np.isnan(numbers)
    numbers = np.where(known, numbers, 0)
    bins = (np.sign(numbers) * np.ceil(np.abs(numbers) / width - ROUNDING)).astype(int)

    def label(index: int) -> str:
        if index == 0:
            return "0"
        ends = sorted((index * width, (index - np.sign(index)) * width))
        return " to ".join(f"{end:g}".replace("-", "−") for end in ends)

    return _grouped("gain of the order in tau", bins, known, label)


def _grouped(axis: str, bins: np.ndarray, known: np.ndarray, label: Callable[[int], str]) -> SentenceGroups:
    indices = {index: np.flatnonzero(known & (bins == index)) for index in np.unique(bins[known]).tolist()}
    groups = tuple((label(index), members) for index, members in indices.items())
    return SentenceGroups(axis, groups, int(np.sum(~known)))


def length_curves(data: EvaluationData, metrics: Sequence[str], groups: SentenceGroups) -> Curves:
    """Score systems and, where there is an alignment, orders by the length of the source."""
    measured = data.measure(metrics)
    if data.target_groups:
        orders = {"unreordered": data.monotone, **data.orders}
        measured += measure(
            [Preordering(data.target_groups)], {name: [order] for name, order in orders.items()}
        )
    return grouped_curves("length", groups, measured, data.seed)


def gain_curves(data: EvaluationData, metrics: Sequence[str], order: str, width: float) -> Curves:
    """Score systems by how much an order raises the tau of a sentence."""
    groups = by_gain(Preordering(data.target_groups).gains(data.orders[order]), width)
    return grouped_curves("gain", groups, data.measure(metrics), data.seed)


def robustness_curves(
    references: Sequence[Text],
    by_percent: Mapping[int, Systems],
    metrics: Sequence[str],
    options: MetricOptions,
    seed: int,
) -> Curves:
    """Score translations of a source with more and more words swapped (Chen et al. 2019, Figures 3 to 5).

    ``by_percent``: percentage of swapped words → system → translations of each run.
    """
    parts = (
        (Group(str(percent), len(references[0])), measure_translations(references, systems, metrics, options))
        for percent, systems in by_percent.items()
    )
    return _curves("robustness", "source words swapped (%)", parts, 0, seed)


def grouped_curves(
    kind: str, groups: SentenceGroups, measured: Sequence[SystemStatistics], seed: int
) -> Curves:
    """Score what is measured in each group of sentences."""
    parts = (
        (Group(label, len(indices)), [one.take(indices) for one in measured])
        for label, indices in groups.groups
    )
    return _curves(kind, groups.axis, parts, groups.skipped, seed)


def _curves(
    kind: str, axis: str, parts: Iterable[tuple[Group, Sequence[SystemStatistics]]], skipped: int, seed: int
) -> Curves:
    groups: list[Group] = []
    measures: dict[str, dict[str, tuple[Estimate | None, ...]]] = {}
    signature: dict[str, str] = {}
    for group, measured in parts:
        groups.append(group)
        found = resample(measured, seed)
        for one in measured:
            name = one.metric.scores[0].name
            signature[name] = one.metric.signature
            lines = measures.setdefault(name, {})
            for system in one.systems:
                sample = found[system][name]
                estimate = None if np.isnan(sample.score) else Estimate(sample.score, sample.interval)
                lines[system] = (*lines.get(system, ()), estimate)
    if not groups:
        raise DataError(f"no sentence can be grouped by {axis}")
    return Curves(kind, axis, tuple(groups), measures, skipped, signature)
