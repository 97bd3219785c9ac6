"""How well an order fits an alignment: tau, fuzzy reordering score, complete match.

Every source token has a key, an integer that says where it belongs: its target group
(:mod:`preorder.alignment.target_groups`), or its place in a gold order. The keys read in the new
order are what is measured, over the tokens that have one. Sentences whose alignment
gives no keys are skipped and counted.

Per sentence, with k_1 … k_n the n keys in the new order, 0 … g - 1 their range:

- ``tau``: equation 7 of Kawara et al. 2021, -1 to 1. Two tokens of one group are a wrong
  pair in every order, so that an alignment with such groups leaves less than 1 to reach.
- ``tau_nakagawa``: 1 - the share of pairs with k_i > k_j, 0 to 1 (Nakagawa 2015).
- ``frs``: fuzzy reordering score (Talbot et al. 2011), 0 to 1: 1 - breaks / (n + 1), where
  each of the n + 1 steps of -1, k_1 … k_n, g that neither stays nor goes up by one breaks.
- ``complete_match``: 1 where no pair is reversed.

One of fewer than two keys scores 1 everywhere. A corpus scores the mean of its sentences.
All but the first are those of Google's ``evaluate_preordering.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import ClassVar

import numba
import numpy as np

from preorder.alignment.target_groups import UNALIGNED
from preorder.data.errors import DataError
from preorder.data.types import Permutation
from preorder.metrics.kendall import count_pairs
from preorder.metrics.metric import Figure, Scored

Keys = Sequence[int]


@dataclass(frozen=True)
class OrderScores:
    """Means over sentences; ``tau`` from -1 to 1, the others from 0 to 1."""

    tau: float
    tau_nakagawa: float
    frs: float
    complete_match: float


@dataclass(frozen=True)
class OrderEvaluation(OrderScores):
    """The scores of the orders of a corpus, and of leaving its sentences as they are.

    Attributes:
        sentences: how many were measured.
        skipped: how many had no keys.
        monotone: the scores of the unreordered source.
    """

    sentences: int
    skipped: int
    monotone: OrderScores


def evaluate(keys: Sequence[Keys | None], permutations: Sequence[Permutation]) -> OrderEvaluation:
    """Measure the reorderings of a corpus against each sentence's keys (None: skip it).

    O(n log n) a sentence, compiled.

    Raises:
        DataError: a sentence and its permutation differ in length, or all are skipped.
    """
    _check_some(keys)
    pairs = [(k, p.positions) for k, p in zip(keys, permutations, strict=True) if k is not None]
    given = [positions for _, positions in pairs]
    kept = [range(len(positions)) for positions in given]
    measured = [k for k, _ in pairs]
    reordered = mean_scores(order_statistics(measured, given))
    monotone = mean_scores(order_statistics(measured, kept))
    return OrderEvaluation(
        **vars(reordered), sentences=len(pairs), skipped=len(keys) - len(pairs), monotone=monotone
    )


def order_statistics(keys: Sequence[Keys], positions: Sequence[Sequence[int]]) -> np.ndarray:
    """Return the sufficient statistics of each sentence: ``[sentences, 5]`` integers.

    The columns: keys, concordant pairs, discordant pairs, tied pairs, breaks.

    Args:
        keys: for each token of a sentence its key, from 0 without gaps, or ``UNALIGNED``.
        positions: for each token its place after reordering.

    Raises:
        DataError: a sentence's keys and positions differ in number.
    """
    lengths = np.fromiter(map(len, keys), np.int64, len(keys))
    other = np.fromiter(map(len, positions), np.int64, len(positions))
    if not np.array_equal(lengths, other):
        raise DataError("a sentence has keys and positions of different number")
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    return _statistics(_flat(keys, offsets[-1]), _flat(positions, offsets[-1]), offsets)


def sentence_scores(statistics: np.ndarray) -> np.ndarray:
    """Return tau, tau_nakagawa, frs and complete match of each sentence: ``[sentences, 4]``."""
    n, concordant, discordant, tied, breaks = statistics.T.astype(float)
    pairs = concordant + discordant + tied
    some = np.maximum(pairs, 1)
    tau = np.where(pairs > 0, 2 * concordant / some - 1, 1)
    frs = np.where(pairs > 0, 1 - breaks / (n + 1), 1)
    return np.column_stack((tau, 1 - discordant / some, frs, discordant == 0))


def mean_scores(statistics: np.ndarray) -> OrderScores:
    """Return the means over sentences of what :func:`order_statistics` counted."""
    return OrderScores(*map(float, sentence_scores(statistics).mean(0)))


def _mean_of(column: int) -> Figure:
    name = [field.name for field in fields(OrderScores)][column]
    return Figure(name, lambda totals: totals[..., column] / np.maximum(totals[..., 4], 1))


class Preordering(Scored):
    """Orders against the keys of each sentence, as a metric: its statistics add up, so that it can be tested.

    See :class:`preorder.metrics.metric.Metric`; hypotheses are permutations here.
    """

    name: ClassVar[str] = "preordering"
    figures: ClassVar[tuple[Figure, ...]] = tuple(map(_mean_of, range(4)))

    def __init__(self, keys: Sequence[Keys | None]) -> None:
        """Take the keys of each sentence (None: skip it).

        Raises:
            DataError: all are skipped.
        """
        self._keys = keys
        self._measured = np.array([k is not None for k in keys])
        _check_some(keys)
        self.signature = f"sentences:{self._measured.sum()}|skipped:{(~self._measured).sum()}"

    def statistics(self, hypotheses: Sequence[Permutation]) -> np.ndarray:
        """Return ``[sentences, 5]``: a sentence's four scores, and 1; five times 0 where it is skipped.

        Raises:
            DataError: a sentence and its permutation differ in length.
        """
        rows = np.zeros((len(self._keys), 5))
        pairs = [(k, p.positions) for k, p in zip(self._keys, hypotheses, strict=True) if k is not None]
        scores = sentence_scores(order_statistics(*zip(*pairs, strict=True)))
        rows[self._measured] = np.column_stack((scores, np.ones(len(pairs))))
        return rows


def _check_some(keys: Sequence[Keys | None]) -> None:
    if all(k is None for k in keys):
        raise DataError(f"no order can be evaluated: none of {len(keys)} alignments can be sorted")


def _flat(rows: Sequence[Sequence[int]], total: int) -> np.ndarray:
    return np.fromiter((number for row in rows for number in row), np.int64, total)


@numba.njit(cache=True, nogil=True)
def _statistics(keys: np.ndarray, positions: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    result = np.zeros((len(offsets) - 1, 5), np.int64)
    for sentence in range(len(offsets) - 1):
        begin, end = offsets[sentence], offsets[sentence + 1]
        reordered = np.empty(end - begin, np.int64)
        for token in range(begin, end):
            reordered[positions[token]] = keys[token]
        reordered = reordered[reordered != UNALIGNED]
        groups = reordered.max() + 1 if len(reordered) else 0
        concordant, discordant, tied = count_pairs(reordered, groups)
        result[sentence, 0] = len(reordered)
        result[sentence, 1] = concordant
        result[sentence, 2] = discordant
        result[sentence, 3] = tied
        previous = -1
        for key in reordered:
            result[sentence, 4] += key != previous and key != previous + 1
            previous = key
        result[sentence, 4] += previous != groups and previous + 1 != groups
    return result
