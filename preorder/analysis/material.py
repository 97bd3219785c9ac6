"""A test set with all that is known of it: texts, translations, alignment, orders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field

from preorder.alignment.target_groups import target_groups
from preorder.analysis.measured import Measured, Systems, measure
from preorder.data import files
from preorder.data.errors import DataError, UsageError
from preorder.data.formats import parse_positions, parse_tokens, read_alignments
from preorder.data.types import Alignment, Permutation
from preorder.metrics.metric import MetricOptions
from preorder.metrics.preordering import Keys
from preorder.metrics.scoring import Text


@dataclass(frozen=True)
class Files:
    """Paths of files with a line for each sentence.

    Attributes:
        references: of one text each.
        systems: name → the translations of each of its runs.
        source: tokenised source text, or None.
        alignment: of source and reference, or None.
        orders: name → positions of the source tokens.
    """

    references: Sequence[str]
    systems: Mapping[str, Sequence[str]]
    source: str | None = None
    alignment: str | None = None
    orders: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Material:
    """The content of :class:`Files`, and how to measure it.

    Attributes:
        references, systems: as in the files.
        source: the tokens of each sentence; empty where no file of it was named.
        keys: where the alignment says that each token belongs, see
            :func:`preorder.alignment.target_groups.target_groups`; empty where there is no alignment.
        orders: name → a permutation for each sentence.
        options: of the metrics.
        seed: of all resampling.
    """

    references: Sequence[Text]
    systems: Systems
    source: Sequence[Sequence[str]]
    keys: Sequence[Keys | None]
    orders: Mapping[str, Sequence[Permutation]]
    options: MetricOptions
    seed: int

    def measure(self, metric: str) -> Measured:
        """Measure all systems with a metric of :data:`preorder.metrics.translation.CLASSES`.

        Raises:
            UsageError: a tokenizer is not installed.
        """
        return measure(metric, self.references, self.systems, self.options)


def check_system(name: str, systems: Iterable[str]) -> None:
    """Check that there is a system of a name.

    Raises:
        UsageError: there is none.
    """
    if name not in systems:
        raise UsageError(f"no system is called {name!r}, only: {', '.join(systems)}")


def read_material(named: Files, options: MetricOptions, seed: int) -> Material:
    """Read all files together.

    Raises:
        DataError: a line is malformed, files or lines that belong together differ in length, or are empty.
    """
    texts = [*named.references, *(path for runs in named.systems.values() for path in runs)]
    streams = [(path, files.read_lines(path)) for path in texts]
    if named.source is not None:
        streams.append((named.source, files.read_parsed(named.source, parse_tokens)))
    orders = [(path, files.read_parsed(path, parse_positions)) for path in named.orders.values()]
    alignments = [(path, read_alignments(path)) for path in (named.alignment,) if path is not None]
    columns = iter(files.read_columns(*streams, *orders, *alignments))
    references = [next(columns) for _ in named.references]
    systems = {name: [next(columns) for _ in runs] for name, runs in named.systems.items()}
    source = next(columns) if named.source is not None else []
    permutations = {name: next(columns) for name in named.orders}
    lengths = _lengths(named, source, permutations)
    keys = _keys(named.alignment, next(columns), lengths) if named.alignment is not None else []
    return Material(references, systems, source, keys, permutations, options, seed)


def _lengths(named: Files, source: Sequence[Sized], orders: Mapping[str, Sequence[Sized]]) -> list[int]:
    """Return the tokens of each source sentence, as the source and all orders agree.

    Raises:
        DataError: they do not agree.
    """
    given = [(named.source, source)] if named.source is not None else []
    given += [(named.orders[name], permutations) for name, permutations in orders.items()]
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


def _keys(path: str, alignments: Sequence[Alignment], lengths: Sequence[int]) -> list[Keys | None]:
    pairs = (path, alignments), (path, lengths)
    return list(files.map_parallel(target_groups, path, *pairs))
