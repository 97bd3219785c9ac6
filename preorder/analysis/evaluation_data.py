"""A test set with all that is known of it: texts, translations, alignment, orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, field

from preorder.alignment.gold import target_groups
from preorder.data import Alignment, Permutation
from preorder.data.formats import parse_positions, parse_tokens, read_alignments, read_plain
from preorder.errors import DataError
from preorder.io import files
from preorder.metrics import MetricOptions
from preorder.metrics.orders import TargetGroups
from preorder.metrics.scoring import Systems, SystemStatistics, Text, measure_translations


@dataclass(frozen=True)
class EvaluationFiles:
    """Paths of files with a line for each sentence."""

    references: Sequence[str]
    systems: Mapping[str, Sequence[str]]  # name → the translations of each of its runs
    source: str | None = None  # tokenised
    alignment: str | None = None  # of source and reference
    orders: Mapping[str, str] = field(default_factory=dict)  # name → positions of the source tokens


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
        return [Permutation.identity(len(words)) for words in self.source]

    def measure(self, metrics: Sequence[str]) -> list[SystemStatistics]:
        """Count the statistics of all systems under each named metric."""
        return measure_translations(self.references, self.systems, metrics, self.options)


def read_evaluation_data(paths: EvaluationFiles, options: MetricOptions, seed: int) -> EvaluationData:
    """Read all files together."""
    texts = [*paths.references, *(path for runs in paths.systems.values() for path in runs)]
    streams = [(path, files.read_lines(path)) for path in texts]
    if paths.source is not None:
        streams.append((paths.source, read_plain(paths.source, parse_tokens)))
    streams += [(path, files.read_parsed(path, parse_positions)) for path in paths.orders.values()]
    if paths.alignment is not None:
        streams.append((paths.alignment, read_alignments(paths.alignment)))
    columns = iter(files.read_columns(*streams))
    references = [next(columns) for _ in paths.references]
    systems = {name: [next(columns) for _ in runs] for name, runs in paths.systems.items()}
    source = next(columns) if paths.source is not None else []
    permutations = {name: next(columns) for name in paths.orders}
    lengths = _lengths(paths, source, permutations)
    groups: list[TargetGroups | None] = []
    alignments: list[Alignment] = []
    if paths.alignment is not None:
        alignments = next(columns)
        pairs = (paths.alignment, alignments), (paths.alignment, lengths)
        groups = list(files.map_parallel(target_groups, paths.alignment, *pairs))
    return EvaluationData(references, systems, source, alignments, groups, permutations, options, seed)


def _lengths(
    paths: EvaluationFiles, source: Sequence[Sized], orders: Mapping[str, Sequence[Sized]]
) -> list[int]:
    """Return the number of tokens of each source sentence, on which the source and all orders must agree."""
    given = [(paths.source, source)] if paths.source is not None else []
    given += [(paths.orders[name], permutations) for name, permutations in orders.items()]
    if not given:
        return []
    first, rows = given[0]
    lengths = list(map(len, rows))
    for path, others in given[1:]:
        for number, (expected, other) in enumerate(zip(lengths, others, strict=True), 1):
            if len(other) != expected:
                reason = f"positions of {len(other)} tokens, {files.display_name(first)} has {expected}"
                raise DataError(reason, files.display_name(path), number)
    return lengths
