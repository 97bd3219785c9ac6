"""A test set with all that is known of it: texts, translations, alignment, orders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field

from preorder import corpus
from preorder.analyse.measured import Measured, Systems, measure
from preorder.errors import DataError, UsageError
from preorder.formats import parse_positions, parse_tokens, read_alignments
from preorder.metrics.metric import MetricOptions
from preorder.metrics.preordering import Keys
from preorder.metrics.scoring import Text
from preorder.target_groups import target_groups
from preorder.types import Alignment, Permutation


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
        keys: where the alignment says that each token belongs (:func:`preorder.target_groups.target_groups`);
            empty where there is no alignment.
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


def read_material(files: Files, options: MetricOptions, seed: int) -> Material:
    """Read all files together.

    Raises:
        DataError: a line is malformed, files or lines that belong together differ in length, or are empty.
    """
    texts = [*files.references, *(path for runs in files.systems.values() for path in runs)]
    streams = [(path, corpus.read_lines(path)) for path in texts]
    if files.source is not None:
        streams.append((files.source, corpus.read_parsed(files.source, parse_tokens)))
    orders = [(path, corpus.read_parsed(path, parse_positions)) for path in files.orders.values()]
    alignments = [(path, read_alignments(path)) for path in (files.alignment,) if path is not None]
    columns = iter(corpus.read_columns(*streams, *orders, *alignments))
    references = [next(columns) for _ in files.references]
    systems = {name: [next(columns) for _ in runs] for name, runs in files.systems.items()}
    source = next(columns) if files.source is not None else []
    permutations = {name: next(columns) for name in files.orders}
    lengths = _lengths(files, source, permutations)
    keys = _keys(files.alignment, next(columns), lengths) if files.alignment is not None else []
    return Material(references, systems, source, keys, permutations, options, seed)


def _lengths(files: Files, source: Sequence[Sized], orders: Mapping[str, Sequence[Sized]]) -> list[int]:
    """Return the tokens of each source sentence, as the source and all orders agree.

    Raises:
        DataError: they do not agree.
    """
    given = [(files.source, source)] if files.source is not None else []
    given += [(files.orders[name], permutations) for name, permutations in orders.items()]
    if not given:
        return []
    first, rows = given[0]
    lengths = list(map(len, rows))
    for path, others in given[1:]:
        for number, (expected, other) in enumerate(zip(lengths, others, strict=True), 1):
            if len(other) != expected:
                reason = f"positions of {len(other)} tokens, {corpus.display_name(first)} has {expected}"
                raise DataError(reason, corpus.display_name(path), number)
    return lengths


def _keys(path: str, alignments: Sequence[Alignment], lengths: Sequence[int]) -> list[Keys | None]:
    pairs = (path, alignments), (path, lengths)
    return list(corpus.map_parallel(target_groups, path, *pairs))
