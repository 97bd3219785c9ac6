"""Probabilities of inversion of two tokens, by the scores of a sentence: inside and outside over spans.

A tree's probability is proportional to exp(score / temperature). :mod:`preorder.btg.chart` finds the same on
torch, by the parts that a network gives. Here the scores have all terms of :class:`.scores.Scores`.
"""

from __future__ import annotations

import numpy as np

from preorder.btg.grammar import CONTEXTS, INVERTED, LABELS, LEFT, RIGHT, ROOT_CONTEXT
from preorder.btg.scores import node_index
from preorder.compiled import entry_point, inner

NEGLIGIBLE = 1e-9  # probability of a span; spans below it are skipped


@entry_point
def inversions(scores, n, root, temperature):
    """Return the probability that tokens i < j are inverted: float32 ``[i, j]``, 0 elsewhere.

    ``root`` is the context of the whole. O(n³) time, with up to two exponentials a node and context; O(n²)
    memory. An inverted node inverts the pairs of a rectangle, [begin, split) × [split, end). It changes
    the rectangle's corners alone, and sums along i and j give all pairs.
    """
    inverted = np.zeros((n, n), np.float32)
    if n < 2:
        return inverted
    beta = 1 / temperature
    first = np.zeros((LABELS, n + 1, n + 1))  # what a left child adds, [parent's label, split, begin]
    second = np.zeros((LABELS, n + 1, n + 1))  # and a right one, [parent's label, end, split]
    total = np.zeros((n + 1, n + 1, CONTEXTS))  # log of the sum over a span's trees, [begin, end, context]
    nodes = np.empty((LABELS, n + 1))
    for width in range(1, n + 1):
        for b in range(n + 1 - width):
            e = b + width
            for context in range(CONTEXTS if width > 1 else 0):
                if (context == root) if width == n else (context < ROOT_CONTEXT):
                    greatest = _score(scores, beta, first, second, b, e, context, nodes)
                    sum_of = 0.0
                    for label in range(LABELS):
                        for m in range(b + 1, e):
                            sum_of += np.exp(nodes[label, m] - greatest)
                    total[b, e, context] = greatest + np.log(sum_of)
            for label in range(LABELS):
                first[label, e, b] = beta * scores.left[label, e, b] + total[b, e, label * 2 + LEFT]
                second[label, e, b] = beta * scores.right[e, b, label] + total[b, e, label * 2 + RIGHT]
    share = np.zeros((n + 1, n + 1, CONTEXTS))  # the probability of a span in a context
    share[0, n, root] = 1
    corners = np.zeros((n + 1, n + 1))
    for width in range(n, 1, -1):
        for b in range(n + 1 - width):
            e = b + width
            for context in range(CONTEXTS):
                if share[b, e, context] < NEGLIGIBLE:
                    continue
                _score(scores, beta, first, second, b, e, context, nodes)
                for label in range(LABELS):
                    for m in range(b + 1, e):
                        node = share[b, e, context] * np.exp(nodes[label, m] - total[b, e, context])
                        share[b, m, label * 2 + LEFT] += node
                        share[m, e, label * 2 + RIGHT] += node
                        if label == INVERTED:
                            corners[b, m] += node
                            corners[m, m] -= node
                            corners[b, e] -= node
                            corners[m, e] += node
    for i in range(n):
        row = 0.0
        for j in range(n):
            row += corners[i, j]
            corners[i, j] = row + (corners[i - 1, j] if i else 0.0)
            if i < j:
                inverted[i, j] = min(max(corners[i, j], 0.0), 1.0)
    return inverted


@inner
def _score(scores, beta, first, second, b, e, context, nodes):
    """Write the log of what the trees of each node of a span sum to, ``[label, split]``; return the most."""
    greatest = -np.inf
    for label in range(LABELS):
        lane = context * LABELS + label
        for m in range(b + 1, e):
            own = scores.node[label, node_index(m, e) + b] + scores.pivot[m, lane] + scores.span[b, e, lane]
            nodes[label, m] = beta * own + first[label, m, b] + second[label, e, m]
            greatest = max(greatest, nodes[label, m])
    return greatest
