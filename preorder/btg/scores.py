"""What nodes score, in the two layouts of this package.

*Parts*, ``[batch, PARTS, LABELS, n + 1, n + 1]``, of equally long sentences, are what a network gives::

    node(b, m, e, label) = parts[FIRST, label, b, m] + parts[SECOND, label, m, e] + parts[WHOLE, label, b, e]

of which only the upper triangles count. :class:`Scores` of one sentence have terms for the context and
for begin, split and end together as well, and lie as the compiled search reads them::

    node(b, m, e, label, context) = node(b, m, e, label) + left(b, m, label) + right(m, e, label)
                                  + span(b, e, context, label) + pivot(m, context, label)
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from preorder.btg.grammar import CONTEXTS, LABELS, LANES
from preorder.compiled import inner
from preorder.errors import NotFiniteError

VECTOR = 8  # numbers of a vector; arrays that are read by vectors have one vector more
FIRST, SECOND, WHOLE = range(3)
PARTS = 3
FORBIDDEN = np.float32(-1e30)  # score of a forbidden node; thousands of them sum to a finite number


class Scores(NamedTuple):
    """The terms of the scores of one sentence of n tokens, float32; b, m, e from 0 to n."""

    node: np.ndarray  # [label, node_index(m, e) + b], and a vector more
    left: np.ndarray  # [label, m, b]
    right: np.ndarray  # [e, m, label]
    span: np.ndarray  # [b, e, lane]
    pivot: np.ndarray  # [m, lane]


def check_finite(parts: np.ndarray) -> None:
    """Check the parts that a network gives."""
    if not np.isfinite(parts).all():
        raise NotFiniteError("the scores")


@numba.njit(inline="always")
def node_index(m, e):
    """Return the index of the node that begins at 0, splits at m and ends at e; begin b is b further."""
    return e * (e - 1) * (e - 2) // 6 + m * (m - 1) // 2


@numba.njit(inline="always")
def node_count(n):
    """Return how many nodes of one label n tokens have."""
    return n * (n - 1) * (n + 1) // 6


@inner
def allocate_scores(n):
    """Return scores for :func:`set_parts` to fill; the terms that parts lack are zero."""
    return Scores(
        np.zeros((LABELS, node_count(n) + VECTOR), np.float32),
        np.empty((LABELS, n + 1, n + 1), np.float32),
        np.empty((n + 1, n + 1, LABELS), np.float32),
        np.empty((n + 1, n + 1, LANES), np.float32),
        np.zeros((n + 1, LANES), np.float32),
    )


@inner
def set_parts(parts, scores):
    """Write the parts of a sentence, ``[PARTS, LABELS, n + 1, n + 1]``, where the search reads them."""
    n = parts.shape[-1] - 1
    for label in range(LABELS):
        for b in range(n):
            for e in range(b + 1, n + 1):
                scores.left[label, e, b] = parts[FIRST, label, b, e]
                scores.right[e, b, label] = parts[SECOND, label, b, e]
                for context in range(CONTEXTS):
                    scores.span[b, e, context * LABELS + label] = parts[WHOLE, label, b, e]
