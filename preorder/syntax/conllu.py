"""CoNLL-U: a line of ten tab-separated fields for each word, and a blank line after each sentence.

Comments and empty nodes (``8.1``) are skipped. A sentence with multiword tokens (``1-2``) has two readings:
one of its tokens, as they stand in the text, and one of its words. Lines of comments alone are an empty
sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from preorder.data.errors import DataError, shown
from preorder.data.sentence import Sentence
from preorder.data.trees import ROOT, DependencyTree

FIELDS = 10
NONE = "_"

_WORD, _TOKEN, _EMPTY_NODE = (re.compile(p.replace("N", "[0-9]{1,9}")) for p in (r"N", r"(N)-(N)", r"N\.N"))


class _Row(NamedTuple):
    """A word, or a multiword token: ``first`` and ``last`` are its first and last word, from 0."""

    first: int
    last: int
    form: str
    tag: str
    head: int
    relation: str


def parse_conllu(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, list[Sentence]]]:
    """Yield the number of the line on which each sentence begins, and its readings, that of the tokens first.

    Args:
        lines: line numbers and lines, without their line ends.

    Raises:
        DataError: a line is malformed, or the heads of a sentence form no tree; with the line number.
    """
    block: list[tuple[int, str]] = []
    for number, line in lines:
        if line.strip():
            block.append((number, line))
        else:
            yield (block[0][0] if block else number), _readings(block)
            block = []
    if block:
        yield block[0][0], _readings(block)


def _readings(block: Sequence[tuple[int, str]]) -> list[Sentence]:
    words: list[_Row] = []
    tokens: list[_Row] = []
    for number, line in block:
        try:
            _read_row(line, words, tokens)
        except DataError as error:
            raise error.at(None, number) from None
    try:
        sentence = _sentence(words)
        if not tokens:
            return [sentence]
        return [_sentence(_joined(words, tokens, sentence.tree)), sentence]
    except DataError as error:
        raise error.at(None, block[0][0]) from None


def _read_row(line: str, words: list[_Row], tokens: list[_Row]) -> None:
    if line.startswith("#"):
        return
    fields = line.split("\t")
    if len(fields) != FIELDS:
        raise DataError(f"{len(fields)} tab-separated fields where CoNLL-U has {FIELDS}")
    number, form, _, upos, xpos, _, head, relation, _, _ = fields
    if _EMPTY_NODE.fullmatch(number):
        return
    if span := _TOKEN.fullmatch(number):
        first, last = int(span[1]) - 1, int(span[2]) - 1
        if first != len(words) or last < first or (tokens and first <= tokens[-1].last):
            raise DataError(f"token {number} does not stand before its words")
        tokens.append(_Row(first, last, form, NONE, ROOT, NONE))
        return
    if not _WORD.fullmatch(number) or int(number) != len(words) + 1:
        raise DataError(f"word number {shown(number)} where {len(words) + 1} is expected")
    if not _WORD.fullmatch(head):
        raise DataError(f"head {shown(head)} is no number")
    tag = xpos if upos == NONE else upos
    if not tag or " " in tag:
        raise DataError(f"tag {shown(tag)} is empty or has a space in it")
    words.append(_Row(len(words), len(words), form, tag, int(head) - 1, relation))


def _sentence(rows: Sequence[_Row]) -> Sentence:
    _, _, forms, tags, heads, relations = zip(*rows, strict=True) if rows else ((),) * len(_Row._fields)
    return Sentence(forms, tags, tree=DependencyTree(heads, relations))


def _joined(words: Sequence[_Row], tokens: Sequence[_Row], tree: DependencyTree) -> list[_Row]:
    """Return the rows of the tokens; of a multiword token, that of the word nearest to the root."""
    if tokens[-1].last >= len(words):
        raise DataError(f"token {shown(tokens[-1].form)} has words beyond the sentence")
    starts = {token.first: token for token in tokens}
    rows: list[_Row] = []
    token_of: dict[int, int] = {ROOT: ROOT}
    for word in words:
        if rows and word.first <= rows[-1].last:
            token_of[word.first] = len(rows) - 1
            continue
        token_of[word.first] = len(rows)
        token = starts.get(word.first, word)
        nearest = min(words[token.first : token.last + 1], key=lambda row: _depth(tree, row.first))
        rows.append(nearest._replace(first=token.first, last=token.last, form=token.form))
    return [row._replace(head=token_of[row.head]) for row in rows]


def _depth(tree: DependencyTree, word: int) -> int:
    """Return the number of words above a word."""
    depth = 0
    while tree.heads[word] != ROOT:
        word = tree.heads[word]
        depth += 1
    return depth
