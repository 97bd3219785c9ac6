"""How well an order fits an alignment: tau, fuzzy reordering score, complete match.

Every aligned source token has a target group (:mod:`preorder.alignment.target_groups`). To
measure all tokens, each may have a group of its own: its position in a gold order. The groups
read in the new order are what is measured; unaligned tokens are left out. Sentences whose
alignment gives no target groups are skipped and counted.

Per sentence, with k_1 … k_n the target groups in the new order, numbered 0 … g - 1:

- ``tau``: equation 7 of Kawara et al. 2021, -1 to 1. Two tokens of one group are a wrong
  pair in every order, so that an alignment with such groups does not allow 1.
- ``tau_nakagawa``: 1 - the share of pairs with k_i > k_j, 0 to 1 (Nakagawa 2015).
- ``frs``: fuzzy reordering score (Talbot et al. 2011), 0 to 1: 1 - breaks / (n + 1). A break
  is one of the n + 1 steps of -1, k_1 … k_n, g that neither stays nor goes up by one.
- ``complete_match``: 1 where no pair is reversed, else 0.

Sentences of fewer than two aligned tokens score 1 everywhere. The score of a corpus is the mean
of its sentences. All but ``tau`` are those of Google's ``evaluate_preordering.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from preorder.alignment.target_groups import UNALIGNED, target_groups
from preorder.compiled import entry_point
from preorder.data.errors import DataError
from preorder.data.types import Alignment, Permutation
from preorder.metrics.kendall import count_pairs
from preorder.metrics.metric import Metric, Score

TargetGroups = Sequence[int]
"""Of each source token its target group, from 0 without gaps, or ``UNALIGNED``."""


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
        skipped: how many had no target groups.
        monotone: the scores of the unreordered source.
    """

    sentences: int
    skipped: int
    monotone: OrderScores


def evaluate_orders(permutations: Sequence[Permutation], alignments: Sequence[Alignment]) -> OrderEvaluation:
    """Measure the orders of a corpus against an alignment of each sentence, over the aligned tokens.

    Raises:
        DataError: a link is out of range, or no alignment can be sorted.
    """
    pairs = zip(alignments, permutations, strict=True)
    return evaluate([target_groups(alignment, len(order)) for alignment, order in pairs], permutations)


def evaluate(groups: Sequence[TargetGroups | None], permutations: Sequence[Permutation]) -> OrderEvaluation:
    """Measure the orders of a corpus against each sentence's target groups (None: skip it).

    O(n log n) a sentence, compiled.

    Raises:
        DataError: a sentence and its permutation differ in length, or all are skipped.
    """
    _check_some(groups)
    pairs = [(g, p.positions) for g, p in zip(groups, permutations, strict=True) if g is not None]
    known, positions = zip(*pairs, strict=True)
    reordered = mean_scores(order_statistics(known, positions))
    monotone = mean_scores(order_statistics(known, [range(len(one)) for one in positions]))
    return OrderEvaluation(
        **vars(reordered), sentences=len(pairs), skipped=len(groups) - len(pairs), monotone=monotone
    )


def order_statistics(groups: Sequence[TargetGroups], positions: Sequence[Sequence[int]]) -> np.ndarray:
    """Return the sufficient statistics of each sentence: ``[sentences, 5]`` integers.

    The columns: aligned tokens, concordant pairs, discordant pairs, tied pairs, breaks.

    Args:
        groups: of each sentence the target groups.
        positions: of each sentence the positions of its source tokens.

    Raises:
        DataError: a sentence has more or fewer target groups than positions.
    """
    lengths = np.fromiter(map(len, groups), np.int64, len(groups))
    other = np.fromiter(map(len, positions), np.int64, len(positions))
    if not np.array_equal(lengths, other):
        raise DataError("a sentence has more or fewer target groups than positions")
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    return _statistics(_flat(groups, offsets[-1]), _flat(positions, offsets[-1]), offsets)


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


def _mean_of(column: int) -> Score:
    name = [field.name for field in fields(OrderScores)][column]
    return Score(name, lambda totals: totals[..., column] / np.maximum(totals[..., 4], 1))


class Preordering(Metric):
    """Orders against the target groups of each sentence, as a metric whose hypotheses are permutations."""

    name: ClassVar[str] = "preordering"
    scores: ClassVar[tuple[Score, ...]] = tuple(map(_mean_of, range(4)))

    def __init__(self, groups: Sequence[TargetGroups | None]) -> None:
        """Take the target groups of each sentence (None: skip it).

        Raises:
            DataError: all are skipped.
        """
        self._groups = groups
        self._measured = np.array([one is not None for one in groups])
        _check_some(groups)
        self.signature = f"sentences:{self._measured.sum()}|skipped:{(~self._measured).sum()}"

    def statistics(self, hypotheses: Sequence[Permutation]) -> np.ndarray:
        """Return ``[sentences, 5]``: a sentence's four scores, and 1; five times 0 where it is skipped.

        Raises:
            DataError: a sentence and its permutation differ in length.
        """
        rows = np.zeros((len(self._groups), 5))
        pairs = [(g, p.positions) for g, p in zip(self._groups, hypotheses, strict=True) if g is not None]
        scores = sentence_scores(order_statistics(*zip(*pairs, strict=True)))
        rows[self._measured] = np.column_stack((scores, np.ones(len(pairs))))
        return rows


def _check_some(groups: Sequence[TargetGroups | None]) -> None:
    if all(one is None for one in groups):
        raise DataError(f"no order can be evaluated: none of {len(groups)} alignments can be sorted")


def _flat(rows: Sequence[Sequence[int]], total: int) -> np.ndarray:
    return np.fromiter((number for row in rows for number in row), np.int64, total)


@entry_point
def _statistics(groups: np.ndarray, positions: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    result = np.zeros((len(offsets) - 1, 5), np.int64)
    for sentence in range(len(offsets) - 1):
        begin, end = offsets[sentence], offsets[sentence + 1]
        reordered = np.empty(end - begin, np.int64)
        for token in range(begin, end):
            reordered[positions[token]] = groups[token]
        reordered = reordered[reordered != UNALIGNED]
        group_count = reordered.max() + 1 if len(reordered) else 0
        concordant, discordant, tied = count_pairs(reordered, group_count)
        result[sentence, 0] = len(reordered)
        result[sentence, 1] = concordant
        result[sentence, 2] = discordant
        result[sentence, 3] = tied
        previous = -1
        for group in reordered:
            result[sentence, 4] += group != previous and group != previous + 1
            previous = group
        result[sentence, 4] += previous != group_count and previous + 1 != group_count
    return result
