"""Orders and trees as lines of the format that the user chose."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from preorder.data.formats import (
    escape_token,
    format_features,
    format_nbest,
    format_order,
    format_positions,
    format_text,
    format_tree,
    needs_escape,
)
from preorder.data.types import Sentence

FORMATTERS: dict[str, Callable[[Sentence, Any], str]] = {
    "features": lambda sentence, permutation: format_features(sentence.words, permutation),
    "positions": lambda _, permutation: format_positions(permutation),
    "order": lambda _, permutation: format_order(permutation),
    "text": lambda sentence, permutation: format_text(permutation.apply(sentence.words)),
    "tree": lambda sentence, tree: format_tree(sentence.words, tree),
}


def formatted(pairs: Iterable[tuple[Sentence, Any]], name: str) -> Iterator[str]:
    """Yield a line for each sentence and its permutation, or tree."""
    formatter = FORMATTERS[name]
    return (formatter(sentence, item) for sentence, item in _warned(pairs, name))


def formatted_nbest(ranked: Iterable[tuple[Sentence, list[tuple[float, Any]]]], name: str) -> Iterator[str]:
    """Yield a line for each of the k best permutations, or trees, of each sentence."""
    formatter = FORMATTERS[name]
    for number, (sentence, items) in enumerate(_warned(ranked, name)):
        for score, item in items:
            yield format_nbest(number, formatter(sentence, item), score)


def _warned(pairs: Iterable[tuple[Sentence, Any]], name: str) -> Iterator[tuple[Sentence, Any]]:
    """Yield the pairs; say once if tokens have to be escaped in features."""
    is_warned = name != "features"
    for number, (sentence, item) in enumerate(pairs, 1):
        if not is_warned and needs_escape(sentence.words):
            is_warned = True
            token = next(word for word in sentence.words if needs_escape((word,)))
            print(
                f"line {number}: token {token!r} is written as {escape_token(token)!r}, "
                "and others like it: ￨ and white space would break the features",
                file=sys.stderr,
            )
        yield sentence, item
