"""The best BTG tree of a sentence, exactly: Viterbi over (span, context), O(n³).

The context of a span is its parent's label and which child it is (features.CONTEXTS). What the
tree is best at is up to the scores: a penalty on every node that violates a constraint makes
the same search find the best tree that the constraint allows, or the one that best combines
score and violations.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from preorder.btg.vector import BLOCK, raise_best
from preorder.compiled import inner
from preorder.methods.perceptron.fast.scores import node_index
from preorder.methods.perceptron.features import INVERTED, LABELS, ROOT, STRAIGHT

FORBIDDEN = np.float32(-1e30)
"""Penalty of a node that must not be; a sum of thousands of them is still finite."""

LOWEST = np.float32(-np.inf)

INNER_LANES = ROOT * LABELS  # of all contexts but the root

LEAF = (np.float32(0), np.float32(0)), (np.float32(0), np.float32(0))

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
    low, high = bounds.low_by_end, bounds.high_by_end
    for e in range(2, n + 1):
        for m in range(1, e):
            first = node_index(m, e)
            lowest, highest = low[e, m], high[e, m]
            for b in range(m):
                if high[m, b] > lowest:
                    node[STRAIGHT, first + b] += penalty
                if highest > low[m, b]:
                    node[INVERTED, first + b] += penalty


@inner
def best_tree(scores, n, root, nodes):
    """Find the best tree of a sentence of at least two tokens and return its score.

    Args:
        scores: its :class:`preorder.methods.perceptron.fast.scores.Scores`.
        n: tokens.
        root: context of the whole, ROOT but for a part of a longer sentence.
        nodes: int32 ``[n - 1, NODE_FIELDS]``, filled: parents before children.
    """
    left, right = best_scores(scores, n)
    return _read_tree(scores.node, scores.span, scores.pivot, left, right, n, root, nodes)


@inner
def best_scores(scores, n):
    """Find how well each span can score as a child, with what its parent scores for it.

    Spans are found by their end, then from the last begin down: once a span's best score is known,
    all that end with it and have it for their right child are raised by that split, a vector of
    begins at a time.

    Returns:
        Of ``[b, m)`` as left child of a parent of some label, ``[label, m, b]``; of ``[m, e)`` as right
        child, ``[e, m, label]``.
    """
    node, span, pivot = scores.node, scores.span, scores.pivot
    left = np.empty((LABELS, n + 1, n + BLOCK), np.float32)
    right = np.empty((n + 1, n + 1, LABELS), np.float32)
    best = np.empty((n + BLOCK) * INNER_LANES, np.float32)  # [block of begins, lane, begin]
    for e in range(1, n + 1):
        best[:] = LOWEST
        for m in range(e - 1, -1, -1):
            first, second = _best_child(best, span, m, e) if m < e - 1 else LEAF
            left[STRAIGHT, e, m] = first[0] + scores.left[STRAIGHT, e, m]
            left[INVERTED, e, m] = first[1] + scores.left[INVERTED, e, m]
            right[e, m, STRAIGHT] = straight = second[0] + scores.right[e, m, STRAIGHT]
            right[e, m, INVERTED] = inverted = second[1] + scores.right[e, m, INVERTED]
            lanes = (pivot[m, 0], pivot[m, 1], pivot[m, 2], pivot[m, 3])
            more = (pivot[m, 4], pivot[m, 5], pivot[m, 6], pivot[m, 7])
            row, child = node_index(m, e), m * left.shape[2]
            inverse = row + node.shape[1], child + left.shape[1] * left.shape[2]
            for b in range(0, m, BLOCK):
                raise_best(best, b, node, left, ((row, child), inverse), (straight, inverted), lanes + more)
    return left, right


@numba.njit(inline="always")
def _best_child(best, span, b, e):
    """Return the best score of a span as left child and as right child, of a parent of each label."""
    at = b // BLOCK * BLOCK * INNER_LANES + b % BLOCK
    lane0 = best[at] + span[b, e, 0]
    lane1 = best[at + BLOCK] + span[b, e, 1]
    lane2 = best[at + 2 * BLOCK] + span[b, e, 2]
    lane3 = best[at + 3 * BLOCK] + span[b, e, 3]
    lane4 = best[at + 4 * BLOCK] + span[b, e, 4]
    lane5 = best[at + 5 * BLOCK] + span[b, e, 5]
    lane6 = best[at + 6 * BLOCK] + span[b, e, 6]
    lane7 = best[at + 7 * BLOCK] + span[b, e, 7]
    return (max(lane0, lane1), max(lane4, lane5)), (max(lane2, lane3), max(lane6, lane7))


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
        best, split, chosen = LOWEST, -1, -1
        for label in range(LABELS):
            lane = context * LABELS + label
            for m in range(b + 1, e):
                score = node[label, node_index(m, e) + b] + left[label, m, b] + right[e, m, label]
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
