"""The labels that give the highest Kendall's tau, and so the best order that trees allow.

The order of two tokens is decided by one node alone, the lowest above both. So a node is best
inverted when more pairs of its children's tokens are reversed than in order, whatever the labels of
other nodes are, and these labels together are the best of all (Hoshino et al. 2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

import numpy as np

from preorder.alignment.gold import gold_permutation
from preorder.alignment.target_groups import UNALIGNED, target_groups
from preorder.compiled import entry_point
from preorder.data import Alignment, Bitext
from preorder.methods.node_labels.forest import Forest, positions
from preorder.metrics.orders import mean_scores, order_statistics

IN_ORDER, REVERSED, TIED = range(3)


def keys(alignment: Alignment, length: int, every: bool = False) -> Sequence[int]:
    """Return where each token belongs, or ``UNALIGNED``.

    That is its target group; where these have no order, its position in the gold order; that of ``every``
    token, the unaligned ones too, is always that position.

    Raises:
        DataError: a link is out of range.
    """
    gold = gold_permutation(alignment, length).positions
    if every:
        return gold
    if (groups := target_groups(alignment, length)) is not None:
        return groups
    return [p if targets else UNALIGNED for p, targets in zip(gold, alignment.targets(length), strict=True)]


def flat_keys(bitext: Bitext, every: bool = False) -> np.ndarray:
    """Return the :func:`keys` of all tokens, one sentence after another: int32 ``[tokens]``.

    Raises:
        DataError: a link is out of range.
    """
    pairs = zip(bitext.sentences, bitext.alignments, strict=True)
    flat = (key for sentence, alignment in pairs for key in keys(alignment, len(sentence), every))
    return np.fromiter(flat, np.int32, sum(map(len, bitext.sentences)))


def count_pairs(trees: Forest, flat: np.ndarray) -> np.ndarray:
    """Count the pairs that each node decides: int64 ``[nodes, 3]``, a row for each of ``trees.rows``.

    A pair has a token of the left child and one of the right. The columns count those whose ``flat`` keys are
    in order, reversed, and tied; unaligned tokens and sentences without a parse are in none. O(n²) a sentence
    of n tokens.
    """
    counts = np.zeros((len(trees.nodes), 3), np.int64)
    _count_pairs(trees.nodes, flat, trees.starts, trees.lengths, counts)
    return counts[trees.rows] * trees.free[:, None]


@entry_point
def _count_pairs(nodes, keys, starts, lengths, counts):
    for s in range(starts.size):
        first = starts[s]
        for row in range(first, first + lengths[s] - 1):
            b, m, e = nodes[row, 0] + first, nodes[row, 1] + first, nodes[row, 2] + first
            for i in range(b, m):
                for j in range(m, e):
                    if keys[i] >= 0 and keys[j] >= 0:
                        counts[row, (keys[i] >= keys[j]) + (keys[i] == keys[j])] += 1


def best_labels(counts: np.ndarray) -> np.ndarray:
    """Return for each node whether it is best inverted, bool ``[nodes]``; not where straight is as good."""
    return counts[:, REVERSED] > counts[:, IN_ORDER]


def allowed(trees: Forest, bitext: Bitext, every: bool = False) -> float:
    """Return the tau_nakagawa of the best order that trees allow.

    It is that of the aligned tokens, in sentences whose target groups have an order, or of ``every`` token.
    """
    flat = flat_keys(bitext, every)
    ordered = positions(trees, best_labels(count_pairs(trees, flat)))
    parts, orders = np.split(flat, trees.starts[1:]), np.split(ordered, trees.starts[1:])
    pairs = zip(bitext.sentences, bitext.alignments, strict=True)
    sortable = [every or target_groups(a, len(s)) is not None for s, a in pairs]
    statistics = order_statistics(list(compress(parts, sortable)), list(compress(orders, sortable)))
    return mean_scores(statistics).tau_nakagawa if any(sortable) else 1.0
