"""A parse and a format function for each line format of the command line.

Tokens are separated by ASCII spaces and tabs alone: other white space, such as the
ideographic space U+3000, can be (part of) a token.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from preorder.data.errors import DataError
from preorder.data.files import display_name, read_lines
from preorder.data.types import Alignment, BinaryTree, Permutation, Sentence

FEATURE_SEPARATOR = "￨"

_NUMBER = re.compile(r"[0-9]+")
_LINK = re.compile(r"([0-9]+)([-?])([0-9]+)")
_LADER = re.compile(r"\s*([0-9]+)-([0-9]+) *\|\|\|(.*)")
_ESCAPE = re.compile(r"&(?=#[0-9]+;)|￨|\s")
_ESCAPED = re.compile(r"&#([0-9]{1,5});")
_TREE_SPECIAL = re.compile(r"[\\\[\]<>]")


def parse_tokens(line: str) -> tuple[str, ...]:
    """Split a line into its tokens; an empty line has none."""
    return tuple(filter(None, line.replace("\t", " ").split(" ")))


def parse_source(line: str) -> Sentence:
    """Parse a plain source line."""
    return Sentence(parse_tokens(line))


def format_text(tokens: Sequence[str]) -> str:
    """Join tokens by spaces."""
    return " ".join(tokens)


# --- annotated source: lader's "words<TAB>POS<TAB>classes", or the first two alone ---

_LAYERS = {2: "words and POS tags", 3: "words, POS tags and classes"}


def parse_annotated(line: str, fields: int = 3) -> Sentence:
    """Parse a line of lader's annot format: words, POS tags and, of three fields, word classes.

    Raises:
        DataError: there are not as many tab-separated fields, or they differ in length.
    """
    layers = line.split("\t") if line else [""] * fields
    if len(layers) != fields:
        raise DataError(f"{len(layers)} tab-separated fields where {_LAYERS[fields]} are expected")
    return Sentence(*map(parse_tokens, layers))


def read_annotated(path: str) -> Iterator[Sentence]:
    """Yield the sentences of an annot file, all with classes or all without.

    Raises:
        DataError: a line is malformed, or has not as many fields as those before.
    """
    fields, empty = 0, 0  # of the first line that has any; lines before it
    for number, line in enumerate(read_lines(path), 1):
        if not fields:
            if not line:
                empty += 1
                continue
            fields = 2 if line.count("\t") == 1 else 3
            yield from [parse_annotated("", fields)] * empty
        try:
            yield parse_annotated(line, fields)
        except DataError as error:
            raise error.at(display_name(path), number) from None
    if not fields:
        yield from [parse_annotated("")] * empty


def format_annotated(sentence: Sentence) -> str:
    """Format a sentence with tags, and classes if it has some, as an annot line.

    Raises:
        DataError: it has no tags.
    """
    if sentence.tags is None:
        raise DataError("the annot format needs POS tags")
    layers = (sentence.words, sentence.tags, sentence.classes)
    return "\t".join(format_text(layer) for layer in layers if layer is not None) if sentence.words else ""


# --- alignments ---


def parse_alignment(line: str) -> Alignment:
    """Parse ``0-0 1?2`` (Pharaoh) or ``m-n ||| 0-0 1-2`` (lader); ``?`` marks a possible link.

    Raises:
        DataError: a link is malformed or out of range.
    """
    lengths: tuple[int | None, int | None] = (None, None)
    lader = _LADER.fullmatch(line)
    if lader:
        lengths = (int(lader[1]), int(lader[2]))
        line = lader[3]
    links = list(map(_parse_link, line.split()))
    sure = {link for mark, link in links if mark == "-"}
    possible = {link for mark, link in links if mark == "?"} - sure
    return Alignment(frozenset(sure), frozenset(possible), *lengths)


@lru_cache(1 << 16)  # equal links of a corpus are one object, so that a million lines fit into memory
def _parse_link(field: str) -> tuple[str, tuple[int, int]]:
    match = _LINK.fullmatch(field)
    if not match:
        raise DataError(f"not an alignment link: {field!r}")
    return match[2], (int(match[1]), int(match[3]))


def read_alignments(path: str) -> Iterator[Alignment]:
    """Yield the alignments of a file, all of one format.

    Raises:
        DataError: a line is malformed, or lines of both formats are mixed.
    """
    first = None
    for number, line in enumerate(read_lines(path), 1):
        lader = "|||" in line
        first = lader if first is None else first
        if lader != first:
            names = ("Pharaoh", "lader")
            raise DataError(
                f"{names[lader]} alignment in a file of {names[first]} alignments", display_name(path), number
            )
        try:
            yield parse_alignment(line)
        except DataError as error:
            raise error.at(display_name(path), number) from None


def format_alignment(alignment: Alignment) -> str:
    """Format as Pharaoh links, sorted."""
    links = [(link, "-") for link in alignment.links] + [(link, "?") for link in alignment.possible]
    return " ".join(f"{i}{mark}{j}" for (i, j), mark in sorted(links))


# --- orders and positions ---


def parse_order(line: str) -> Permutation:
    """Parse an order: at each place the index of the token that stands there.

    Raises:
        DataError: the line is no permutation.
    """
    return Permutation.from_order(_parse_numbers(line))


def parse_positions(line: str) -> Permutation:
    """Parse positions: for each token the place where it goes.

    Raises:
        DataError: the line is no permutation.
    """
    return Permutation(_parse_numbers(line))


def _parse_numbers(line: str) -> tuple[int, ...]:
    fields = line.split()
    for field in fields:
        if not _NUMBER.fullmatch(field):
            raise DataError(f"not a number: {field!r}")
    return tuple(map(int, fields))


def format_order(permutation: Permutation) -> str:
    """Format as an order."""
    return " ".join(map(str, permutation.order))


def format_positions(permutation: Permutation) -> str:
    """Format as positions."""
    return " ".join(map(str, permutation.positions))


# --- features: token￨position ---


def escape_token(token: str) -> str:
    """Write ``￨`` and white space inside a token as ``&#N;``, reversibly.

    OpenNMT-py would take the one for a feature's start and strip the other. A literal
    ``&`` that would read as such an escape is itself escaped.
    """
    return _ESCAPE.sub(lambda match: f"&#{ord(match[0])};", token)


def needs_escape(words: Sequence[str]) -> bool:
    """Say whether :func:`escape_token` may change a word; costs little where it does not."""
    text = "".join(words)
    return (
        FEATURE_SEPARATOR in text or "&#" in text or len(text.split(maxsplit=1)) > 1 or text != text.strip()
    )


def unescape_token(token: str) -> str:
    """Undo :func:`escape_token`; leave what it cannot have made."""
    return _ESCAPED.sub(_unescaped, token)


def unescape_spaces(token: str) -> str:
    """Undo the escapes of white space, and no others."""
    return _ESCAPED.sub(lambda match: space if (space := chr(int(match[1]))).isspace() else match[0], token)


def _unescaped(match: re.Match[str]) -> str:
    character = chr(int(match[1]))
    return character if _ESCAPE.fullmatch(character) or character == "&" else match[0]


def format_features(words: Sequence[str], permutation: Permutation) -> str:
    """Format as ``token￨position``, what ``onmt_train`` reads."""
    if needs_escape(words):
        words = [escape_token(word) for word in words]
    pairs = zip(words, permutation.positions, strict=True)
    return " ".join([f"{word}{FEATURE_SEPARATOR}{position}" for word, position in pairs])


def parse_features(line: str) -> tuple[tuple[str, ...], Permutation]:
    """Parse ``token￨position`` back into tokens and positions.

    Raises:
        DataError: a token has no position, or they are no permutation.
    """
    words, numbers = [], []
    for field in parse_tokens(line):
        word, separator, number = field.partition(FEATURE_SEPARATOR)
        if not separator or not _NUMBER.fullmatch(number):
            raise DataError(f"token without a position: {field!r}")
        words.append(unescape_token(word))
        numbers.append(int(number))
    return tuple(words), Permutation(tuple(numbers))


# --- attention: a line of JSON, a row for each target token ---

Matrix = tuple[tuple[float, ...], ...]


def parse_attention(line: str) -> Matrix:
    """Parse ``[[0.9, 0.1], [0.25, 0.75]]``: for each target token the weight of each source token, 0 to 1.

    Raises:
        DataError: it is not JSON, or not rows of such numbers, all of one length.
    """
    try:
        rows = json.loads(line)
    except json.JSONDecodeError as error:
        raise DataError(f"attention is not JSON: {error.msg}") from None
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise DataError("attention is not a list of rows")
    for weight in (weight for row in rows for weight in row):
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight <= 1:
            raise DataError(f"not a weight of attention from 0 to 1: {weight!r}")
    if len({len(row) for row in rows}) > 1:
        raise DataError("rows of attention differ in length")
    return tuple(tuple(map(float, row)) for row in rows)


# --- n-best lists ---


def format_nbest(number: int, item: str, score: float) -> str:
    """Format one of the n best orders of the sentence of a number, from 0, as ``0 ||| item ||| score``."""
    return f"{number} ||| {item} ||| {score:.6f}"


# --- trees: [ ] straight, < > inverted ---


def format_tree(words: Sequence[str], tree: BinaryTree) -> str:
    """Format as topdown-btg prints a tree: ``[a <b c>]``, source order, brackets escaped by ``\\``."""
    leaves = [_TREE_SPECIAL.sub(lambda match: "\\" + match[0], word) for word in words]
    for node in reversed(tree.nodes):  # children first: a parent's brackets stand outside theirs
        opening, closing = "<>" if node.inverted else "[]"
        leaves[node.begin] = opening + leaves[node.begin]
        leaves[node.end - 1] += closing
    return " ".join(leaves)
