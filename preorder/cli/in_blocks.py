"""Files of sentences ordered a block at a time, on several threads: :mod:`preorder.methods.bulk`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from preorder.annotate.workers import in_order
from preorder.cli import source
from preorder.cli.output import FORMATTERS, warn_of_escapes
from preorder.data import files
from preorder.data.blocks import Block, read_blocks
from preorder.data.formats import needs_escape, parse_annotated
from preorder.data.sentence import Sentence
from preorder.methods.base import HashedPreorderer
from preorder.methods.model_directory import Model

if TYPE_CHECKING:
    from preorder.methods.bulk.orderer import BulkOrderer, Ordered

MAX_AHEAD = 2
"""Blocks of a file that are held for each thread, whatever the length of the file."""

MARK = files.BYTE_ORDER_MARK.encode()


class _Work(NamedTuple):
    block: Block
    columns: int


def can_order(model: Model, arguments: argparse.Namespace) -> bool:
    """Say whether a model orders the lines of plain files, and there is one order of each to be written."""
    return (
        isinstance(model.preorderer, HashedPreorderer)
        and arguments.trees is None
        and arguments.n_best is None
    )


def ordered_blocks(
    model: Model, order: BulkOrderer, arguments: argparse.Namespace, pool: Executor
) -> Iterator[tuple[int, str]]:
    """Yield the number of lines of each block of the input, and its lines as they are written.

    Raises:
        DataError, UsageError: as :func:`preorder.cli.source.read_sentences` and :meth:`Model.annotate`.
    """
    by_sentence = partial(_by_sentence, model, arguments)

    def submit(work: _Work | Exception) -> Future[Ordered]:
        if isinstance(work, _Work):
            return pool.submit(_order, order, by_sentence, work)
        future: Future[Ordered] = Future()
        future.set_exception(work)
        return future

    is_warned = False
    for work, ordered in in_order(submit, _work(arguments), MAX_AHEAD * arguments.threads):
        if ordered.escaped is not None and not is_warned:
            is_warned = True
            line, words = ordered.escaped
            warn_of_escapes(work.block.first + line, words)
        yield work.block.lines, ordered.text


def _work(arguments: argparse.Namespace) -> Iterator[_Work | Exception]:
    """Yield the blocks of the input, and an error in reading in its place: after what is wrong before it."""
    columns = 1 if arguments.annot is None else None
    try:
        for block in read_blocks(source.plain_files(arguments)):
            columns = columns or _columns(block)
            yield _Work(block, columns or 3)
    except Exception as error:
        yield error


def _columns(block: Block) -> int | None:
    """Return the number of columns, as ``read_annotated`` finds it; None: all is blank."""
    text = block.texts[0].decode(errors="replace")
    first, _ = files.first_filled(iter(text.removeprefix(files.BYTE_ORDER_MARK).split("\n")))
    return (2 if first.count("\t") == 1 else 3) if first else None


def _order(order: BulkOrderer, by_sentence: Callable[[_Work], Ordered], work: _Work) -> Ordered:
    texts = work.block.texts
    if work.block.first == 1:
        texts = tuple(text.removeprefix(MARK) for text in texts)
    return order(texts, work.block.lines, work.columns) or by_sentence(work)


def _by_sentence(model: Model, arguments: argparse.Namespace, work: _Work) -> Ordered:
    """Order a block as any other input is ordered, or raise what is wrong with it."""
    sentences = list(map(model.annotate, _sentences(arguments, work)))
    find = model.preorderer.trees if arguments.format == "tree" else model.preorderer.order
    formatter = FORMATTERS[arguments.format]
    pairs = zip(sentences, find(sentences), strict=True)
    from preorder.methods.bulk.orderer import Ordered

    text = "".join(f"{formatter(sentence, item)}\n" for sentence, item in pairs)
    odd = (i for i, s in enumerate(sentences) if arguments.format == "features" and needs_escape(s.words))
    line = next(odd, None)
    return Ordered(text, None if line is None else (line, sentences[line].words))


def _sentences(arguments: argparse.Namespace, work: _Work) -> Iterator[Sentence]:
    first = work.block.first
    columns = [
        (files.decoded(line, path, number) for number, line in enumerate(text.split(b"\n")[:-1], first))
        for path, text in zip(source.plain_files(arguments), work.block.texts, strict=True)
    ]
    if arguments.annot is None:
        return source.parsed_sentences(arguments, columns, first)
    parse = partial(parse_annotated, fields=work.columns)
    return files.parse_lines(arguments.annot, columns[0], parse, first)
