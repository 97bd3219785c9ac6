"""A test set, and what ``preorder analyse`` finds in it: curves over groups, parts of scores, examples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from preorder.alignment.gold import target_groups
from preorder.analysis import LENGTH_WIDTH
from preorder.analysis.results import CURVE_SCORES, Breakdown, Curves, Estimate, Group
from preorder.data import Alignment, Permutation
from preorder.data.formats import parse_order, parse_positions, parse_tokens, read_alignments
from preorder.data.texts import read_text
from preorder.errors import DataError, UsageError, errors_in
from preorder.io import files
from preorder.metrics import MetricOptions, Score
from preorder.metrics.orders import Preordering
from preorder.metrics.scoring import (
    Scoring,
    Systems,
    SystemStatistics,
    Text,
    check_system,
    measure,
    measure_translations,
    resample,
    score_systems,
)
from preorder.metrics.significance import interval
from preorder.metrics.translation import Bleu, Ter, bleu_precisions


@dataclass(frozen=True)
class EvaluationFiles:
    """Paths of files with a line for each sentence."""

    references: Sequence[str]
    systems: Mapping[str, Sequence[str]]  # name → the translations of each of its runs
    source: str | None = None  # tokenised
    alignment: str | None = None  # of source and reference
    positions: Mapping[str, str] = field(default_factory=dict)  # name → positions of the source tokens
    orders: Mapping[str, str] = field(default_factory=dict)  # name → source tokens at the positions


@dataclass(frozen=True)
class EvaluationData:
    """The content of :class:`EvaluationFiles`, and how to measure it; what has no file is empty."""

    references: Sequence[Text]
    systems: Systems
    source: Sequence[tuple[str, ...]]  # the tokens of each sentence
    alignments: Sequence[Alignment]
    preordering: Preordering | None  # of the alignments, if there are any
    orders: Mapping[str, Sequence[Permutation]]
    options: MetricOptions
    seed: int  # of all resampling

    def mapped(self, change: Callable[[str], str]) -> EvaluationData:
        """Return the data with each line of references and translations changed."""
        references = [list(map(change, text)) for text in self.references]
        systems = {name: [list(map(change, run)) for run in runs] for name, runs in self.systems.items()}
        return replace(self, references=references, systems=systems)

    @property
    def monotone(self) -> list[Permutation]:
        """The order of each source sentence as it is."""
        rows: Sequence[Sized] = self.source or next(iter(self.orders.values()))
        return [Permutation.identity(len(row)) for row in rows]

    def measure(self, metrics: Sequence[str]) -> list[SystemStatistics]:
        """Count the statistics of all systems under each named metric."""
        return measure_translations(self.references, self.systems, metrics, self.options)

    def measure_orders(self) -> list[SystemStatistics]:
        """Count the statistics of orders, where they are known; a system without one has the source's."""
        if not self.preordering:
            return []
        monotone = self.monotone
        orders = {name: [self.orders.get(name, monotone)] for name in self.systems}
        return measure([self.preordering], orders)

    def score(self, metrics: Sequence[str], baseline: str | None) -> Scoring:
        """Score translations and orders."""
        return score_systems(self.measure(metrics) + self.measure_orders(), baseline, self.seed)


def read_evaluation_data(paths: EvaluationFiles, options: MetricOptions, seed: int) -> EvaluationData:
    """Read all files together."""
    runs = [path for each in paths.systems.values() for path in each]
    streams: list[tuple[str, Iterable[Any]]] = [
        (path, read_text(path, str)) for path in (*paths.references, *runs)
    ]
    if paths.source is not None:
        streams.append((paths.source, read_text(paths.source, parse_tokens)))
    named = {**paths.positions, **paths.orders}
    for name, path in named.items():
        parse = parse_positions if name in paths.positions else parse_order
        streams.append((path, files.read_parsed(path, parse)))
    if paths.alignment is not None:
        streams.append((paths.alignment, read_alignments(paths.alignment)))
    columns = iter(files.read_columns(*streams))
    references = [next(columns) for _ in paths.references]
    systems = {name: [next(columns) for _ in runs] for name, runs in paths.systems.items()}
    source = next(columns) if paths.source is not None else []
    orders = {name: next(columns) for name in named}
    given = [] if paths.source is None or not source else [(paths.source, source)]
    given += [(named[name], orders[name]) for name in named]
    (first, rows), *others = given or [("", [])]
    lengths = list(map(len, rows))

    def check(expected: int, order: Permutation) -> None:
        if len(order) != expected:
            raise DataError(f"positions of {len(order)} tokens, {files.display_name(first)} has {expected}")

    for path, found in others:
        list(files.map_parallel(check, path, (first, lengths), (path, found)))
    alignments, preordering = [], None
    if paths.alignment is not None:
        alignments = next(columns)
        pairs = (paths.alignment, alignments), (paths.alignment, lengths)
        with errors_in(files.display_name(paths.alignment)):
            preordering = Preordering(list(files.map_parallel(target_groups, paths.alignment, *pairs)))
    return EvaluationData(references, systems, source, alignments, preordering, orders, options, seed)


ROUNDING = 1e-9  # gains may be off by this


@dataclass(frozen=True)
class SentenceGroups:
    """Groups of sentences, each a label and the indices of its sentences."""

    axis: str  # what distinguishes them, with its unit
    groups: tuple[tuple[str, np.ndarray], ...]
    skipped: int  # how many sentences are in no group


def by_length(
    lengths: Sequence[int], width: int, last: int, axis: str = "source length (tokens)"
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


def by_fitting_length(lengths: Sequence[int], axis: str = "source length (tokens)") -> SentenceGroups:
    """Group sentences by their number of tokens, so that six groups of a width hold nearly all of them."""
    longest = np.percentile(lengths, 99) if len(lengths) else 0
    width = next((width for width in range(1, 6) if 6 * width >= longest), LENGTH_WIDTH)
    return by_length(lengths, width, 6 * width + 1, axis)


def by_gain(gains: Sequence[float] | np.ndarray, width: float) -> SentenceGroups:
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
        return " to ".join(f"{end:g}" for end in ends)

    return _grouped("gain of the order in tau", bins, known, label)


def _grouped(axis: str, bins: np.ndarray, known: np.ndarray, label: Callable[[int], str]) -> SentenceGroups:
    indices = {index: np.flatnonzero(known & (bins == index)) for index in np.unique(bins[known]).tolist()}
    groups = tuple((label(index), members) for index, members in indices.items())
    return SentenceGroups(axis, groups, int(np.sum(~known)))


def length_curves(
    data: EvaluationData, metrics: Sequence[str], groups: SentenceGroups, scores: Sequence[str] = CURVE_SCORES
) -> Curves:
    """Score systems and, where there is an alignment, orders by the length of the source."""
    measured = data.measure(metrics)
    if data.preordering:
        if "unreordered" in data.orders:
            raise UsageError("a system or order has another's name: unreordered is the source's own order")
        orders = {"unreordered": data.monotone, **data.orders}
        measured += measure([data.preordering], {name: [order] for name, order in orders.items()})
    return grouped_curves("length", groups, measured, data.seed, scores)


def gain_curves(data: EvaluationData, metrics: Sequence[str], order: str, width: float) -> Curves:
    """Score systems by how much an order raises the tau of a sentence."""
    if data.preordering is None:
        raise UsageError("a gain in tau is measured by links, and none are given")
    groups = by_gain(data.preordering.gains(data.orders[order]), width)
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
    kind: str,
    groups: SentenceGroups,
    measured: Sequence[SystemStatistics],
    seed: int,
    scores: Sequence[str] = CURVE_SCORES,
) -> Curves:
    """Score what is measured in each group of sentences, by some of the metrics' scores."""
    parts = (
        (Group(label, len(indices)), [one.take(indices) for one in measured])
        for label, indices in groups.groups
    )
    return _curves(kind, groups.axis, parts, groups.skipped, seed, scores)


def _curves(
    kind: str,
    axis: str,
    parts: Iterable[tuple[Group, Sequence[SystemStatistics]]],
    skipped: int,
    seed: int,
    scores: Sequence[str] = CURVE_SCORES,
) -> Curves:
    groups: list[Group] = []
    measures: dict[str, dict[str, tuple[Estimate | None, ...]]] = {}
    signature: dict[str, str] = {}
    for group, measured in parts:
        groups.append(group)
        found = resample(measured, seed)
        for one in measured:
            for name in [score.name for score in one.metric.scores if score.name in scores]:
                signature[name] = one.metric.signature
                lines = measures.setdefault(name, {})
                for system in one.systems:
                    part = found[system][name]
                    estimate = None if np.isnan(part.score) else Estimate(part.score, interval(part.scores))
                    lines[system] = (*lines.get(system, ()), estimate)
    if not groups:
        raise DataError(f"no sentence can be grouped by {axis}")
    return Curves(kind, axis, tuple(groups), measures, skipped, signature)


OPERATIONS = ("ter_deletions", "ter_insertions", "ter_substitutions", "ter_shifts")


class Precisions(Bleu):
    """BLEU's statistics, with the precisions of 1- to 4-grams as scores, in per cent."""

    scores: ClassVar[tuple[Score, ...]] = tuple(
        Score(f"precision_{n + 1}", partial(lambda n, totals: bleu_precisions(totals)[..., n], n))
        for n in range(4)
    )


BREAKDOWNS: dict[str, tuple[type[Bleu | Ter], Sequence[str]]] = {
    "precision": (Precisions, [score.name for score in Precisions.scores]),
    "generation": (Ter, OPERATIONS),
}
"""Kind → its metric, and which scores are the parts; Kawara et al. 2021, Table VI, Tables VII and VIII."""


def break_down(kind: str, data: EvaluationData, baseline: str | None = None) -> Breakdown:
    """Compare the parts of a score with those of a system, by default the first."""
    metric, parts = BREAKDOWNS[kind]
    measured = measure([metric(data.references, data.options)], data.systems)
    found = score_systems(measured, baseline or next(iter(data.systems)), data.seed)
    systems = {
        name: {part: Estimate(runs[part].mean, found.intervals[name][part]) for part in parts}
        for name, runs in found.runs.items()
    }
    compared = {name: {part: one[part] for part in parts} for name, one in found.significance.items()}
    return Breakdown(kind, systems, compared, found.signature)


@dataclass(frozen=True)
class Example:
    """A sentence with its translations."""

    line: int  # from 1
    difference: float  # the score of the system less that of the baseline
    source: str
    reordered: dict[str, str]  # the source in each order by name
    references: tuple[str, ...]
    systems: dict[str, str]  # each system's translation
    scores: dict[str, float]  # of each, by the metric that the examples were chosen by

    def rows(self, form: Callable[[float], str]) -> list[tuple[str, str]]:
        """Return all texts, each with a title before it; ``form`` writes the scores."""
        return [
            ("source", self.source),
            *((f"in the order {name}", text) for name, text in self.reordered.items()),
            *(("reference", text) for text in self.references),
            *((f"{name} {form(self.scores[name])}", text) for name, text in self.systems.items()),
        ]


@dataclass(frozen=True)
class Examples:
    """Sentences in which a system is better and worse than a baseline, the greatest difference first."""

    kind: str
    measure: str  # the metric that scores the sentences
    baseline: str
    system: str
    better: tuple[Example, ...]
    worse: tuple[Example, ...]


def system_examples(data: EvaluationData, metric: str, baseline: str, system: str, count: int) -> Examples:
    """Choose up to ``count`` sentences of each sort, in which the first runs of two systems differ most."""
    for name in (baseline, system):
        check_system(name, data.systems)
    if baseline == system:
        raise UsageError(f"{system!r} cannot be compared with itself: name two systems")
    (measured,) = data.measure([metric])
    scores = {name: measured.metric.score(runs[0]) for name, runs in measured.systems.items()}
    differences = scores[system] - scores[baseline]
    gains = differences if measured.metric.scores[0].higher_is_better else -differences

    def example(index: int) -> Example:
        words = data.source[index]
        return Example(
            line=index + 1,
            difference=float(differences[index]),
            source=" ".join(words),
            reordered={name: " ".join(orders[index].apply(words)) for name, orders in data.orders.items()},
            references=tuple(text[index] for text in data.references),
            systems={name: runs[0][index] for name, runs in data.systems.items()},
            scores={name: float(values[index]) for name, values in scores.items()},
        )

    def greatest(numbers: np.ndarray) -> tuple[Example, ...]:
        first = np.argsort(-numbers, kind="stable")[:count].tolist()
        return tuple(example(i) for i in first if numbers[i] > 0)

    return Examples("examples", metric, baseline, system, greatest(gains), greatest(-gains))
