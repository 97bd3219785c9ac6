"""Sums over all BTG trees of a sentence by all terms of its scores, contexts included: compiled.

A tree's probability is proportional to exp(rate · score), where the rate is one over the temperature. The
inside algorithm sums span by span, in log space, as :mod:`preorder.btg.viterbi` takes the best. It takes
O(n³), two exponentials for each begin, split and end: what a split scores by its context is a factor.
:mod:`preorder.btg.inside` does the same in torch, with gradients, for scores without contexts.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from preorder.btg.grammar import CONTEXTS, INVERTED, LABELS, LEFT, RIGHT, ROOT, STRAIGHT
from preorder.btg.scores import node_index
from preorder.compiled import inner

LEAST = 1e-300
"""Least sum of weights: what scores by 690 less in one context than in another counts for so much."""


class Sums(NamedTuple):
    """Logs of the sums over each span's trees as a child, with what its parent scores for it; float64."""

    left: np.ndarray  # of [b, m) as left child of a parent of some label: [label, b, m]
    right: np.ndarray  # of [m, e) as right child: [label, e, m]
    pivot: np.ndarray  # what a split scores in its best context: [label, m]
    factor: np.ndarray  # exp of what it scores less in each context: [context, label, m]


@inner
def all_sums(scores, n, rate):
    """Return the sums of a sentence of n tokens by its :class:`preorder.btg.scores.Scores`."""
    pivot, factor = _pivots(scores, n, rate)
    left, right = np.empty((LABELS, n + 1, n + 1)), np.empty((LABELS, n + 1, n + 1))
    sums = Sums(left, right, pivot, factor)
    weights = np.empty((LABELS, n))
    for e in range(1, n + 1):
        for b in range(e - 1, -1, -1):
            highest = 0.0
            if e - b > 1:
                highest = node_weights(scores, sums, rate, b, e, weights)
            for label in range(LABELS):
                first = second = highest
                if e - b > 1:
                    first += label_weights(scores, sums, rate, (b, e, label * 2 + LEFT), weights)[0]
                    second += label_weights(scores, sums, rate, (b, e, label * 2 + RIGHT), weights)[0]
                left[label, b, e] = first + rate * scores.left[label, e, b]
                right[label, e, b] = second + rate * scores.right[e, b, label]
    return sums


@inner
def _pivots(scores, n, rate):
    pivot, factor = np.full((LABELS, n + 1), -np.inf), np.empty((CONTEXTS, LABELS, n + 1))
    for m in range(n + 1):
        for label in range(LABELS):
            for context in range(CONTEXTS):
                pivot[label, m] = max(pivot[label, m], rate * scores.pivot[m, context * LABELS + label])
            for context in range(CONTEXTS):
                score = rate * scores.pivot[m, context * LABELS + label]
                factor[context, label, m] = np.exp(score - pivot[label, m])
    return pivot, factor


@inner
def node_weights(scores, sums, rate, b, e, weights):
    """Write what the trees below each node of a span weigh, its context apart: ``[label, m - b - 1]``.

    Args:
        scores: of the sentence.
        sums: of it; those of shorter spans have to be there.
        rate: one over the temperature.
        b, e: the span, of two tokens or more.
        weights: float64 ``[LABELS, …]``, filled, the greatest with 1.

    Returns:
        The log by which they are all less than they should be.
    """
    highest = -np.inf
    for label in range(LABELS):
        for m in range(b + 1, e):
            node = rate * scores.node[label, node_index(m, e) + b] + sums.pivot[label, m]
            weight = node + sums.left[label, b, m] + sums.right[label, e, m]
            weights[label, m - b - 1] = weight
            highest = max(highest, weight)
    for label in range(LABELS):
        for k in range(e - b - 1):
            weights[label, k] = np.exp(weights[label, k] - highest)
    return highest


@numba.njit(inline="always")
def label_weights(scores, sums, rate, item, weights):
    """Return by what the weights of nodes are to be multiplied in a context.

    Args:
        scores, sums, rate: as above.
        item: begin, end and context of the span.
        weights: :func:`node_weights` of the span.

    Returns:
        The log of the sum over the trees of the span in this context, less what :func:`node_weights`
        returned; and for each label what makes ``weights · factor`` each node's share of that sum.
    """
    b, e, context = item
    straight = inverted = LEAST
    for k in range(e - b - 1):
        straight += weights[STRAIGHT, k] * sums.factor[context, STRAIGHT, b + 1 + k]
        inverted += weights[INVERTED, k] * sums.factor[context, INVERTED, b + 1 + k]
    one = rate * scores.span[b, e, context * LABELS + STRAIGHT]
    other = rate * scores.span[b, e, context * LABELS + INVERTED]
    highest = max(one, other)
    one, other = np.exp(one - highest), np.exp(other - highest)
    total = straight * one + inverted * other
    return highest + np.log(total), (one / total, other / total)


@inner
def log_total(scores, n, rate):
    """Return the log of the sum over all trees of n >= 2 tokens of exp(rate · score)."""
    sums, weights = all_sums(scores, n, rate), np.empty((LABELS, n))
    highest = node_weights(scores, sums, rate, 0, n, weights)
    return highest + label_weights(scores, sums, rate, (0, n, ROOT), weights)[0]
