"""Permutations written in the format that the user chose."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator

from preorder.formats import (
    escape_token,
    format_features,
    format_order,
    format_positions,
    format_text,
)
from preorder.types import Permutation, Sentence

Formatter = Callable[[Sentence, Permutation], str]

FORMATTERS: dict[str, Formatter] = {
    "features": lambda sentence, permutation: format_features(sentence.words, permutation),
    "positions": lambda _, permutation: format_positions(permutation),
    "order": lambda _, permutation: format_order(permutation),
    "text": lambda sentence, permutation: format_text(permutation.apply(sentence.words)),
}


def formatted(pairs: Iterable[tuple[Sentence, Permutation]], name: str) -> Iterator[str]:
    """Yield a line for each sentence and its permutation; say once if features had to be escaped."""
    formatter = FORMATTERS[name]
    told = name != "features"
    for number, (sentence, permutation) in enumerate(pairs, 1):
        if not told and (escaped := _first_escaped(sentence)):
            told = True
            print(
                f"line {number}: token {escaped!r} is written as {escape_token(escaped)!r}, "
                "and others like it: ￨ and white space would break the features",
                file=sys.stderr,
            )
        yield formatter(sentence, permutation)


def _first_escaped(sentence: Sentence) -> str | None:
    text = "".join(sentence.words)
    if escape_token(text) == text:  # one look at the sentence; a join can only add escapes
        return None
    return next((word for word in sentence.words if escape_token(word) != word), None)
