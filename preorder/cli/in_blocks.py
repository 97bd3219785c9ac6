"""Files of sentences ordered a block at a time, on several threads: :mod:`preorder.methods.block_order`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from preorder.cli import source
from preorder.cli.output import EscapeWarning
from preorder.data.formats import FORMATTERS, needs_escape, parse_annotated
from preorder.data.sentence import Sentence
from preorder.io import files
from preorder.io.files import Block, read_blocks
from preorder.methods.base import HashedPreorderer
from preorder.methods.model_directory import Model
from preorder.processes import in_order

if TYPE_CHECKING:
    from preorder.methods.block_order import BlockOrderer, Ordered

MAX_AHEAD = 2
"""Blocks of a file that are held for each thread, whatever its length."""

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


class BlockOrdering:
    """Orders files by a model; several threads may share it, and the threads that it has at work."""

    def __init__(self, model: Model, arguments: argparse.Namespace, pool: Executor) -> None:
        """Take a model for which :func:`can_order`, the arguments of the command, and threads."""
        from preorder.methods.block_order import BlockOrderer  # imports numba

        self._model, self._pool = model, pool
        self._ahead = MAX_AHEAD * arguments.threads
        self._has_shards = arguments.out_dir is not None
        self._order = BlockOrderer(model, arguments.format)
        self._warn = EscapeWarning()

    def __call__(self, arguments: argparse.Namespace, tick: Callable[[int], None]) -> Iterator[str]:
        """Yield the output for a file in parts, and tell the number of sentences of each.

        Raises:
            DataError, UsageError: as :func:`preorder.cli.source.read_sentences` and :meth:`Model.annotate`.
        """
        for work, ordered in in_order(partial(self._submit, arguments), _work(arguments), self._ahead):
            if ordered.escaped is not None:
                line, words = ordered.escaped
                where = f"{source.source_name(arguments)}, " if self._has_shards else ""
                self._warn(f"{where}line {work.block.first + line}", words)
            tick(work.block.lines)
            yield ordered.text

    def _submit(self, arguments: argparse.Namespace, work: _Work | Exception) -> Future[Ordered]:
        if isinstance(work, _Work):
            return self._pool.submit(_order, self._order, self._model, arguments, work)
        future: Future[Ordered] = Future()
        future.set_exception(work)
        return future


def _work(arguments: argparse.Namespace) -> Iterator[_Work | Exception]:
    """Yield the blocks of the input, and an error in reading in its place: after what is wrong before it."""
    columns = 1 if arguments.annot is None else None
    try:
        for block in read_blocks(source.plain_files(arguments)):
            columns = columns or _columns(block)
            work = _Work(block, columns or 3)
            if block.first == 1:  # what a whole file is refused for, its first sentence shows
                next(filter(len, _sentences(arguments, work)), None)
            yield work
    except Exception as error:
        yield error


def _columns(block: Block) -> int | None:
    """Return the number of columns, as ``read_annotated`` finds it; None: all is blank."""
    text = block.texts[0].decode(errors="replace")
    first, _ = files.first_filled(iter(text.removeprefix(files.BYTE_ORDER_MARK).split("\n")))
    return (2 if first.count("\t") == 1 else 3) if first else None


def _order(order: BlockOrderer, model: Model, arguments: argparse.Namespace, work: _Work) -> Ordered:
    texts = work.block.texts
    if work.block.first == 1:
        texts = tuple(text.removeprefix(MARK) for text in texts)
    return order(texts, work.block.lines, work.columns) or _by_sentence(model, arguments, work)


def _by_sentence(model: Model, arguments: argparse.Namespace, work: _Work) -> Ordered:
    """Order a block as any other input is ordered, or raise what is wrong with it."""
    from preorder.methods.block_order import Ordered

    sentences = list(map(model.annotate, _sentences(arguments, work)))
    find = model.preorderer.trees if arguments.format == "tree" else model.preorderer.order
    formatter = FORMATTERS[arguments.format]
    pairs = zip(sentences, find(sentences), strict=True)
    text = "".join(f"{formatter(sentence, item)}\n" for sentence, item in pairs)
    odd = (i for i, s in enumerate(sentences) if arguments.format == "features" and needs_escape(s.words))
    line = next(odd, None)
    return Ordered(text, None if line is None else (line, sentences[line].words))


def _sentences(arguments: argparse.Namespace, work: _Work) -> Iterator[Sentence]:
    first = work.block.first
    paths = source.plain_files(arguments)
    columns = [_decoded(*file, first) for file in zip(paths, work.block.texts, strict=True)]
    if arguments.annot is None:
        return source.parsed_sentences(arguments, columns, first)
    parse = partial(parse_annotated, fields=work.columns)
    return files.parse_lines(arguments.annot, columns[0], parse, first)


def _decoded(path: str, text: bytes, first: int) -> Iterator[str]:
    for number, line in enumerate(text.split(b"\n")[:-1], first):
        yield files.decoded(line, path, number)
