"""The binary trees of sentences as flat arrays, the orders that labels of nodes give, and the best labels.

The nodes are int32 ``[tokens, NODE_FIELDS]``, as :func:`preorder.methods.base.binary_trees` reads them: a
sentence of n tokens fills n - 1 of n rows, parents before children. The lowest node above two tokens
decides their order. So a node is best inverted when more pairs of its children's tokens are reversed than in
order (Hoshino et al. 2015).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from preorder.alignment.gold import UNALIGNED, gold_permutation, target_groups
from preorder.annotate.options import TREES
from preorder.btg.grammar import NODE_FIELDS
from preorder.btg.viterbi import positions_of
from preorder.compiled import entry_point
from preorder.data import Alignment, Bitext, Sentence
from preorder.data.trees import Binarisation
from preorder.errors import UsageError
from preorder.learning.encode import lengths_of
from preorder.metrics.orders import TAU_NAKAGAWA, sentence_scores
from preorder.syntax.binary import binary_branches

LABEL = 3  # the field of a node that holds its label: 0 straight, 1 inverted
NO_PARENT = -1  # the parent of a node that has none


class Forest(NamedTuple):
    """Binary trees of sentences, one after another."""

    nodes: np.ndarray  # int32 [tokens, NODE_FIELDS], all straight
    categories: list[str]  # of the node of each row; empty strings in rows without a node
    lengths: np.ndarray  # int64 [sentences], numbers of tokens
    flat: np.ndarray  # bool [sentences], whether there is no parse: all nodes are straight

    @property
    def starts(self) -> np.ndarray:
        """Row of each sentence's first node, which is also the flat index of its first token."""
        return np.cumsum(self.lengths) - self.lengths

    @property
    def rows(self) -> np.ndarray:
        """Rows that hold a node, ascending."""
        filled = np.ones(len(self.nodes), bool)
        filled[(np.cumsum(self.lengths) - 1)[self.lengths > 0]] = False
        return np.flatnonzero(filled)

    @property
    def free(self) -> np.ndarray:
        """Whether each of ``rows`` may be inverted: bool ``[nodes]``."""
        return np.repeat(~self.flat, np.maximum(self.lengths - 1, 0))


def forest(sentences: Sequence[Sentence], how: Binarisation) -> Forest:
    """Make the trees of sentences binary; some 30 µs a sentence of nine tokens."""
    lengths = lengths_of(sentences)
    categories: list[str] = []
    fields = np.fromiter(_fields(sentences, how, categories), np.int32, NODE_FIELDS * int(lengths.sum()))
    flat = np.fromiter((sentence.is_flat for sentence in sentences), np.bool_, len(sentences))
    return Forest(fields.reshape(-1, NODE_FIELDS), categories, lengths, flat)


def _fields(sentences: Sequence[Sentence], how: Binarisation, categories: list[str]) -> Iterator[int]:
    for sentence in sentences:
        for begin, split, end, category in binary_branches(sentence, how) if len(sentence) > 1 else ():
            categories.append(category)
            yield from (begin, split, end, 0, 0)
        if sentence.words:
            categories.append("")
            yield from (0,) * NODE_FIELDS


class Relations(NamedTuple):
    """Children, parents and heights of the nodes of a forest: int64, a row for each of its ``nodes``."""

    children: np.ndarray  # [tokens, 2], where a sentence's token i has the number i and its k-th node n + k
    parents: np.ndarray  # [tokens], twice the row of the parent, plus one for a right child; or NO_PARENT
    heights: np.ndarray  # [tokens], one more than that of the higher child; that of a token is 0


@entry_point
def find_relations(nodes, starts, lengths):
    """Return the children, parents and heights of a forest's nodes; linear."""
    size = nodes.shape[0]
    children, parents = np.zeros((size, 2), np.int64), np.full(size, NO_PARENT, np.int64)
    heights = np.zeros(size, np.int64)
    for s in range(starts.size):
        first, n = starts[s], lengths[s]
        largest = np.arange(n)  # of the subtrees seen that begin at a token: parents come before children
        for k in range(n - 2, -1, -1):
            row = first + k
            highest = 0
            for side in range(2):
                child = largest[nodes[row, side]]  # fields: begin, split
                children[row, side] = child
                if child >= n:
                    parents[first + child - n] = 2 * row + side
                    highest = max(highest, heights[first + child - n])
            heights[row] = highest + 1
            largest[nodes[row, 0]] = n + k
    return Relations(children, parents, heights)


def labelled(trees: Forest, labels: np.ndarray) -> np.ndarray:
    """Return the nodes with labels, bool, one for each of ``trees.rows``."""
    nodes = trees.nodes.copy()
    nodes[trees.rows, LABEL] = labels & trees.free
    return nodes


def positions(trees: Forest, labels: np.ndarray) -> np.ndarray:
    """Return the position of each token, int32 ``[tokens]``, by labels of each of ``trees.rows``."""
    return _positions(labelled(trees, labels), trees.starts, trees.lengths)


@entry_point
def _positions(nodes, starts, lengths):
    result = np.empty(nodes.shape[0], np.int32)
    for s in range(starts.size):
        begin, end = starts[s], starts[s] + lengths[s]
        if end > begin:
            positions_of(nodes[begin : end - 1], result[begin:end])
    return result


IN_ORDER, REVERSED, TIED = range(3)


def keys(alignment: Alignment, length: int, every: bool = False) -> Sequence[int]:
    """Return the target group of each token, or ``UNALIGNED``; where these have no order, its gold position.

    That of ``every`` token, the unaligned ones too, is always its position in the gold order.
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

    The columns count those whose ``flat`` keys are in order, reversed, and tied; none of unaligned tokens or
    of sentences without a parse. O(n²) a sentence.
    """
    return _count_pairs(trees.nodes, flat, trees.starts, trees.lengths)[trees.rows] * trees.free[:, None]


@entry_point
def _count_pairs(nodes, keys, starts, lengths):
    counts = np.zeros((nodes.shape[0], 3), np.int64)
    for s in range(starts.size):
        first = starts[s]
        for row in range(first, first + lengths[s] - 1):
            b, m, e = nodes[row, 0] + first, nodes[row, 1] + first, nodes[row, 2] + first
            for i in range(b, m):
                for j in range(m, e):
                    if keys[i] >= 0 and keys[j] >= 0:
                        counts[row, (keys[i] >= keys[j]) + (keys[i] == keys[j])] += 1
    return counts


def best_labels(counts: np.ndarray) -> np.ndarray:
    """Return for each node whether it is best inverted, bool ``[nodes]``; not where straight is as good."""
    return counts[:, REVERSED] > counts[:, IN_ORDER]


def allowed(trees: Forest, bitext: Bitext, every: bool = False) -> float:
    """Return the tau_nakagawa of the best order that trees allow, of aligned tokens or of ``every`` token."""
    flat = flat_keys(bitext, every)
    ordered = positions(trees, best_labels(count_pairs(trees, flat)))
    parts, orders = np.split(flat, trees.starts[1:]), np.split(ordered, trees.starts[1:])
    pairs = zip(bitext.sentences, bitext.alignments, strict=True)
    sortable = [every or target_groups(a, len(s)) is not None for s, a in pairs]
    scores = sentence_scores(list(compress(parts, sortable)), list(compress(orders, sortable)))
    return float(scores[:, TAU_NAKAGAWA].mean()) if any(sortable) else 1.0


def kind_of(sentences: Sequence[Sentence]) -> str:
    """Return the kind of the trees of sentences, all of which need trees of one kind, and tags."""
    kinds = [kind for kind in TREES if any(getattr(sentence, kind) is not None for sentence in sentences)]
    if not kinds or any(sentence.tree is None for sentence in sentences):
        raise UsageError("the method needs syntax trees (`trees`), and none are given")
    if len(kinds) > 1:
        raise UsageError("constituency and dependency trees are mixed")
    if any(sentence.tags is None for sentence in sentences):
        raise UsageError("the method needs POS tags (`tags`), and none are given")
    return kinds[0]
