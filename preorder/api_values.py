"""What the Python API takes, plain strings and lists, as the values that the program works on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from preorder.data.alignment import CERTAIN
from preorder.data.errors import DataError, UsageError, shown
from preorder.data.formats import parse_alignment, parse_source, parse_tokens
from preorder.data.types import Alignment, Sentence
from preorder.syntax.read import warn_of_flat, with_bracketing

Tokens = str | Sequence[str]
"""A sentence: a string of tokens that spaces separate, or a list of tokens."""

Links = str | Iterable[tuple[int, int] | tuple[int, int, float]]
"""An alignment: ``"0-0 1-2:0.75"``, or pairs, maybe with a confidence."""

Result = TypeVar("Result")


def each(function: Callable[..., Result], **lists: Sequence[Any]) -> list[Result]:
    """Call a function with the items of several lists; its errors name the last list and the item, from 1."""
    (first, items), *others = lists.items()
    check_list(first, items)
    for name, other in others:
        check_list(name, other)
        if len(other) != len(items):
            raise DataError(f"{len(other)} {name} for {len(items)} {first}")
    if not len(items):
        raise DataError(f"no {first} are given")
    results = []
    for number, group in enumerate(zip(*lists.values(), strict=True), 1):
        try:
            results.append(function(*group))
        except DataError as error:
            raise error.at(list(lists)[-1], number) from None
    return results


def check_list(name: str, items: Iterable[Any]) -> None:
    """Check that a list of sentences is none of them alone; a UsageError: it is a string."""
    if isinstance(items, str):
        raise UsageError(f"{name}: a list of strings is needed, not {shown(items)} alone")


def sentences_of(
    sources: Sequence[Tokens], tags: Sequence[Tokens] | None = None, trees: Sequence[str] | None = None
) -> list[Sentence]:
    """Return the sentences with their layers; a DataError: they do not fit together."""
    check_list("sources", sources)
    sentences = [_sentence(source).interned() for source in sources]
    if tags is not None:
        sentences = each(lambda s, t: replace(s, tags=tokens_of(t)), sources=sentences, tags=tags)
    if trees is not None:
        sentences = list(warn_of_flat("sources", each(with_bracketing, sources=sentences, trees=trees)))
    return sentences


def _sentence(source: Tokens) -> Sentence:
    return parse_source(source) if isinstance(source, str) else Sentence(tuple(source))


def tokens_of(sentence: Tokens) -> tuple[str, ...]:
    """Return the tokens of a sentence."""
    return parse_tokens(sentence) if isinstance(sentence, str) else tuple(sentence)


def alignment_of(links: Links) -> Alignment:
    """Return the alignment of some links; a DataError: they are none."""
    if isinstance(links, str):
        return parse_alignment(links)
    given = map(tuple, links)
    return Alignment.weighted({link[:2]: link[2] if len(link) > 2 else CERTAIN for link in given})


def checked_alignment(sentence: Sentence, links: Links) -> Alignment:
    """Return the alignment of some links; a DataError: they do not fit the sentence."""
    alignment = alignment_of(links)
    alignment.check_within(len(sentence))
    return alignment
