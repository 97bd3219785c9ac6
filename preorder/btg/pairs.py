"""The tree whose order keeps the pairs of tokens in order that gain by it, and inverts the others.

Each pair of tokens is parted by one node, so that what all pairs gain is a sum over nodes, and a node's share
a sum of :mod:`parts <preorder.btg.scores>`. Where ``gain(i, j)``, of i < j, is what it gains to keep i
before j, and loses to invert them::

    node(b, m, e, straight) = sum over b <= i < m <= j < e of gain(i, j)
                            = S(m, e) - S(b, e) + S(b, m) - S(m, m)
    node(b, m, e, inverted) = - node(b, m, e, straight)

where S(p, q) is the sum over i < p, j < q. :mod:`preorder.btg.risk` does the same in torch.
"""

from __future__ import annotations

import numpy as np

from preorder.btg.grammar import INVERTED, LABELS, NODE_FIELDS, ROOT, STRAIGHT
from preorder.btg.scores import FIRST, PARTS, SECOND, WHOLE, allocate_scores, set_parts
from preorder.btg.viterbi import best_scores, positions_of, read_tree
from preorder.compiled import inner


@inner
def order_by_pairs(gains, positions):
    """Write the order that gains most by its pairs of tokens; O(n³).

    Of equal ones it is that of the tree whose nodes split leftmost, and then rather are straight.

    Args:
        gains: whole numbers ``[n, n]``, n >= 2; those of i < j count, exactly where their sum, without signs,
            is at most 2^21.
        positions: int32 ``[n]``, filled.
    """
    n = positions.size
    scores = allocate_scores(n)
    set_parts(_parts(gains), scores)
    left, right = best_scores(scores, n)
    nodes = np.empty((n - 1, NODE_FIELDS), np.int32)
    read_tree(scores, left, right, n, ROOT, True, nodes)
    positions_of(nodes, positions)


@inner
def _parts(gains):
    """Return the parts: float32 ``[PARTS, LABELS, n + 1, n + 1]``."""
    n = gains.shape[0]
    sums = np.zeros((n + 1, n + 1), np.float32)
    for i in range(n):
        for j in range(n):
            gain = gains[i, j] if i < j else 0
            sums[i + 1, j + 1] = sums[i, j + 1] + sums[i + 1, j] - sums[i, j] + gain
    parts = np.empty((PARTS, LABELS, n + 1, n + 1), np.float32)
    parts[FIRST, STRAIGHT] = sums - np.diag(sums)
    parts[SECOND, STRAIGHT] = sums
    parts[WHOLE, STRAIGHT] = -sums
    parts[:, INVERTED] = -parts[:, STRAIGHT]
    return parts
