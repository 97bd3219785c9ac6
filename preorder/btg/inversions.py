"""How probably two tokens are inverted, by the scores of a sentence: inside and outside over (span, context).

A tree's probability is proportional to exp(score / temperature). :mod:`preorder.btg.chart` finds the same on
torch, by the parts that a network gives. Here the scores have all terms of :class:`.scores.Scores`.
"""

from __future__ import annotations

import numpy as np

from preorder.btg.grammar import CONTEXTS, INVERTED, LABELS, LEFT, RIGHT, ROOT
from preorder.btg.scores import node_index
from preorder.compiled import entry_point, inner


@entry_point
def inversions(scores, n, root, temperature):
    """Return the probability that tokens i < j are inverted: float32 ``[i, j]``, 0 elsewhere.

    ``root`` is the context of the whole. O(n³) time, with four exponentials for each begin, split and end;
    O(n²) memory. An inverted node inverts the pairs of a rectangle, [begin, split) × [split, end). It changes
    the rectangle's corners alone, and sums along i and j give all pairs.
    """
    inverted = np.zeros((n, n), np.float32)
    if n < 2:
        return inverted
    beta = 1 / temperature
    pivots = np.exp(beta * (scores.pivot - scores.pivot.max()))
    first = np.zeros((LABELS, n + 1, n + 1))  # what a left child adds, [parent's label, split, begin]
    second = np.zeros((LABELS, n + 1, n + 1))  # and a right one, [parent's label, end, split]
    total = np.zeros((n + 1, n + 1, CONTEXTS))  # log of the sum over a span's trees, [begin, end, context]
    nodes = np.empty((LABELS, n + 1))
    for width in range(1, n + 1):
        for b in range(n + 1 - width):
            e = b + width
            unit = _fill(scores, beta, first, second, b, e, nodes)
            for context in range(CONTEXTS if width > 1 else 0):
                if (context == root) if width == n else (context < ROOT):
                    total[b, e, context] = unit + _log_sum(scores.span, beta, pivots, nodes, b, e, context)
            for label in range(LABELS):
                first[label, e, b] = beta * scores.left[label, e, b] + total[b, e, label * 2 + LEFT]
                second[label, e, b] = beta * scores.right[e, b, label] + total[b, e, label * 2 + RIGHT]
    share = np.zeros((n + 1, n + 1, CONTEXTS))  # the probability of a span in a context
    share[0, n, root] = 1
    corners = np.zeros((n + 1, n + 1))
    for width in range(n, 1, -1):
        for b in range(n + 1 - width):
            e = b + width
            unit = _fill(scores, beta, first, second, b, e, nodes)
            for context in range(CONTEXTS):
                if share[b, e, context] == 0:
                    continue
                for label in range(LABELS):
                    lane = context * LABELS + label
                    factor = np.exp(beta * scores.span[b, e, lane] + unit - total[b, e, context])
                    factor *= share[b, e, context]
                    for m in range(b + 1, e):
                        node = factor * nodes[label, m] * pivots[m, lane]
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
def _fill(scores, beta, first, second, b, e, nodes):
    """Write exp of what each node of a span scores without span and pivot, ``[label, split]``.

    Returns the log of their unit, which keeps them at most 1.
    """
    greatest = -np.inf
    for label in range(LABELS):
        for m in range(b + 1, e):
            node = beta * scores.node[label, node_index(m, e) + b] + first[label, m, b] + second[label, e, m]
            nodes[label, m] = node
            greatest = max(greatest, node)
    for label in range(LABELS):
        for m in range(b + 1, e):
            nodes[label, m] = np.exp(nodes[label, m] - greatest)
    return greatest


@inner
def _log_sum(span, beta, pivots, nodes, b, e, context):
    """Return the log of the sum over the nodes of a span in a context, by what :func:`_fill` writes."""
    logs = np.empty(LABELS)
    for label in range(LABELS):
        lane = context * LABELS + label
        total = 0.0
        for m in range(b + 1, e):
            total += nodes[label, m] * pivots[m, lane]
        logs[label] = np.log(total) + beta * span[b, e, lane]
    return np.logaddexp(logs[0], logs[1])
