"""Files of syntax trees: a tree for each source sentence, checked against its tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from preorder.data import files
from preorder.data.errors import DataError
from preorder.data.sentence import Sentence
from preorder.data.spellings import same
from preorder.syntax.bracketing import parse_bracketing
from preorder.syntax.conllu import parse_conllu


def add_trees(source: str, sentences: Iterable[Sentence], path: str) -> Iterator[Sentence]:
    """Yield the sentences with the trees of a file; sentences without tags get those of their trees.

    Args:
        source: path of the sentences, for messages.
        sentences: as many as there are trees.
        path: a file of bracketings (:mod:`preorder.syntax.bracketing`) or of CoNLL-U
            (:mod:`preorder.syntax.conllu`).

    Raises:
        DataError: a tree is malformed or has other tokens than its sentence, or the files differ in length.
    """
    for sentence, (number, readings) in files.in_parallel((source, sentences), (path, read_trees(path))):
        try:
            yield _with_tree(sentence, readings)
        except DataError as error:
            raise error.at(files.display_name(path), number) from None


def with_bracketing(sentence: Sentence, bracketing: str) -> Sentence:
    """Return a sentence with a tree, and with its tags if it has none.

    Raises:
        DataError: the bracketing is malformed or has other tokens than the sentence.
    """
    return _with_tree(sentence, [parse_bracketing(bracketing)])


def read_trees(path: str) -> Iterator[tuple[int, list[Sentence]]]:
    """Yield each tree of a file as a sentence, with the number of the line on which it begins, from 1.

    The first line that is not blank tells the format: a bracketing begins with a bracket. A sentence of
    CoNLL-U with multiword tokens has two readings, any other sentence one.

    Raises:
        DataError: a tree is malformed.
    """
    first, lines = files.first_filled(files.read_lines(path))
    if not first or first.lstrip().startswith("("):
        for number, sentence in enumerate(files.parse_lines(path, lines, parse_bracketing), 1):
            yield number, [sentence]
        return
    try:
        yield from parse_conllu(enumerate(lines, 1))
    except DataError as error:
        raise error.at(files.display_name(path), None) from None


def _with_tree(sentence: Sentence, readings: list[Sentence]) -> Sentence:
    reading = _matching(sentence, readings)
    return replace(sentence, tags=reading.tags if sentence.tags is None else sentence.tags, tree=reading.tree)


def _matching(sentence: Sentence, readings: list[Sentence]) -> Sentence:
    """Return the reading whose tokens are the sentence's, however each of them spells them."""
    for reading in readings:
        if len(reading) == len(sentence) and all(map(same, sentence.words, reading.words)):
            return reading
    raise DataError(_difference(sentence.words, readings[0].words))


def _difference(words: tuple[str, ...], leaves: tuple[str, ...]) -> str:
    if len(words) != len(leaves):
        return f"the tree has {len(leaves)} tokens, the sentence {len(words)}"
    index = next(i for i, pair in enumerate(zip(words, leaves, strict=True)) if not same(*pair))
    return f"token {index + 1} of the tree is {leaves[index]!r}, of the sentence {words[index]!r}"
