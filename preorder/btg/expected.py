"""Where each token stands on average over all trees of a sentence: a real number, which tells how sure it is.

The expected position of token i is ``i − Σ_{j<i} P(j, i inverted) + Σ_{j>i} P(i, j inverted)``. An inverted
node moves its left tokens behind all of its right ones and these before all of the left ones, so the sum
over pairs is one over nodes: each moves what it holds by its probability times the width of the other child.
"""

from __future__ import annotations

import numba
import numpy as np

from preorder.btg.grammar import CONTEXTS, INVERTED, LABELS, LEFT, RIGHT
from preorder.btg.sums import all_sums, label_weights, node_weights
from preorder.compiled import inner

NEGLIGIBLE = 1e-12
"""A span that is less probable is left out with all that is below it: positions stay exact to four places."""


@inner
def expect(scores, n, root, rate, positions):
    """Write the expected position of each token, float64 ``[n]``; O(n³), see :mod:`preorder.btg.sums`.

    Args:
        scores: of the sentence, :class:`preorder.btg.scores.Scores`.
        n: tokens, at least 1.
        root: context of the whole, ROOT but for a piece of a longer sentence.
        rate: one over the temperature of the scores.
        positions: filled.
    """
    sums = all_sums(scores, n, rate)
    spans = np.zeros((CONTEXTS, n + 1, n + 1))  # the probability that there is such a span
    spans[root, 0, n] = 1
    weights, moves = np.empty((LABELS, n)), np.zeros(n + 1)
    for e in range(n, 1, -1):
        for b in range(e - 1):
            if spans[:, b, e].max() < NEGLIGIBLE:
                continue
            node_weights(scores, sums, rate, b, e, weights)
            for context in range(CONTEXTS):
                if spans[context, b, e] < NEGLIGIBLE:
                    continue
                _, shares = label_weights(scores, sums, rate, (b, e, context), weights)
                for label in range(LABELS):
                    share = spans[context, b, e] * shares[label]
                    for m in range(b + 1, e):
                        probability = share * weights[label, m - b - 1] * sums.factor[context, label, m]
                        spans[label * 2 + LEFT, b, m] += probability
                        spans[label * 2 + RIGHT, m, e] += probability
                        if label == INVERTED:
                            add_moves(moves, b, m, e, probability)
    set_positions(moves, positions)


@numba.njit(inline="always")
def add_moves(moves, b, m, e, probability):
    """Add by how much a node, inverted with a probability, moves each token more than the one before."""
    moves[b] += probability * (e - m)
    moves[m] -= probability * (e - b)
    moves[e] += probability * (m - b)


@inner
def set_positions(moves, positions):
    """Write the positions, float64 ``[n]``, to which all :func:`add_moves` have moved the tokens."""
    moved = 0.0
    for i in range(positions.size):
        moved += moves[i]
        positions[i] = min(max(i + moved, 0.0), positions.size - 1.0)  # beyond by rounding only
