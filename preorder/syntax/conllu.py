"""CoNLL-U: a line of ten tab-separated fields for each word, and a blank line after each sentence.

Comments and empty nodes (``8.1``) are skipped. A sentence has a reading of its tokens, as they stand in the
text; if multiword tokens (``1-2``) are among them, one of its words; and for forms with spaces one in which
they are several tokens. A sentence whose heads are all ``_`` has no parse.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, get_args

from preorder.data.sentence import Sentence
from preorder.data.trees import ROOT, DependencyTree
from preorder.errors import DataError, shown

FIELDS = 10
NONE = "_"

Tagset = Literal["xpos", "upos"]
"""The columns of tags: those of the language's treebank, and those of Universal Dependencies."""

TAGSETS: tuple[Tagset, ...] = get_args(Tagset)

_PLUS = re.compile(r"# *global\.columns *=(.*)")
_COLUMNS = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC".split()
_UNKNOWN = -2  # head of a word of a sentence without a parse
_PART = "flat"  # relation of the further parts of a form with spaces

_WORD, _TOKEN, _EMPTY_NODE = (re.compile(p.replace("N", "[0-9]{1,9}")) for p in (r"N", r"(N)-(N)", r"N\.N"))


class _Row(NamedTuple):
    """A word, or a multiword token: ``first`` and ``last`` are its first and last word, from 0."""

    first: int
    last: int
    form: str
    tag: str
    head: int
    relation: str


def tagset_comment(tagset: Tagset) -> str:
    """Return the first line of a file, which says which of its tags are meant."""
    return f"# tagset = {tagset}"


def named_tagset(first: str) -> Tagset | None:
    """Return the tagset that the first line of a file names, if it does."""
    return next((tagset for tagset in TAGSETS if first == tagset_comment(tagset)), None)


def parse_conllu(
    lines: Iterable[tuple[int, str]], tagset: Tagset = "upos"
) -> Iterator[tuple[int, list[Sentence]]]:
    """Yield the line on which each sentence begins, and its readings, that of the tokens first."""
    block: list[tuple[int, str]] = []
    for number, line in lines:
        if line.strip():
            block.append((number, line))
        else:
            yield (block[0][0] if block else number), _readings(block, tagset)
            block = []
    if block:
        yield block[0][0], _readings(block, tagset)


def _readings(block: Sequence[tuple[int, str]], tagset: Tagset) -> list[Sentence]:
    words: list[_Row] = []
    tokens: list[_Row] = []
    for number, line in block:
        try:
            _read_row(line, words, tokens, tagset)
        except DataError as error:
            raise error.at(None, number) from None
    try:
        unknown = sum(row.head == _UNKNOWN for row in words)
        if unknown not in (0, len(words)):
            raise DataError(f"{unknown} of {len(words)} words have no head")
        if unknown:  # no parse: roots alone
            words = [row._replace(head=ROOT, relation=NONE) for row in words]
        readings = [words]
        if tokens:
            readings.insert(0, _joined(words, tokens, _sentence(words).tree))
        parted = [_parted(rows) for rows in readings if any(" " in row.form for row in rows)]
        return list(map(_sentence, readings + parted))
    except DataError as error:
        raise error.at(None, block[0][0]) from None


def _read_row(line: str, words: list[_Row], tokens: list[_Row], tagset: Tagset) -> None:
    if line.startswith("#"):
        if (columns := _PLUS.match(line)) and columns[1].split() != _COLUMNS:
            raise DataError(f"CoNLL-U Plus: its columns are not those of CoNLL-U, {' '.join(_COLUMNS)}")
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
    if not _WORD.fullmatch(head) and head != NONE:
        raise DataError(f"head {shown(head)} is no number")
    tag, other = (xpos, upos) if tagset == "xpos" else (upos, xpos)
    tag = other if tag == NONE else tag
    if not tag or " " in tag:
        raise DataError(f"tag {shown(tag)} is empty or has a space in it")
    above = _UNKNOWN if head == NONE else int(head) - 1
    words.append(_Row(len(words), len(words), form, tag, above, relation))


def _parted(rows: Sequence[_Row]) -> list[_Row]:
    firsts = {ROOT: ROOT}
    parts: list[_Row] = []
    for index, row in enumerate(rows):
        firsts[index] = len(parts)
        first, *others = [part for part in row.form.split(" ") if part] or [row.form]
        parts.append(row._replace(form=first))
        parts += [row._replace(form=other, head=index, relation=_PART) for other in others]
    return [row._replace(head=firsts[row.head]) for row in parts]


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
    depth = 0
    while tree.heads[word] != ROOT:
        word = tree.heads[word]
        depth += 1
    return depth
