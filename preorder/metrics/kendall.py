"""Kendall's tau from one count of ordered, reversed and tied pairs.

A vector y is in order where ``y_i < y_j`` for every ``i < j``. How a tied pair counts is
where definitions part, so the caller says: under equation 7 of Kawara et al. 2021 it is
wrong, in Google's evaluator (Nakagawa 2015) it is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numba
import numpy as np

Ties = Literal["wrong", "half", "right"]

SHARE_OF_TIES: dict[str, float] = {"wrong": 0.0, "half": 0.5, "right": 1.0}


class Concordance(NamedTuple):
    """The pairs ``i < j`` of a vector: in order, reversed, and tied."""

    concordant: int
    discordant: int
    tied: int

    @property
    def pairs(self) -> int:
        """The number of all pairs, n (n - 1) / 2."""
        return self.concordant + self.discordant + self.tied


def concordance(y: Sequence[float]) -> Concordance:
    """Count the pairs of a vector of n values. O(n log n)."""
    values = np.asarray(y)
    distinct, ranks = np.unique(values, return_inverse=True)
    return Concordance(*count_pairs(ranks, len(distinct)))


def tau(counts: Concordance, ties: Ties = "wrong") -> float:
    """Return Kendall's tau, -1 (reversed) to 1 (in order): equation 7 of Kawara et al. 2021.

    With ``ties="wrong"`` a tied pair counts as reversed, as the equation's strict ``<`` has
    it; with ``"right"`` as in order; with ``"half"`` as neither (tau-a of statistics). Fewer
    than two values are in order.
    """
    if not counts.pairs:
        return 1.0
    return 2.0 * (counts.concordant + SHARE_OF_TIES[ties] * counts.tied) / counts.pairs - 1.0


def tau_nakagawa(counts: Concordance) -> float:
    """Return the share of pairs that are not reversed, 0 to 1, as Google's evaluator counts.

    Fewer than two values are in order.
    """
    return 1.0 - counts.discordant / counts.pairs if counts.pairs else 1.0


@numba.njit(cache=True, nogil=True)
def count_pairs(ranks: np.ndarray, size: int) -> tuple[int, int, int]:
    """Count the pairs of integers in ``[0, size)``: concordant, discordant, tied.

    A Fenwick tree holds how often each rank was seen so far. O(n log size).
    """
    tree = np.zeros(size + 1, np.int64)
    seen = np.zeros(size, np.int64)
    concordant = 0
    tied = 0
    for rank in ranks:
        tied += seen[rank]
        seen[rank] += 1
        node = rank
        while node > 0:  # tree nodes 1 … rank: the ranks below this one
            concordant += tree[node]
            node -= node & -node
        node = rank + 1
        while node <= size:
            tree[node] += 1
            node += node & -node
    pairs = len(ranks) * (len(ranks) - 1) // 2
    return concordant, pairs - concordant - tied, tied
