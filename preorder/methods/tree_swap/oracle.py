"""The labels that give the highest Kendall's tau, and what training learns from them.

One node alone decides the order of two tokens, the lowest above both. So a node is best inverted when more
pairs of its children's tokens are reversed than in order, whatever the labels of other nodes are, and these
labels together are the best of all (Hoshino et al. 2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from preorder.alignment.gold import UNALIGNED, gold_permutation, target_groups
from preorder.compiled import entry_point
from preorder.data import Alignment, Bitext, Sentence
from preorder.data.trees import Binarisation
from preorder.errors import UsageError
from preorder.learning.encode import common_layers
from preorder.methods.tree_swap.trees import Forest, forest, positions
from preorder.metrics.orders import mean_scores, order_statistics
from preorder.progress import LOGGER

IN_ORDER, REVERSED, TIED = range(3)


def keys(alignment: Alignment, length: int, every: bool = False) -> Sequence[int]:
    """Return where each token belongs, or ``UNALIGNED``.

    That is its target group; where these have no order, its position in the gold order; that of ``every``
    token, the unaligned ones too, is always that position.
    """
    gold = gold_permutation(alignment, length).positions
    if every:
        return gold
    if (groups := target_groups(alignment, length)) is not None:
        return groups
    return [p if targets else UNALIGNED for p, targets in zip(gold, alignment.targets(length), strict=True)]


def flat_keys(bitext: Bitext, every: bool = False) -> np.ndarray:
    """Return the :func:`keys` of all tokens, one sentence after another: int32 ``[tokens]``."""
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


KINDS = ("constituency", "dependency")
"""Kinds of syntax trees, by the names of the attributes of a :class:`Sentence`."""


class TrainingData(NamedTuple):
    """Sentences with trees, and which labels their alignments ask for."""

    sentences: Sequence[Sentence]
    trees: Forest
    kind: str  # of the trees, one of the KINDS
    layers: list[str]  # of tokens, those that all sentences have, held-out ones too
    counts: np.ndarray  # of count_pairs
    statistics: dict[str, float]  # for model.json


def training_data(bitext: Bitext, held_out: Bitext, how: Binarisation) -> TrainingData:
    """Collect the training data, and log how good an order the trees allow.

    The statistics are the number of ``nodes`` that decide about aligned tokens, how many are best
    ``inverted``, and the tau_nakagawa that is :func:`allowed`, over aligned tokens and over all.
    """
    lines = (*bitext.sentences, *held_out.sentences)
    kind = kind_of(lines)
    trees = forest(bitext.sentences, how)
    counts = count_pairs(trees, flat_keys(bitext))
    if not counts.any():
        raise UsageError("no node of the trees has an aligned token in both of its children")
    aligned, everything = allowed(trees, bitext), allowed(trees, bitext, every=True)
    LOGGER.info(
        f"the best order that the trees allow has a tau_nakagawa of {aligned:.4f} over aligned tokens, "
        f"{everything:.4f} over all"
    )
    statistics = {
        "nodes": int(counts.any(axis=1).sum()),
        "inverted": int(best_labels(counts).sum()),
        "allowed_aligned": aligned,
        "allowed_all": everything,
    }
    return TrainingData(bitext.sentences, trees, kind, common_layers(lines), counts, statistics)


def kind_of(sentences: Sequence[Sentence]) -> str:
    """Return the kind of the trees of sentences, all of which need trees of one kind, and tags."""
    kinds = [kind for kind in KINDS if any(getattr(sentence, kind) is not None for sentence in sentences)]
    if not kinds or any(sentence.tree is None for sentence in sentences):
        raise UsageError("the method needs syntax trees (--trees), and none are given")
    if len(kinds) > 1:
        raise UsageError("constituency and dependency trees are mixed")
    if any(sentence.tags is None for sentence in sentences):
        raise UsageError("the method needs POS tags (--pos), and none are given")
    return kinds[0]
