"""Sentences with some of their words in wrong places (Chen et al. 2019, section 6.5).

Of n words, p per cent are swapped: the whole number nearest to p n / 100 of them, drawn
at random, change places so that each of them stands in another place than before (a
random cycle), and all others stay. One word alone cannot change places; where the share
is of at least one word, two are swapped, where it is less, none. So 0 % is the sentence
itself, and at 100 % no word of two or more stands where it stood. A larger share swaps
the words that a smaller one does, and more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from preorder.data.types import Permutation


def swaps(lengths: Iterator[int], percentages: Sequence[int], seed: int) -> Iterator[tuple[Permutation, ...]]:
    """Yield for each sentence a permutation for each percentage.

    O(length × percentages) a sentence. The same seed and lengths draw the same words,
    whatever the percentages.

    Args:
        lengths: tokens of each sentence.
        percentages: from 0 to 100.
        seed: of the draw.
    """
    random = np.random.default_rng(seed)
    for length in lengths:
        drawn = random.permutation(length).tolist()
        yield tuple(cycle(length, drawn[: swapped_words(length, percent)]) for percent in percentages)


def swapped_words(length: int, percent: int) -> int:
    """Return how many words of a sentence are swapped: none, or 2 … length."""
    nearest = (2 * length * percent + 100) // 200  # a half goes up
    if length < 2 or length * percent < 100:
        return 0
    return max(nearest, 2)


def cycle(length: int, tokens: Sequence[int]) -> Permutation:
    """Return the permutation that puts each of the tokens where the next was, the last where the first."""
    positions = list(range(length))
    for token, place in zip(tokens, [*tokens[1:], *tokens[:1]], strict=True):
        positions[token] = place
    return Permutation(tuple(positions))
