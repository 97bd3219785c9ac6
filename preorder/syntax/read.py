"""Files of syntax trees, one for each source sentence, checked against its tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from preorder.data import files
from preorder.data.errors import DataError
from preorder.data.types import Sentence
from preorder.syntax.bracketing import parse_bracketing, unescape_brackets
from preorder.syntax.conllu import parse_conllu


def add_trees(source: str, sentences: Iterable[Sentence], path: str) -> Iterator[Sentence]:
    """Yield the sentences with the trees of a file, and with its tags where they have none.

    Args:
        source: the path that the sentences come from, for messages.
        sentences: the sentences, each of which the file has a tree for.
        path: a file of bracketings (:mod:`bracketing`), or of CoNLL-U (:mod:`conllu`).

    Raises:
        DataError: a tree is malformed or not one over its sentence's tokens, or the files differ in length.
    """
    for sentence, (number, readings) in files.in_parallel((source, sentences), (path, read_trees(path))):
        try:
            reading = _matching(sentence, readings)
            tags = reading.tags if sentence.tags is None else sentence.tags
            yield replace(sentence, tags=tags, tree=reading.tree)
        except DataError as error:
            raise error.at(files.display_name(path), number) from None


def read_trees(path: str) -> Iterator[tuple[int, list[Sentence]]]:
    """Yield the line on which each tree begins, and the tree with its tokens and tags.

    The first line that is not empty tells the format: a bracketing begins with a bracket. Only a CoNLL-U
    sentence with multiword tokens has more than one reading.

    Raises:
        DataError: a tree is malformed.
    """
    lines = enumerate(files.read_lines(path), 1)
    start: list[tuple[int, str]] = []
    for number, line in lines:
        start.append((number, line))
        if line.strip():
            break
    bracketings = not start or start[-1][1].lstrip().startswith("(") or not start[-1][1].strip()
    parse = _parse_bracketings if bracketings else parse_conllu
    try:
        yield from parse(chain(start, lines))
    except DataError as error:
        raise error.at(files.display_name(path), None) from None


def _parse_bracketings(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, list[Sentence]]]:
    for number, line in lines:
        try:
            yield number, [parse_bracketing(line)]
        except DataError as error:
            raise error.at(None, number) from None


def _matching(sentence: Sentence, readings: list[Sentence]) -> Sentence:
    """Return the reading whose tokens are the sentence's."""
    for reading in readings:
        if reading.words == sentence.words:
            return reading
    unescaped = tuple(map(unescape_brackets, sentence.words))  # a text may itself have them escaped
    for reading in readings:
        if reading.words == unescaped:
            return reading
    raise DataError(_difference(unescaped, readings[0].words))


def _difference(words: tuple[str, ...], leaves: tuple[str, ...]) -> str:
    if len(words) != len(leaves):
        return f"the tree has {len(leaves)} tokens, the sentence {len(words)}"
    place = next(i for i, (word, leaf) in enumerate(zip(words, leaves, strict=True)) if word != leaf)
    return f"token {place + 1} of the tree is {leaves[place]!r}, of the sentence {words[place]!r}"
