"""Random numbers that follow from a seed and a number of the sentence (splitmix64; Steele et al. 2014)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from preorder.compiled import entry_point, inner

STEP = np.uint64(0x9E3779B97F4A7C15)
"""Between the states of two numbers that follow each other."""


@inner
def uniform(state):
    """Return a number from [0, 1) for a state."""
    return np.float64(_mixed(state) >> np.uint64(11)) * 2.0**-53


@inner
def _mixed(state):
    mixed = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def random_numbers(seed: int, numbers: Sequence[int], lengths: np.ndarray) -> np.ndarray:
    """Return as many numbers from [0, 1) for each sentence as it has tokens: float64 ``[tokens]``; 2 ns each.

    Args:
        seed: from 0.
        numbers: of the sentences, from 0 to 2^63 - 1: equal ones have equal draws.
        lengths: of the sentences, int64.
    """
    result = np.empty(int(lengths.sum()))
    _fill(np.uint64(seed), np.array(numbers, np.int64).astype(np.uint64), lengths, result)
    return result


@entry_point
def _fill(seed, numbers, lengths, result):
    k = 0
    for s in range(numbers.size):
        state = _mixed(_mixed(seed) + numbers[s] * STEP)
        for _ in range(lengths[s]):
            state += STEP
            result[k] = uniform(state)
            k += 1
