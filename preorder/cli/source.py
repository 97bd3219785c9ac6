"""Source sentences from the files that the user named, layer by layer."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace

from preorder import corpus
from preorder.cli import options
from preorder.errors import UsageError
from preorder.formats import parse_annotated, parse_source, parse_tokens
from preorder.trees.read import add_trees
from preorder.types import Sentence


def add_layers(parser: argparse.ArgumentParser) -> None:
    """Add ``--src``, ``--annot`` and the options that name files of single layers."""
    options.add_source(parser)
    parser.add_argument(
        "--annot",
        metavar="F",
        help="annotated source in lader's format (words, POS tags, classes, tab-separated), instead of --src",
    )
    parser.add_argument("--pos", metavar="F", help="one POS tag for each token of --src")
    parser.add_argument(
        "--trees",
        metavar="F",
        help="syntax trees of the source, one bracketing a line or CoNLL-U (the file's first line tells); "
        "their tags are used where no others are given",
    )


def read_sentences(arguments: argparse.Namespace) -> Iterator[Sentence]:
    """Yield the source sentences with the layers that files give.

    Raises:
        UsageError: options that do not go together.
        DataError: bad input, with its file and line.
    """
    sentences = _annotated(arguments) if arguments.annot is not None else _plain(arguments)
    if arguments.trees is None:
        return sentences
    return add_trees(source_name(arguments), sentences, arguments.trees)


def _annotated(arguments: argparse.Namespace) -> Iterator[Sentence]:
    if arguments.src != corpus.STANDARD or arguments.pos is not None:
        raise UsageError("--annot holds words and POS tags: it does not go with --src or --pos")
    return corpus.read_parsed(arguments.annot, parse_annotated)


def _plain(arguments: argparse.Namespace) -> Iterator[Sentence]:
    sentences = corpus.read_parsed(arguments.src, parse_source)
    return sentences if arguments.pos is None else _with_tags(arguments.src, sentences, arguments.pos)


def source_name(arguments: argparse.Namespace) -> str:
    """Return the path that the sentences come from."""
    return arguments.src if arguments.annot is None else arguments.annot


def _with_tags(source: str, sentences: Iterator[Sentence], path: str) -> Iterator[Sentence]:
    tags = corpus.read_parsed(path, parse_tokens)
    return corpus.map_parallel(
        lambda sentence, line: replace(sentence, tags=line), path, (source, sentences), (path, tags)
    )
