"""Files of sentences ordered a block at a time, on several threads: :mod:`preorder.methods.line_order`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from functools import partial
from typing import NamedTuple

from preorder.cli import source
from preorder.cli.output import EscapeWarning
from preorder.data.formats import parse_annotated
from preorder.data.sentence import Sentence
from preorder.io import files
from preorder.io.files import Block, read_blocks
from preorder.methods.base import HashedPreorderer
from preorder.methods.line_order import Escaped, LineOrderer
from preorder.methods.model_directory import Model
from preorder.processes import in_order

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
        self._pool = pool
        self._ahead = MAX_AHEAD * arguments.threads
        self._has_shards = arguments.out_dir is not None
        self._order = LineOrderer(model, arguments.format)
        self._warn = EscapeWarning()

    def __call__(self, arguments: argparse.Namespace, tick: Callable[[int], None]) -> Iterator[str]:
        """Yield the output for a file in parts, and tell the number of sentences of each.

        Raises:
            DataError, UsageError: as :func:`preorder.cli.source.read_sentences` and :meth:`Model.annotate`.
        """
        for work, (text, escaped) in in_order(
            partial(self._submit, arguments), _work(arguments), self._ahead
        ):
            if escaped is not None:
                line, words = escaped
                where = f"{source.source_name(arguments)}, " if self._has_shards else ""
                self._warn(f"{where}line {work.block.first + line}", words)
            tick(work.block.lines)
            yield text

    def _submit(
        self, arguments: argparse.Namespace, work: _Work | Exception
    ) -> Future[tuple[str, Escaped | None]]:
        if isinstance(work, _Work):
            return self._pool.submit(_order, self._order, arguments, work)
        future: Future = Future()
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


def _order(order: LineOrderer, arguments: argparse.Namespace, work: _Work) -> tuple[str, Escaped | None]:
    texts = work.block.texts
    if work.block.first == 1:
        texts = tuple(text.removeprefix(MARK) for text in texts)
    return order(texts, work.block.lines, work.columns, partial(_sentences, arguments, work))


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
