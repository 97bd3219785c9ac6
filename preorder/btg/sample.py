"""A tree drawn by its probability: from the root down, each node by its share of the trees of its span."""

from __future__ import annotations

import numpy as np

from preorder.btg.grammar import LABELS, LEFT, NODE_FIELDS, RIGHT
from preorder.btg.scores import allocate_scores, check_finite, set_parts
from preorder.btg.sums import all_sums, label_weights, node_weights
from preorder.compiled import entry_point, inner


def draw_trees(parts: np.ndarray, root: int, uniforms: np.ndarray) -> np.ndarray:
    """Return a tree for each of equally long sentences: int32 ``[batch, n - 1, NODE_FIELDS]``.

    Args:
        parts: float32 ``[batch, PARTS, LABELS, n + 1, n + 1]``; see :mod:`preorder.btg.scores`.
        root: context of the whole trees, ROOT but for a piece of a longer sentence.
        uniforms: float64 ``[batch, n]``, from [0, 1): all that the draws depend on; the last is not used.

    Raises:
        NotFiniteError: a score is infinite or no number.
    """
    check_finite(parts)
    trees = np.empty((len(parts), parts.shape[-1] - 2, NODE_FIELDS), np.int32)
    _fill_trees(parts, root, uniforms, trees)
    return trees


@entry_point
def _fill_trees(parts, root, uniforms, trees):
    n = parts.shape[-1] - 1
    scores = allocate_scores(n)
    for sentence in range(parts.shape[0] if n > 1 else 0):
        set_parts(parts[sentence], scores)
        draw_tree(scores, root, 1.0, uniforms[sentence], trees[sentence])


@inner
def draw_tree(scores, root, rate, uniforms, nodes):
    """Draw a tree by exp(rate · score); O(n³) for the sums (:mod:`preorder.btg.sums`), O(n²) to draw.

    Args:
        scores: of the sentence of n >= 2 tokens, :class:`preorder.btg.scores.Scores`.
        root: context of the whole.
        rate: one over the temperature of the scores.
        uniforms: float64, a number from [0, 1) for each node.
        nodes: int32 ``[n - 1, NODE_FIELDS]``, filled: parents before children.
    """
    n = nodes.shape[0] + 1
    sums, weights = all_sums(scores, n, rate), np.empty((LABELS, n))
    stack = np.empty((n + 1, 3), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, n, root
    depth = 1
    for count in range(n - 1):
        depth -= 1
        b, e, context = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        node_weights(scores, sums, rate, b, e, weights)
        _, shares = label_weights(scores, sums, rate, (b, e, context), weights)
        label, m = _drawn(sums.factor[context], (b, e), weights, shares, uniforms[count])
        nodes[count, 0], nodes[count, 1], nodes[count, 2] = b, m, e
        nodes[count, 3], nodes[count, 4] = label, context
        if e - m > 1:
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = m, e, label * 2 + RIGHT
            depth += 1
        if m - b > 1:
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = b, m, label * 2 + LEFT
            depth += 1


@inner
def _drawn(factor, span, weights, shares, number):
    """Return label and split of a node of a span, by a number from [0, 1)."""
    b, e = span
    label, split = 0, b + 1
    reached = 0.0
    for k in range(LABELS * (e - b - 1)):
        one, m = divmod(k, e - b - 1)
        probability = shares[one] * weights[one, m] * factor[one, b + 1 + m]
        if probability > 0:
            label, split = one, b + 1 + m  # where rounding leaves less than one for all, the last
            reached += probability
            if number < reached:
                break
    return label, split
