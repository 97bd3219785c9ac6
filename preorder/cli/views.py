"""The sentences that ``preorder show`` draws, from files."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice, tee

from preorder.analysis.sentence_view import SentenceView, hard_attention
from preorder.annotate.stanza import StanzaOptions, add_layers
from preorder.cli import source
from preorder.command_line import options
from preorder.data import Alignment, BinaryTree, Permutation, Sentence, formats
from preorder.errors import DataError
from preorder.io import files
from preorder.methods.model_directory import Model

BATCH = 5_000  # tokens that a model orders at once


@dataclass(frozen=True)
class Row:
    """What files tell of a sentence; its line is counted from 1."""

    line: int
    sentence: Sentence
    order: Permutation | None = None
    target: tuple[str, ...] | None = None
    align: Alignment | None = None
    attention: str | None = None

    @property
    def lengths(self) -> list[int]:
        """The numbers of tokens of the source and, if there is one, the target."""
        return [len(side) for side in (self.sentence, self.target) if side is not None]

    def view(self, order: Permutation, tree: BinaryTree | None) -> SentenceView:
        """Return the sentence in an order.

        Raises:
            DataError: the parts do not fit together.
        """
        attention = None
        if self.attention is not None:
            attention = _attention(self.attention, len(self.sentence), len(self.target or ()))
        return SentenceView(self.sentence.words, order, tree, self.target, self.align, attention)


def read_rows(arguments: argparse.Namespace) -> Iterator[Row]:
    """Yield the sentences of ``--lines``, or of all lines, but for those that are too short or long.

    Raises:
        DataError: bad input; one file ends before another; or there is no line that was asked for.
    """
    lines = arguments.lines
    last = None if lines is None else max(part.stop for part in lines) - 1
    number = 0
    for row in islice(_all_rows(arguments), last):
        number = row.line
        wanted = lines is None or any(number in part for part in lines)
        if wanted and all(arguments.min_length <= n <= arguments.max_length for n in row.lengths):
            yield row
    if last is not None and number < last:
        missing = min(max(number + 1, part.start) for part in lines if part.stop > number + 1)
        raise DataError("the file has no such line", _name(arguments), missing)


def _all_rows(arguments: argparse.Namespace) -> Iterator[Row]:
    streams = {"sentence": (source.source_name(arguments), source.read_sentences(arguments))}
    if arguments.model is None:
        streams["order"] = options.read_order(arguments)
    if arguments.tgt is not None:
        streams["target"] = arguments.tgt, formats.read_plain(arguments.tgt, formats.parse_tokens)
    if arguments.align is not None:
        streams["align"] = arguments.align, formats.read_alignments(arguments.align)
    if arguments.attention is not None:
        streams["attention"] = arguments.attention, files.read_lines(arguments.attention)
    for number, items in enumerate(files.in_parallel(*streams.values()), 1):
        yield Row(number, **dict(zip(streams, items, strict=True)))


def read_views(
    arguments: argparse.Namespace, rows: Iterable[Row], model: Model | None, stanza: StanzaOptions | None
) -> Iterator[tuple[int, SentenceView]]:
    """Yield line and sentence of each row: in the order that a file gives, or that the model predicts.

    Stanza adds its layers first, if options of it are given.

    Raises:
        DataError: the parts of a line do not fit together.
    """
    found = _given(rows) if model is None else _predicted(model, stanza, rows)
    for row, order, tree in found:
        try:
            yield row.line, row.view(order, tree)
        except DataError as error:
            raise error.at(_name(arguments), row.line) from None


def _given(rows: Iterable[Row]) -> Iterator[tuple[Row, Permutation, BinaryTree | None]]:
    for row in rows:
        try:
            tree = BinaryTree.from_permutation(row.order)
        except DataError:  # few orders of long sentences have one
            tree = None
        yield row, row.order, tree


def _predicted(
    model: Model, stanza: StanzaOptions | None, rows: Iterable[Row]
) -> Iterator[tuple[Row, Permutation, BinaryTree]]:
    rows, twins = tee(rows)
    sentences = (row.sentence for row in twins)
    if stanza is not None:
        sentences = add_layers(sentences, stanza)
    batches = files.batched(map(model.annotate, sentences), BATCH, lambda sentence: len(sentence) + 1)
    trees = chain.from_iterable(map(model.preorderer.trees, batches))
    for row, tree in zip(rows, trees, strict=True):
        yield row, tree.permutation, tree


def _attention(line: str, source_length: int, target_length: int) -> formats.Matrix:
    if line.startswith("["):
        return formats.parse_attention(line)
    return hard_attention(formats.parse_alignment(line), source_length, target_length)


def _name(arguments: argparse.Namespace) -> str:
    return files.display_name(source.source_name(arguments))
