"""What a node scores by its shape alone: the sizes of its children and its context, no tokens."""

from __future__ import annotations

import numba
import numpy as np

from preorder.btg.grammar import LABELS
from preorder.btg.scores import node_index
from preorder.btg.vector import VECTOR, copy_vector
from preorder.compiled import entry_point, inner
from preorder.methods.perceptron import features


@entry_point
def shape_scores(weights, max_tokens):
    """Return what a node of at most that many tokens scores by the sizes of its children.

    ``weights`` is the dense table, ``[SHAPES, LABELS]``; the scores are float32
    ``[label, size of the right child, max_tokens - size of the left child]``, and a vector more.
    """
    scores = np.empty((LABELS, max_tokens + 1, max_tokens + VECTOR), np.float32)
    for right in range(1, max_tokens):
        for left in range(1, max_tokens + 1 - right):
            balance, child_sizes = balance_row(left, right), child_sizes_row(left, right)
            for label in range(LABELS):
                scores[label, right, max_tokens - left] = (
                    weights[features.BIAS, label]
                    + weights[size_row(left + right), label]
                    + weights[balance, label]
                    + weights[child_sizes, label]
                )
    return scores


@numba.njit(inline="always")
def balance_row(left, right):
    """Return the row of the balance of two children."""
    return features.BALANCE + (0 if right < left else 1 if right > left else 2)


@numba.njit(inline="always")
def size_row(size):
    """Return the row of a node's size."""
    return features.SIZE + min(size, features.MAX_SIZE)


@numba.njit(inline="always")
def child_sizes_row(left, right):
    """Return the row of the sizes of two children."""
    size = features.MAX_CHILD_SIZE
    return features.CHILD_SIZES + (size + 1) * min(left, size) + min(right, size)


@inner
def set_shapes(shape, n, node):
    """Set the ``node`` of :class:`preorder.btg.scores.Scores` by the :func:`shape_scores`."""
    last = shape.shape[2] - VECTOR
    for label in range(LABELS):
        for e in range(2, n + 1):
            for m in range(1, e):
                # Vector by vector: what is beyond the last begin is set again with the next split.
                for b in range(0, m, VECTOR):
                    copy_vector(
                        node,
                        label * node.shape[1] + node_index(m, e) + b,
                        shape,
                        (label * shape.shape[1] + e - m) * shape.shape[2] + last - m + b,
                    )
