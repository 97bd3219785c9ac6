"""The confidence of an order, by the probabilities of inversions, and how well these fit the links.

With m_ij the probability that tokens i < j of n are inverted, and positions p::

    E[tau] = 1 - 4 / (n (n - 1)) · sum over i < j of |[p_i > p_j] - m_ij|

or 1 where n < 2. A token's confidence is the mean over its pairs, so that E[tau] is the mean over the tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from preorder.data import Permutation
from preorder.metrics import RIGHT_TAU
from preorder.metrics.orders import TAU, TargetGroups, sentence_scores

BINS = 10  # of probabilities, equally wide

Inversions = Sequence[np.ndarray]
"""Of the pieces of a sentence, between which nothing is inverted: probabilities ``[i, j]``, 0 but i < j."""


class OrderConfidence(NamedTuple):
    """What tau an order is expected to have, -1 to 1: over all pairs, and over those of each source token."""

    expected_tau: float
    tokens: tuple[float, ...]


def order_confidence(permutation: Permutation, inversions: Inversions) -> OrderConfidence:
    """Return how sure an order is; its pieces keep their order. O(n²)."""
    n = len(permutation)
    if n < 2:
        return OrderConfidence(1.0, (1.0,) * n)
    positions = np.array(permutation.positions)
    wrong, begin = np.zeros(n), 0
    for inverted in inversions:
        end = begin + len(inverted)
        own = positions[begin:end]
        error = np.triu(np.abs((own[:, None] > own) - inverted.astype(float)), 1)
        wrong[begin:end] = error.sum(0) + error.sum(1)
        begin = end
    tokens = 1 - 2 * wrong / (n - 1)
    return OrderConfidence(float(tokens.mean()), tuple(tokens.tolist()))


@dataclass(frozen=True)
class Bin:
    """Pairs of aligned tokens whose probability of inversion lies in an interval."""

    pairs: int
    marginal: float  # the mean probability
    frequency: float  # the share that the links invert


@dataclass(frozen=True)
class Calibration:
    """How well probabilities and confidences of orders fit the links."""

    bins: tuple[Bin, ...]  # by probability, ascending; empty ones are left out
    sentences: int  # that were measured
    expected_tau: float  # means over them
    tau: float
    spearman: float | None  # of E[tau] with tau over the sentences; None: one of them does not vary
    auc: float | None  # of E[tau], for tau above ``RIGHT_TAU``; None: all sentences are above, or none


def calibration(
    rows: Iterable[tuple[TargetGroups | None, Permutation, Inversions]],
) -> Calibration | None:
    """Compare probabilities with links: each row has target groups (None: skip it), an order, and inversions.

    Pairs of one target group, or of two pieces, do not count in the bins. None: no sentence was measured.
    """
    from scipy.stats import spearmanr  # takes a second to import
    from sklearn.metrics import roc_auc_score

    totals = np.zeros((3, BINS))  # pairs, their probabilities, inversions by the links
    measured, expected = [], []
    for groups, permutation, inversions in rows:
        if groups is None:
            continue
        measured.append((groups, permutation.positions))
        expected.append(order_confidence(permutation, inversions).expected_tau)
        begin = 0
        for inverted in inversions:
            own = np.array(groups[begin : begin + len(inverted)])
            begin += len(inverted)
            i, j = np.triu_indices(own.size, 1)
            counted = (own[i] >= 0) & (own[j] >= 0) & (own[i] != own[j])
            i, j = i[counted], j[counted]
            which = np.minimum((inverted[i, j] * BINS).astype(int), BINS - 1)
            for total, numbers in zip(totals, (None, inverted[i, j], own[i] > own[j]), strict=True):
                total += np.bincount(which, numbers, BINS)
    if not measured:
        return None
    bins = [Bin(int(n), float(p / n), float(f / n)) for n, p, f in totals.T if n]
    tau = sentence_scores(*zip(*measured, strict=True))[:, TAU]
    right = tau > RIGHT_TAU
    auc = float(roc_auc_score(right, expected)) if 0 < right.sum() < right.size else None
    varies = np.ptp(expected) > 0 and np.ptp(tau) > 0
    spearman = float(spearmanr(expected, tau).statistic) if varies else None
    means = float(np.mean(expected)), float(tau.mean())
    return Calibration(tuple(bins), len(measured), *means, spearman, auc)
