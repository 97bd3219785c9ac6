"""What it costs a BTG tree to violate links that are less than certain.

Let c(i) be the confidence of token i: that of its links. A node violates a constraint where tokens of the
child that it puts first belong after tokens of the other child; these tokens of either child are at fault.
The node would be valid if the links of all those of one child were wrong. The evidence against it is that of
the child with less of it::

    K(node) = min over both children of the sum over its tokens at fault of -log(1 - c(i))

So exp(-K) is how probable it is that these links are wrong, and 1 - exp(-K), the node's fault, 0 to 1, that
one of them is right. A node whose children both have certain tokens at fault is ``FORBIDDEN``: K is infinite.
The K of a tree is the sum of those of its nodes. Where all links are certain, fault is 1 for a node that
violates and 0 for a valid one, and just the trees of valid nodes have a finite K.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from preorder.btg.constraint import CERTAIN_EVIDENCE
from preorder.btg.grammar import STRAIGHT
from preorder.btg.scores import FORBIDDEN, node_index
from preorder.compiled import inner

UNBEARABLE = CERTAIN_EVIDENCE / 2
"""K from which on a node is forbidden: more than the sum of all that is less than certain."""


class Sums(NamedTuple):
    """Evidence of those of the first x tokens whose groups are above v, or below: float64 ``[x, v]``."""

    above: np.ndarray
    below: np.ndarray


@inner
def evidence_sums(groups, evidence):
    """Return the :class:`Sums` of a sentence, given its target groups, below n, and the tokens' evidence."""
    n = groups.size
    above, below = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    for x in range(n):
        for v in range(n + 1):
            above[x + 1, v] = above[x, v] + (evidence[x] if groups[x] > v else 0.0)
            below[x + 1, v] = below[x, v] + (evidence[x] if 0 <= groups[x] < v else 0.0)
    return Sums(above, below)


@inner
def evidence_against(sums, bounds, b, m, e, label):
    """Return K of a node, 0 if it is valid."""
    n = sums.above.shape[0] - 1
    if label == STRAIGHT:
        low, high = min(bounds.low_by_end[e, m], n), max(bounds.high_by_end[m, b], 0)
        left = sums.above[m, low] - sums.above[b, low]
        right = sums.below[e, high] - sums.below[m, high]
    else:
        low, high = min(bounds.low_by_end[m, b], n), max(bounds.high_by_end[e, m], 0)
        left = sums.below[m, high] - sums.below[b, high]
        right = sums.above[e, low] - sums.above[m, low]
    return min(left, right)


@inner
def fault(k):
    """Return the fault of a node of some K, 0 to 1."""
    return -np.expm1(-k)


@inner
def add_faults(sums, bounds, n, cost, node):
    """Add ``cost`` times its fault to the score of every node."""
    for e in range(2, n + 1):
        for m in range(1, e):
            first = node_index(m, e)
            for b in range(m):
                for label in range(node.shape[0]):
                    k = evidence_against(sums, bounds, b, m, e, label)
                    if k > 0:
                        node[label, first + b] += np.float32(cost * fault(k))


@inner
def faults_to_penalties(sums, bounds, n, cost, node):
    """Take from every node what :func:`add_faults` added, and ``cost`` times its K, if that is finite."""
    for e in range(2, n + 1):
        for m in range(1, e):
            first = node_index(m, e)
            for b in range(m):
                for label in range(node.shape[0]):
                    k = evidence_against(sums, bounds, b, m, e, label)
                    if k >= UNBEARABLE:
                        node[label, first + b] += FORBIDDEN
                    elif k > 0:
                        node[label, first + b] -= np.float32(cost * (fault(k) + k))


@inner
def fault_and_evidence(sums, bounds, nodes):
    """Return the sums of a tree's faults, and of its K."""
    faults, total = 0.0, 0.0
    for row in range(nodes.shape[0]):
        k = evidence_against(sums, bounds, nodes[row, 0], nodes[row, 1], nodes[row, 2], nodes[row, 3])
        faults, total = faults + fault(k), total + k
    return faults, total
