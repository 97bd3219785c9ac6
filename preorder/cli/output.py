"""Orders and trees as lines of the format that the user chose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from preorder.data import formats
from preorder.data.types import Sentence
from preorder.progress import LOGGER

FORMATTERS: dict[str, Callable[[Sentence, Any], str]] = {
    "features": lambda sentence, permutation: formats.format_features(sentence.words, permutation),
    "positions": lambda _, permutation: formats.format_numbers(permutation.positions),
    "order": lambda _, permutation: formats.format_numbers(permutation.order),
    "text": lambda sentence, permutation: " ".join(permutation.apply(sentence.words)),
    "tree": lambda sentence, tree: formats.format_tree(sentence.words, tree),
}


def formatted(pairs: Iterable[tuple[Sentence, Any]], name: str) -> Iterator[str]:
    """Yield a line for each sentence and its permutation, or tree."""
    formatter = FORMATTERS[name]
    return (formatter(sentence, item) for sentence, item in _warned(pairs, name))


def formatted_nbest(ranked: Iterable[tuple[Sentence, list[tuple[float, Any]]]], name: str) -> Iterator[str]:
    """Yield ``i ||| item ||| score`` for the k best permutations, or trees, of each sentence i, from 0."""
    formatter = FORMATTERS[name]
    for number, (sentence, items) in enumerate(_warned(ranked, name)):
        for score, item in items:
            yield f"{number} ||| {formatter(sentence, item)} ||| {score:.6f}"


def _warned(pairs: Iterable[tuple[Sentence, Any]], name: str) -> Iterator[tuple[Sentence, Any]]:
    """Yield the pairs; say once if tokens have to be escaped in features."""
    is_warned = name != "features"
    for number, (sentence, item) in enumerate(pairs, 1):
        if not is_warned and formats.needs_escape(sentence.words):
            is_warned = True
            warn_of_escapes(number, sentence.words)
        yield sentence, item


def warn_of_escapes(number: int, words: Sequence[str]) -> None:
    """Say that features escape tokens, of which a line is the first to have one."""
    token = next(word for word in words if formats.needs_escape((word,)))
    LOGGER.warning(
        f"line {number}: token {token!r} is written as {formats.escape_token(token)!r}, "
        "and others like it: ￨ and white space would break the features"
    )
