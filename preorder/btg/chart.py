"""The best BTG tree of a sentence, exactly: Viterbi over (span, context), O(n³).

The context of a span is its parent's label and which child it is (features.CONTEXTS). The
same search finds the best tree of all, the best of those that a constraint allows, and the
one that best combines score and violations: a node that violates the constraint scores
``violation`` more, which is 0, minus infinity, or a cost.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from preorder.btg.features import INVERTED, LABELS, STRAIGHT
from preorder.btg.scores import EXACT, node_scores

FORBIDDEN = np.float32(-1e30)
"""What a forbidden node scores; a sum of thousands of them is still finite."""

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


@numba.njit
def group_bounds(groups):
    """Return the :class:`Bounds` of a sentence's target groups (-1: none)."""
    n = groups.size
    low = np.full((n + 1, n + 1), NONE_LOW, np.int32)
    high = np.full((n + 1, n + 1), NONE_HIGH, np.int32)
    for b in range(n):
        lowest, highest = NONE_LOW, NONE_HIGH
        for e in range(b + 1, n + 1):
            if groups[e - 1] >= 0:
                lowest, highest = min(lowest, groups[e - 1]), max(highest, groups[e - 1])
            low[b, e], high[b, e] = lowest, highest
    return Bounds(low, high, low.T.copy(), high.T.copy())


@numba.njit(inline="always")
def violates(bounds, b, m, e, label):
    """Say whether a node parts two tokens against their groups."""
    if label == STRAIGHT:
        return bounds.high[b, m] > bounds.low[m, e]
    return bounds.high[m, e] > bounds.low[b, m]


@numba.njit
def _add_violations(bounds, violation, b, e, out):
    """Add ``violation`` to the score of every split and label of a span that violates the groups."""
    low_left, high_left = bounds.low[b, b + 1 : e], bounds.high[b, b + 1 : e]
    low_right, high_right = bounds.low_by_end[e, b + 1 : e], bounds.high_by_end[e, b + 1 : e]
    straight, inverted = out[STRAIGHT], out[INVERTED]
    for i in range(e - b - 1):
        straight[i] += violation if high_left[i] > low_right[i] else np.float32(0)
        inverted[i] += violation if high_right[i] > low_left[i] else np.float32(0)


@numba.njit(fastmath=EXACT)
def _best_split(nodes, pivot):
    """Return the greatest sum of a node's score and its split's score in a context."""
    best = np.float32(2) * FORBIDDEN * np.float32(1e4)
    for i in range(nodes.size):
        best = max(best, nodes[i] + pivot[i])
    return best


@numba.njit
def _best_node(scores, nodes, b, e, context):
    """Return the score of a span's best tree in a context."""
    straight, inverted = context * LABELS + STRAIGHT, context * LABELS + INVERTED
    return max(
        _best_split(nodes[STRAIGHT, : e - b - 1], scores.pivot[straight, b + 1 : e])
        + scores.span[b, e, straight],
        _best_split(nodes[INVERTED, : e - b - 1], scores.pivot[inverted, b + 1 : e])
        + scores.span[b, e, inverted],
    )


@numba.njit
def best_tree(tables, shape, scores, n, root, bounds, violation, nodes):
    """Find the best tree of a sentence of at least two tokens and return its score.

    Args:
        tables, shape: the model, and its ``shape_scores`` up to n.
        scores: of the sentence, as fresh from ``score_sentence``; ``left`` and ``right`` are
            used up.
        n: tokens.
        root: context of the whole, ROOT but for a part of a longer sentence.
        bounds: of the target groups; not looked at where ``violation`` is 0.
        violation: float32, added to the score of every node that violates the groups.
        nodes: int32 ``[n - 1, NODE_FIELDS]``, filled: parents before children.
    """
    work = np.empty((LABELS, n), np.float32)
    for e in range(2, n + 1):
        for b in range(e - 2, -1, -1):
            if e - b == n:
                break
            _span_scores(tables, shape, scores, b, e, bounds, violation, work)
            for label in range(LABELS):  # of the parent
                scores.left[label, b, e] += _best_node(scores, work, b, e, 2 * label)
                scores.right[label, e, b] += _best_node(scores, work, b, e, 2 * label + 1)
    return _read_tree(tables, shape, scores, n, root, bounds, violation, work, nodes)


@numba.njit
def _span_scores(tables, shape, scores, b, e, bounds, violation, out):
    node_scores(tables, shape, scores, b, e, out)
    if violation != 0:
        _add_violations(bounds, violation, b, e, out)


@numba.njit
def _read_tree(tables, shape, scores, n, root, bounds, violation, work, nodes):
    """Follow the best choices down from the root; of equal ones the straight, then the leftmost."""
    stack = np.empty((n + 1, 3), np.int32)
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, n, root
    depth, count = 1, 0
    total = np.float32(0)
    while depth:
        depth -= 1
        b, e, context = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        _span_scores(tables, shape, scores, b, e, bounds, violation, work)
        best, split, chosen = np.float32(-np.inf), -1, -1
        for label in range(LABELS):
            place = context * LABELS + label
            for i in range(e - b - 1):
                score = work[label, i] + scores.pivot[place, b + 1 + i] + scores.span[b, e, place]
                if score > best:
                    best, split, chosen = score, b + 1 + i, label
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


@numba.njit
def positions_of(nodes, positions):
    """Write where each token of a tree goes, ``positions[i]``; ``nodes`` has parents before children."""
    n = positions.size
    first = np.zeros(n, np.int32)  # first place of the span that begins at a token, while it is whole
    for k in range(nodes.shape[0]):
        b, m, e = nodes[k, 0], nodes[k, 1], nodes[k, 2]
        place = first[b]
        if nodes[k, 3] == INVERTED:
            first[b], first[m] = place + e - m, place
        else:
            first[m] = place + m - b
    for i in range(n):
        positions[i] = first[i]
