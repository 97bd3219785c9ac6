"""How well an order fits an alignment: tau, fuzzy reordering score, complete match.

Every aligned source token has a target group (:mod:`preorder.alignment.gold`), or, to measure all tokens,
each has its position in a gold order. The groups are read in the new order, without unaligned tokens.
Sentences whose alignment gives no target groups are skipped and counted.

Per sentence, with k_1 … k_n the target groups in the new order, numbered 0 … g - 1:

- ``tau``: equation 7 of Kawara et al. 2021, -1 to 1. Two tokens of one group are a wrong pair in every order.
- ``tau_nakagawa``: 1 - the share of pairs with k_i > k_j, 0 to 1 (Nakagawa 2015).
- ``frs``: fuzzy reordering score (Talbot et al. 2011), 0 to 1: 1 - breaks / (n + 1). A break is one of the
  n + 1 steps of -1, k_1 … k_n, g that neither stays nor goes up by one.
- ``complete_match``: 1 where no pair is reversed, else 0.

Sentences of fewer than two aligned tokens score 1. The score of a corpus is the mean of its sentences. All
but ``tau`` are those of Google's ``evaluate_preordering.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import ClassVar

import numpy as np

from preorder.alignment.gold import UNALIGNED
from preorder.compiled import entry_point
from preorder.data import Permutation
from preorder.errors import DataError
from preorder.metrics import Metric, Score


@entry_point
def count_pairs(ranks: np.ndarray) -> tuple[int, int, int]:
    """Count the pairs ``i < j``: concordant, ``ranks[i] < ranks[j]``; discordant; tied. O(n²)."""
    concordant, tied = 0, 0
    for j in range(len(ranks)):
        for i in range(j):
            concordant += ranks[i] < ranks[j]
            tied += ranks[i] == ranks[j]
    pairs = len(ranks) * (len(ranks) - 1) // 2
    return concordant, pairs - concordant - tied, tied


TargetGroups = Sequence[int]  # of each source token its target group, from 0 without gaps, or ``UNALIGNED``


@dataclass(frozen=True)
class OrderScores:
    """Means over sentences; ``tau`` from -1 to 1, the others from 0 to 1."""

    tau: float
    tau_nakagawa: float
    frs: float
    complete_match: float


@dataclass(frozen=True)
class OrderEvaluation(OrderScores):
    """The scores of the orders of a corpus, and of the unreordered source."""

    sentences: int  # that were measured
    skipped: int  # that had no target groups
    monotone: OrderScores  # of the unreordered source


def evaluate(groups: Sequence[TargetGroups | None], permutations: Sequence[Permutation]) -> OrderEvaluation:
    """Measure the orders of a corpus against each sentence's target groups (None: skip it)."""
    metric = Preordering(groups)
    monotone = [Permutation.identity(len(order)) for order in permutations]
    return evaluation(metric.statistics(permutations), metric.statistics(monotone))


def evaluation(statistics: np.ndarray, monotone: np.ndarray) -> OrderEvaluation:
    """Return the evaluation of what :class:`Preordering` has counted, of orders and of the source's own."""
    sentences = int(statistics[:, 4].sum())
    orders, source = (
        OrderScores(*(rows[:, :4].sum(0) / sentences).tolist()) for rows in (statistics, monotone)
    )
    return OrderEvaluation(
        **vars(orders), sentences=sentences, skipped=len(statistics) - sentences, monotone=source
    )


TAU, TAU_NAKAGAWA = range(2)  # columns of the scores


def sentence_scores(groups: Sequence[Collection[int]], positions: Sequence[Collection[int]]) -> np.ndarray:
    """Return tau, tau_nakagawa, frs and complete match of each sentence: ``[sentences, 4]``."""
    lengths = np.fromiter(map(len, groups), np.int64, len(groups))
    other = np.fromiter(map(len, positions), np.int64, len(positions))
    if not np.array_equal(lengths, other):
        raise DataError("a sentence has more or fewer target groups than positions")
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    keys, ranks = (
        np.fromiter(chain.from_iterable(rows), np.int64, offsets[-1]) for rows in (groups, positions)
    )
    n, concordant, discordant, tied, breaks = _statistics(keys, ranks, offsets).T.astype(float)
    pairs = concordant + discordant + tied
    some = np.maximum(pairs, 1)
    tau = np.where(pairs > 0, 2 * concordant / some - 1, 1)
    frs = np.where(pairs > 0, 1 - breaks / (n + 1), 1)
    return np.column_stack((tau, 1 - discordant / some, frs, discordant == 0))


class Preordering(Metric):
    """Orders against the target groups of each sentence; one whose groups are None is skipped.

    The scores are means over sentences; NaN where none was measured.
    """

    name: ClassVar[str] = "preordering"
    scores: ClassVar[tuple[Score, ...]] = tuple(
        Score(name, partial(lambda k, totals: mean_of(totals[..., k], totals[..., 4]), k))
        for k, name in enumerate(OrderScores.__dataclass_fields__)
    )

    def __init__(self, groups: Sequence[TargetGroups | None]) -> None:
        self._groups = groups
        self.measured = np.array([one is not None for one in groups])  # [sentences]
        if not self.measured.any():
            raise DataError(f"no order can be evaluated: none of {len(groups)} alignments can be sorted")
        self.signature = f"sentences:{self.measured.sum()}|skipped:{(~self.measured).sum()}"

    def statistics(self, hypotheses: Sequence[Permutation]) -> np.ndarray:
        """Return ``[sentences, 5]``: a sentence's four scores, and 1; five times 0 where it is skipped."""
        rows = np.zeros((len(self._groups), 5))
        pairs = [(g, p.positions) for g, p in zip(self._groups, hypotheses, strict=True) if g is not None]
        scores = sentence_scores(*zip(*pairs, strict=True))
        rows[self.measured] = np.column_stack((scores, np.ones(len(pairs))))
        return rows

    def gains(self, orders: Sequence[Permutation]) -> np.ndarray:
        """Return by how much each order raises the tau of its sentence, -2 to 2; NaN where none is known."""
        before = self.statistics([Permutation.identity(len(order)) for order in orders])
        return np.where(self.measured, self.statistics(orders)[:, 0] - before[:, 0], np.nan)


def mean_of(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the means; NaN where nothing was counted."""
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


@entry_point
def _statistics(groups: np.ndarray, positions: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Count each sentence's aligned tokens; concordant, discordant and tied pairs; and breaks."""
    result = np.zeros((len(offsets) - 1, 5), np.int64)
    for sentence in range(len(offsets) - 1):
        begin, end = offsets[sentence], offsets[sentence + 1]
        reordered = np.empty(end - begin, np.int64)
        for token in range(begin, end):
            reordered[positions[token]] = groups[token]
        reordered = reordered[reordered != UNALIGNED]
        group_count = reordered.max() + 1 if len(reordered) else 0
        concordant, discordant, tied = count_pairs(reordered)
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
