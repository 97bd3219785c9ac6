"""The line formats of the command line: a parser and a formatter for each.

Only ASCII spaces, tabs and carriage returns separate tokens. Other white space, such as the ideographic space
U+3000, may be part of a token.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache, partial
from typing import Any, TypeVar

from preorder.data.permutation import Permutation
from preorder.data.sentence import CERTAIN, Alignment, Link, Sentence
from preorder.data.trees import BinaryTree
from preorder.errors import DataError, shown
from preorder.io.files import first_filled, parse_lines, read_lines, read_parsed
from preorder.progress import LOGGER

T = TypeVar("T")
Escaped = tuple[int, tuple[str, ...]]  # number of a line, from 0, and its words, some with escapes

SEPARATORS = " \t\r\n"  # of tokens and lines
FEATURE_SEPARATOR = "￨"
NO_LINKS: frozenset[Any] = frozenset()  # one object for all lines: an empty set takes 216 bytes

DIGITS = "[0-9]{1,18}"  # of a position or an index; Python refuses thousands of digits
NUMBER = re.compile(DIGITS)
_LINK = re.compile(rf"({DIGITS})([-?p])({DIGITS})(?::([0-9](?:\.[0-9]{{1,30}})?))?")
_FOREIGN = {  # other formats of links, and what their lines look like
    "NAACL's": re.compile(r"\s*[0-9]+ +[0-9]+ +[0-9]+( +[SP])?( +[0-9.]+)?\s*"),
    "fast_align -s's": re.compile(r".*\|\|\| *-?[0-9][0-9.e+-]*\s*"),
    "GIZA++'s": re.compile(r"# Sentence pair .*|NULL \(\{.*"),
}

_LADER = re.compile(rf"\s*({DIGITS})-({DIGITS}) *\|\|\|(.*)")
_BREAKING = [FEATURE_SEPARATOR, "\0", "\ufeff", *filter(str.isspace, map(chr, range(0x3001)))]
_CODES = "|".join(str(ord(character)) for character in ("&", *_BREAKING))
_ESCAPED = re.compile(f"&#({_CODES});")
_ESCAPE = re.compile(f"&(?=#(?:{_CODES});)|[{re.escape(''.join(_BREAKING))}]")
_ODD = re.compile(f"[{re.escape(''.join(c for c in _BREAKING if c not in SEPARATORS))}]")
_LAYERS = {2: "words and POS tags", 3: "words, POS tags and classes"}  # lader's, separated by tabs
_WITH_FEATURES = re.compile(f".+?(?:{FEATURE_SEPARATOR}(?:[0-9]+|_))+")  # _: a position that is not known
_TREE_SPECIAL = re.compile(r"[\\\[\]<>]")


def parse_tokens(line: str) -> tuple[str, ...]:
    """Split a line into its tokens; an empty line has none."""
    return tuple(filter(None, line.replace("\t", " ").replace("\r", " ").split(" ")))


def parse_source(line: str) -> Sentence:
    """Parse a plain source line."""
    words = parse_tokens(line)
    if FEATURE_SEPARATOR in line and all(map(_WITH_FEATURES.fullmatch, words)):
        raise DataError("has token￨position already: give the plain text that these were made from")
    return Sentence(words)


def parse_annotated(line: str, fields: int = 3) -> Sentence:
    """Parse a line of lader's annot format: words, POS tags and, of three fields, word classes."""
    layers = line.split("\t") if line else [""] * fields
    if len(layers) != fields:
        raise DataError(f"{len(layers)} tab-separated fields where {_LAYERS[fields]} are expected")
    words, tags, *classes = map(parse_tokens, layers)
    return Sentence(words, tags, classes[0] if classes else None)


def read_annotated(path: str) -> Iterator[Sentence]:
    """Yield the sentences of an annot file; all have classes, or none, as in the first filled line."""
    first, lines = first_filled(read_lines(path))
    fields = 2 if first.count("\t") == 1 else 3
    yield from parse_lines(path, lines, partial(parse_annotated, fields=fields))


def format_annotated(sentence: Sentence) -> str:
    """Format a sentence with tags, and classes if it has them, as a line of an annot file."""
    layers = (sentence.words, sentence.tags, sentence.classes)
    return "\t".join(" ".join(layer) for layer in layers if layer is not None) if sentence.words else ""


def parse_alignment(line: str, first_index: int = 0) -> Alignment:
    """Parse ``0-0 1-2:0.75 2?1`` (Pharaoh) or ``m-n ||| 0-0 1-2`` (lader).

    ``?`` or ``p`` marks a possible link; after a colon stands the confidence of a sure one.
    """
    lader = _LADER.fullmatch(line)
    try:
        links = list(map(_parse_link, (lader[3] if lader else line).split()))
    except DataError:
        name = next((name for name, looks in _FOREIGN.items() if looks.fullmatch(line)), None)
        if name is None:
            raise
        raise DataError(f"{name} format: give a line of links, 0-0 1?2, for each sentence pair") from None
    sure = frozenset(link for mark, link, _ in links if mark == "-")
    is_gold = "?" in line or "p" in line
    possible = frozenset(link for mark, link, _ in links if mark != "-") - sure if is_gold else NO_LINKS
    doubtful = NO_LINKS
    if ":" in line:
        pairs = ((link, confidence) for mark, link, confidence in links if mark == "-")
        doubtful = Alignment.weighted(confidences_of(pairs)).doubtful
    found = Alignment(sure, possible, doubtful=doubtful)
    found = found.from_one() if first_index else found
    return replace(found, source_length=int(lader[1]), target_length=int(lader[2])) if lader else found


@lru_cache(1 << 16)  # equal links of a corpus are one object, so that a million lines fit into memory
def _parse_link(field: str) -> tuple[str, Link, float]:
    match = _LINK.fullmatch(field)
    if not match:
        raise DataError(f"not an alignment link: {shown(field)}")
    confidence = float(match[4] or CERTAIN)
    if match[4] and (match[2] != "-" or not 0 < confidence <= CERTAIN):
        raise DataError(f"not a sure link with a confidence above 0 and at most 1: {shown(field)}")
    return match[2], (int(match[1]), int(match[3])), confidence


def confidences_of(links: Iterable[tuple[Link, float]]) -> dict[Link, float]:
    """Return the confidence of each link; raise a DataError if a link has two."""
    confidences: dict[Link, float] = {}
    for link, confidence in links:
        if confidences.setdefault(link, confidence) != confidence:
            raise DataError(f"link {link[0]}-{link[1]} has two confidences")
    return confidences


def read_alignments(path: str, first_index: int = 0) -> Iterator[Alignment]:
    """Yield the alignments of a file, which has one format; indices count from ``first_index``."""
    kinds = set()

    def parse(line: str) -> Alignment:
        alignment = parse_alignment(line, first_index)
        if line.strip():
            kinds.add(alignment.source_length is None)
        if len(kinds) > 1:
            raise DataError("lines of lader (m-n ||| 0-0 …) and of links alone in one file")
        return alignment

    return read_parsed(path, parse)


def format_alignment(alignment: Alignment) -> str:
    """Format as Pharaoh links, sorted, with the confidences below 1."""
    confidences = {link: f":{Decimal(repr(c)):f}" for link, c in alignment.doubtful}
    links = [(link, "-") for link in alignment.links] + [(link, "?") for link in alignment.possible]
    return " ".join(f"{i}{mark}{j}{confidences.get((i, j), '')}" for (i, j), mark in sorted(links))


def parse_order(line: str) -> Permutation:
    """Parse an order: for each position the index of the token that goes there."""
    return Permutation.from_order(_parse_numbers(line))


def parse_positions(line: str) -> Permutation:
    """Parse positions: for each token the position where it goes."""
    return Permutation(_parse_numbers(line))


def _parse_numbers(line: str) -> tuple[int, ...]:
    fields = line.split()
    for field in fields:
        if not NUMBER.fullmatch(field):
            raise DataError(f"not a number: {shown(field)}")
    return tuple(map(int, fields))


def escape_token(token: str) -> str:
    """Write ``￨``, white space, U+FEFF and NUL inside a token as ``&#N;``, reversibly.

    OpenNMT-py would read ``￨`` as the start of a feature, strip white space, and refuse the others in a
    vocabulary. The ``&`` of a text that looks like such an escape is escaped, too; other entities stay.
    """
    return _ESCAPE.sub(lambda match: f"&#{ord(match[0])};", token)


def escape_tokens(words: Sequence[str]) -> list[str]:
    """Apply :func:`escape_token` to the words of a sentence."""
    return [escape_token(word) for word in words] if needs_escape(words) else [*words]


def needs_escape(words: Sequence[str]) -> bool:
    """Return whether :func:`escape_token` changes one of the words."""
    return _ESCAPE.search("_".join(words)) is not None  # not "": an & and a # of two tokens are no escape


def is_odd(line: str) -> bool:
    """Return whether :func:`escape_token` may change a token of a line."""
    return "&#" in line or _ODD.search(line) is not None


def unescape_token(token: str) -> str:
    """Undo :func:`escape_token`; other text stays as it is."""
    return _ESCAPED.sub(lambda match: chr(int(match[1])), token)


def format_features(words: Sequence[str], permutation: Permutation) -> str:
    """Format as ``token￨position``, which ``onmt_train`` reads."""
    pairs = zip(escape_tokens(words), permutation.positions, strict=True)
    return " ".join([f"{word}{FEATURE_SEPARATOR}{position}" for word, position in pairs])


def parse_features(line: str) -> tuple[tuple[str, ...], Permutation]:
    """Parse ``token￨position`` back into tokens and positions."""
    words, numbers = [], []
    for field in parse_tokens(line):
        word, separator, number = field.partition(FEATURE_SEPARATOR)
        if not separator or not NUMBER.fullmatch(number):
            raise DataError(f"token without a position: {shown(field)}")
        words.append(unescape_token(word))
        numbers.append(int(number))
    return tuple(words), Permutation(tuple(numbers))


def format_tree(words: Sequence[str], tree: BinaryTree) -> str:
    """Format as topdown-btg does: ``[a <b c>]``, in source order; a bracket in a word follows a ``\\``."""
    leaves = [_TREE_SPECIAL.sub(lambda match: "\\" + match[0], word) for word in words]
    for node in reversed(tree.nodes):  # children first: a parent's brackets stand outside theirs
        opening, closing = "<>" if node.inverted else "[]"
        leaves[node.begin] = opening + leaves[node.begin]
        leaves[node.end - 1] += closing
    return " ".join(leaves)


def format_confidence(expected_tau: float, tokens: Iterable[float]) -> str:
    """Format the confidence of an order: that of the sentence, a tab, and that of each token."""
    return f"{expected_tau:.4f}\t" + " ".join([f"{one:.4f}" for one in tokens])


FORMATTERS: dict[str, Callable[[Sentence, Any], str]] = {  # of a sentence and its order or BTG tree
    "features": lambda sentence, permutation: format_features(sentence.words, permutation),
    "positions": lambda _, permutation: " ".join(map(str, permutation.positions)),
    "order": lambda _, permutation: " ".join(map(str, permutation.order)),
    "text": lambda sentence, permutation: " ".join(permutation.apply(sentence.words)),
    "tree": lambda sentence, tree: format_tree(sentence.words, tree),
}


def warn_of_escapes(escaped: Escaped, where: str = "") -> None:
    """Warn that features escape a token of a line; ``where`` may name the file."""
    line, words = escaped
    token = next(word for word in words if needs_escape((word,)))
    LOGGER.warning(
        f"{where}line {line + 1}: token {token!r} is written as {escape_token(token)!r}, "
        "and others like it: ￨, white space and the like would break the features",
        extra={"once": "escape"},
    )


def formatted(
    pairs: Iterable[tuple[Sentence, Any]],
    name: str,
    report: Callable[[Escaped], None] = warn_of_escapes,
    ranked: bool = False,
) -> Iterator[str]:
    """Yield a line for each sentence and its order or tree; report the first line with escapes.

    ``ranked``: a sentence has several (score, item), best first, which become lines ``i ||| item ||| score``.
    """
    formatter, may_report = FORMATTERS[name], name == "features"
    for number, (sentence, item) in enumerate(pairs):
        if may_report and needs_escape(sentence.words):
            report((number, sentence.words))
            may_report = False
        if not ranked:
            yield formatter(sentence, item)
            continue
        for score, one in item:
            yield f"{number} ||| {formatter(sentence, one)} ||| {score:.6f}"
