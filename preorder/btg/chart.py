"""The best BTG tree of a sentence, exactly: Viterbi over (span, context), O(n³).

The context of a span is its parent's label and which child it is (features.CONTEXTS). What the
tree is best at is up to the scores: a penalty on every node that violates a constraint makes
the same search find the best tree that the constraint allows, or the one that best combines
score and violations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from preorder.btg.compiled import inner
from preorder.btg.features import INVERTED, LABELS, STRAIGHT
from preorder.btg.scores import node_index

FORBIDDEN = np.float32(-1e30)
"""Penalty of a node that must not be; a sum of thousands of them is still finite."""

LOWEST = np.float32(-np.inf)

NODE_FIELDS = 5  # of a node: begin, split, end, label, context


class Bounds(NamedTuple):
    """Least and greatest target group in each span, and by end first, for contiguous reading.

    ``low[b, e]`` and ``low_by_end[e, b]`` are ``NONE_LOW`` and the highs ``NONE_HIGH`` where no
    token of the span has a group.
    """

    low: np.ndarray
    high: np.ndarray
    low_by_end: np.ndarray
    high_by_end: np.ndarray


NONE_LOW, NONE_HIGH = 1 << 30, -1


@inner
def group_bounds(groups):
    """Return the :class:`Bounds` of a sentence's target groups (-1: none)."""
    n = groups.size
    low = np.full((n + 1, n + 1), NONE_LOW, np.int32)
    high = np.full((n + 1, n + 1), NONE_HIGH, np.int32)
    low_by_end, high_by_end = low.copy(), high.copy()
    for b in range(n):
        lowest, highest = NONE_LOW, NONE_HIGH
        for e in range(b + 1, n + 1):
            if groups[e - 1] >= 0:
                lowest, highest = min(lowest, groups[e - 1]), max(highest, groups[e - 1])
            low[b, e] = low_by_end[e, b] = lowest
            high[b, e] = high_by_end[e, b] = highest
    return Bounds(low, high, low_by_end, high_by_end)


@inner
def violations(bounds, nodes):
    """Count the nodes of a tree that violate the constraint."""
    count = 0
    for k in range(nodes.shape[0]):
        b, m, e = nodes[k, 0], nodes[k, 1], nodes[k, 2]
        if nodes[k, 3] == STRAIGHT:
            count += bounds.high[b, m] > bounds.low[m, e]
        else:
            count += bounds.high[m, e] > bounds.low[b, m]
    return count


@inner
def penalise(bounds, n, penalty, node):
    """Add a penalty to the score of every node that violates the groups."""
    low, high, low_by_end, high_by_end = bounds
    for e in range(2, n + 1):
        for b in range(e - 2, -1, -1):
            first = node_index(b, e)
            for m in range(b + 1, e):
                if high[b, m] > low_by_end[e, m]:
                    node[first + m, STRAIGHT] += penalty
                if high_by_end[e, m] > low[b, m]:
                    node[first + m, INVERTED] += penalty


@inner
def best_tree(node, span, pivot, n, root, nodes):
    """Find the best tree of a sentence of at least two tokens and return its score.

    Args:
        node, span, pivot: its :class:`preorder.btg.scores.Scores`.
        n: tokens.
        root: context of the whole, ROOT but for a part of a longer sentence.
        nodes: int32 ``[n - 1, NODE_FIELDS]``, filled: parents before children.
    """
    left = np.zeros((n + 1, n + 1, LABELS), np.float32)  # best of [b, m) as left child: [b, m, label]
    right = np.zeros((n + 1, n + 1, LABELS), np.float32)  # best of [m, e) as right child: [e, m, label]
    for e in range(2, n + 1):
        for b in range(e - 2, -1, -1):
            _extend(node, span, pivot, left, right, b, e)
    return _read_tree(node, span, pivot, left, right, n, root, nodes)


@inner
def _extend(node, span, pivot, left, right, b, e):
    """Find the best score of a span, as either child of either label."""
    s0 = s1 = s2 = s3 = i0 = i1 = i2 = i3 = LOWEST  # straight and inverted, in each context but the root
    first = node_index(b, e)
    for m in range(b + 1, e):
        straight = node[first + m, STRAIGHT] + left[b, m, STRAIGHT] + right[e, m, STRAIGHT]
        inverted = node[first + m, INVERTED] + left[b, m, INVERTED] + right[e, m, INVERTED]
        s0, i0 = max(s0, straight + pivot[m, 0]), max(i0, inverted + pivot[m, 1])
        s1, i1 = max(s1, straight + pivot[m, 2]), max(i1, inverted + pivot[m, 3])
        s2, i2 = max(s2, straight + pivot[m, 4]), max(i2, inverted + pivot[m, 5])
        s3, i3 = max(s3, straight + pivot[m, 6]), max(i3, inverted + pivot[m, 7])
    left[b, e, STRAIGHT] = max(s0 + span[b, e, 0], i0 + span[b, e, 1])
    right[e, b, STRAIGHT] = max(s1 + span[b, e, 2], i1 + span[b, e, 3])
    left[b, e, INVERTED] = max(s2 + span[b, e, 4], i2 + span[b, e, 5])
    right[e, b, INVERTED] = max(s3 + span[b, e, 6], i3 + span[b, e, 7])


@inner
def _read_tree(node, span, pivot, left, right, n, root, nodes):
    """Follow the best choices down from the root; of equal ones the straight, then the leftmost."""
    stack = np.empty((n + 1, 3), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, n, root
    depth, count = 1, 0
    total = np.float32(0)
    while depth:
        depth -= 1
        b, e, context = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        first = node_index(b, e)
        best, split, chosen = LOWEST, -1, -1
        for label in range(LABELS):
            lane = context * LABELS + label
            for m in range(b + 1, e):
                score = node[first + m, label] + left[b, m, label] + right[e, m, label]
                score = score + pivot[m, lane] + span[b, e, lane]
                if score > best:
                    best, split, chosen = score, m, label
        if count == 0:
            total = best
        nodes[count, 0], nodes[count, 1], nodes[count, 2] = b, split, e
        nodes[count, 3], nodes[count, 4] = chosen, context
        count += 1
        if e - split > 1:
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = split, e, chosen * 2 + 1
            depth += 1
        if split - b > 1:
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = b, split, chosen * 2
            depth += 1
    return total


@inner
def positions_of(nodes, positions):
    """Write where each token of a tree goes, ``positions[i]``; ``nodes`` has parents before children."""
    positions[0] = 0  # first place of the span that begins at a token, as far as it is split
    for k in range(nodes.shape[0]):
        b, m, e = nodes[k, 0], nodes[k, 1], nodes[k, 2]
        place = positions[b]
        if nodes[k, 3] == INVERTED:
            positions[b], positions[m] = place + e - m, place
        else:
            positions[m] = place + m - b
