"""A test set with all that is known of it: texts, translations, alignment, orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from preorder.alignment.gold import target_groups
from preorder.data import Alignment, Permutation
from preorder.data.formats import parse_order, parse_positions, parse_tokens, read_alignments, read_plain
from preorder.errors import DataError
from preorder.io import files
from preorder.metrics import MetricOptions
from preorder.metrics.orders import Preordering, TargetGroups
from preorder.metrics.scoring import (
    Scoring,
    Systems,
    SystemStatistics,
    Text,
    measure,
    measure_translations,
    score_systems,
)


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
    source: Sequence[Sequence[str]]  # the tokens of each sentence
    alignments: Sequence[Alignment]
    target_groups: Sequence[TargetGroups | None]  # None where an alignment cannot be sorted
    orders: Mapping[str, Sequence[Permutation]]
    options: MetricOptions
    seed: int  # of all resampling

    @property
    def monotone(self) -> list[Permutation]:
        """The order of each source sentence as it is."""
        rows = self.source or next(iter(self.orders.values()))
        return [Permutation.identity(len(row)) for row in rows]

    def measure(self, metrics: Sequence[str]) -> list[SystemStatistics]:
        """Count the statistics of all systems under each named metric."""
        return measure_translations(self.references, self.systems, metrics, self.options)

    def score(self, metrics: Sequence[str], baseline: str | None) -> Scoring:
        """Score translations and orders; a system without an order has the source's."""
        measured = self.measure(metrics)
        if self.target_groups:
            monotone = self.monotone
            orders = {name: [self.orders.get(name, monotone)] for name in self.systems}
            measured += measure([Preordering(self.target_groups)], orders)
        return score_systems(measured, baseline, self.seed)


def read_evaluation_data(paths: EvaluationFiles, options: MetricOptions, seed: int) -> EvaluationData:
    """Read all files together."""
    texts = [*paths.references, *(path for runs in paths.systems.values() for path in runs)]
    streams = [(path, files.read_lines(path)) for path in texts]
    if paths.source is not None:
        streams.append((paths.source, read_plain(paths.source, parse_tokens)))
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
    given = [(paths.source, source)] * bool(source) + [(named[name], orders[name]) for name in named]
    (first, rows), *others = given or [("", [])]
    lengths = list(map(len, rows))

    def check(expected: int, order: Permutation) -> None:
        if len(order) != expected:
            raise DataError(f"positions of {len(order)} tokens, {files.display_name(first)} has {expected}")

    for path, found in others:
        list(files.map_parallel(check, path, (first, lengths), (path, found)))
    groups: list[TargetGroups | None] = []
    alignments: list[Alignment] = []
    if paths.alignment is not None:
        alignments = next(columns)
        pairs = (paths.alignment, alignments), (paths.alignment, lengths)
        groups = list(files.map_parallel(target_groups, paths.alignment, *pairs))
    return EvaluationData(references, systems, source, alignments, groups, orders, options, seed)
