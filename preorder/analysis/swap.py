"""Orders that swap some words of a sentence (Chen et al. 2019, section 6.5).

Of n words, the whole number nearest to p n / 100 are chosen at random and moved in a random cycle. One word
alone cannot be swapped: a share of at least one word swaps two, a smaller one none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from preorder.data import Permutation


def swaps(lengths: Iterator[int], percentages: Sequence[int], seed: int) -> Iterator[tuple[Permutation, ...]]:
    """Yield for each sentence a permutation for each percentage, 0 to 100; O(length × percentages).

    The same seed and lengths, in tokens, sample the same words for all percentages.
    """
    random = np.random.default_rng(seed)
    for length in lengths:
        drawn = random.permutation(length)
        yield tuple(_cycle(length, drawn[: swapped_words(length, percent)]) for percent in percentages)


def swapped_words(length: int, percent: int) -> int:
    """Return how many words of a sentence are swapped: none, or 2 … length."""
    nearest = (2 * length * percent + 100) // 200  # a half goes up
    if length < 2 or length * percent < 100:
        return 0
    return max(nearest, 2)


def _cycle(length: int, tokens: np.ndarray) -> Permutation:
    """Return the permutation that moves each token to where the next one stands, the last to the first."""
    positions = np.arange(length)
    positions[tokens] = np.roll(tokens, -1)
    return Permutation(tuple(positions.tolist()))
