"""Convert the arguments of the Python API, plain strings and lists, to the program's values."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, TypeVar

from preorder.data import Alignment, Permutation, Sentence
from preorder.data.formats import confidences_of, parse_alignment, parse_source, parse_tokens
from preorder.data.sentence import CERTAIN, Link
from preorder.data.texts import checked_tags, token_lines
from preorder.errors import DataError, UsageError, errors_in, shown
from preorder.io.files import BYTE_ORDER_MARK, parse_lines, without_line_end
from preorder.syntax.read import with_bracketing

Tokens = str | Sequence[str]
"""A sentence: a string of tokens that spaces separate, with or without a line's end, or a list of tokens."""

Links = str | Iterable[tuple[int, int] | tuple[int, int, float]]
"""An alignment: ``"0-0 1-2:0.75"``, or pairs, maybe with a confidence."""

MAX_INDEX = 10**18 - 1  # of a token; that of files, too

Result = TypeVar("Result")


def each(function: Callable[..., Result], **lists: Iterable[Any]) -> list[Result]:
    """Call a function with the items of several lists; its errors name the last list and the item, from 1."""
    (first, items), *others = ((name, listed(name, given)) for name, given in lists.items())
    for name, other in others:
        if len(other) != len(items):
            raise DataError(f"{len(other)} {name} for {len(items)} {first}")
    results = []
    for number, group in enumerate(zip(items, *(other for _, other in others), strict=True), 1):
        with errors_in(list(lists)[-1], number):
            results.append(function(*group))
    return results


def listed(name: str, items: Iterable[Any]) -> list[Any]:
    """Return the items of a list, array, column or generator; those of strings are the lines of a file."""
    try:
        found = list(_items(items, "a list"))
    except DataError:
        reason = f"a list with an item for each sentence is needed, not {shown(items)}"
        raise UsageError(f"{name}: {reason}") from None
    if found and isinstance(found[0], str):
        found[0] = found[0].removeprefix(BYTE_ORDER_MARK)
    return found


def filled(name: str, items: list[Result]) -> list[Result]:
    """Return a list; a DataError: it is empty."""
    if not items:
        raise DataError(f"no {name} are given")
    return items


def path_of(name: str, path: Any) -> str:
    """Return a path, which may be a ``pathlib.Path``, as a string; a UsageError: it is none."""
    try:
        path = os.fspath(path)
        os.fsencode(path)
        if isinstance(path, bytes):
            raise TypeError
    except (TypeError, UnicodeEncodeError):
        raise UsageError(f"{name}: not a path: {shown(path)}") from None
    return path


def text_of(text: Any) -> str:
    """Return a string that a file could hold; a DataError: it is none."""
    if not isinstance(text, str):
        raise DataError(f"not a string: {shown(text)}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise DataError(f"has half of a character (a surrogate) in it: {shown(text)}") from None
    return str(text)


def line_of(text: Any) -> str:
    """Return a line without its end; a DataError: it is none."""
    return _without_break(without_line_end(text_of(text)))


def _without_break(line: str) -> str:
    if "\n" in line:
        raise DataError(f"has a line break in it: {shown(line)}")
    return line


def sentences_of(
    sources: Iterable[Tokens], tags: Iterable[Tokens] | None = None, trees: Iterable[Any] | None = None
) -> list[Sentence]:
    """Return the sentences with their layers; a DataError: they do not fit together."""
    lines = token_lines("sources", iter(each(line_of_tokens, sources=sources)))
    sentences = [sentence.interned() for sentence in parse_lines("sources", lines, parse_source)]
    if tags is not None:
        sentences = each(lambda s, t: replace(s, tags=tokens_of(t)), sources=sentences, tags=tags)
        sentences = list(checked_tags("tags", sentences))
    if trees is not None:
        sentences = each(with_bracketing, sources=sentences, trees=each(bracketing_of, trees=trees))
    return sentences


def bracketing_of(tree: Any) -> str:
    """Return the bracketing of a sentence, which may be an ``nltk.Tree``, on one line."""
    if type(tree).__module__.startswith("nltk."):
        tree = " ".join(str(tree).split())
    return without_line_end(text_of(tree))


def tokens_of(sentence: Tokens) -> tuple[str, ...]:
    """Return the tokens of a sentence; a DataError: it is none."""
    return parse_tokens(line_of_tokens(sentence))


def line_of_tokens(sentence: Tokens) -> str:
    """Return the line of a file that has the tokens of a sentence."""
    if isinstance(sentence, str):
        return line_of(sentence)
    tokens = _items(sentence, "a string or a list of tokens")
    line = _without_break(" ".join(map(text_of, tokens)))
    if parse_tokens(line) != tokens:
        token = next(token for token in tokens if parse_tokens(token) != (token,))
        raise DataError(f"a token is empty, or has a space, tab or carriage return in it: {shown(token)}")
    return line


def _items(items: Iterable[Any], what: str) -> tuple[Any, ...]:
    try:
        if isinstance(items, str | bytes | Mapping | Set) or hasattr(items, "columns"):  # a table has them
            raise TypeError
        return tuple(iter(items))
    except TypeError:
        raise DataError(f"not {what}: {shown(items)}") from None


def alignment_of(links: Links) -> Alignment:
    """Return the alignment of some links; a DataError: they are none."""
    if isinstance(links, str):
        return parse_alignment(line_of(links))
    links = tuple(links) if isinstance(links, Set) else _items(links, "a string or a list of links")
    return Alignment.weighted(confidences_of(map(_link, links)))


def _link(link: Any) -> tuple[Link, float]:
    parts = _items(link, "a link (source, target), maybe with a confidence")
    indices, confidence = parts[:2], parts[2] if len(parts) == 3 else CERTAIN
    is_number = isinstance(confidence, Real) and not isinstance(confidence, bool)
    if len(parts) not in (2, 3) or not all(map(_is_index, indices)):
        raise DataError(f"not a link (source, target) of numbers from 0, or with a confidence: {shown(link)}")
    if not is_number or not 0 < confidence <= CERTAIN:
        raise DataError(f"not a link with a confidence above 0 and at most 1: {shown(link)}")
    return (int(indices[0]), int(indices[1])), float(confidence)


def _is_index(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and 0 <= int(value) <= MAX_INDEX


def checked_alignment(sentence: Sentence, links: Links) -> Alignment:
    """Return the alignment of some links; a DataError: they do not fit the sentence."""
    alignment = alignment_of(links)
    alignment.check_within(len(sentence))
    return alignment


def pair_of(_: Sentence, name: Any) -> Hashable:
    """Return the name of a sentence's language pair; a DataError: it is none."""
    if not isinstance(name, Hashable):
        raise DataError(f"not a name of a language pair: {shown(name)}")
    return name


def numbers_of(names: Iterable[Hashable]) -> tuple[int, ...]:
    """Return a number for each name, from 0, in the order in which they first appear."""
    numbers: dict[Hashable, int] = {}
    return tuple(numbers.setdefault(name, len(numbers)) for name in names)


def permutation_of(positions: Iterable[int]) -> Permutation:
    """Return the permutation of some positions; a DataError: they are none."""
    numbers = _items(positions, "a list of positions")
    for number in numbers:
        if not _is_index(number):
            raise DataError(f"not a position from 0: {shown(number)}")
    return Permutation(tuple(map(int, numbers)))
