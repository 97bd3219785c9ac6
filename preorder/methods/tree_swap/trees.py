"""The binary trees of sentences as flat arrays, and the orders that labels of their nodes give.

The nodes are laid out as :func:`preorder.methods.base.binary_trees` reads them: int32
``[tokens, NODE_FIELDS]``, where a sentence of n tokens has n rows and fills the first n - 1 of them, parents
before children; the fields are begin, split, end, label, and one that is not used here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from preorder.btg.grammar import NODE_FIELDS
from preorder.btg.viterbi import positions_of
from preorder.compiled import entry_point
from preorder.data import Sentence
from preorder.data.trees import Binarisation
from preorder.syntax.binary import binary_branches

LABEL = 3
"""The field of a node that holds its label: 0 straight, 1 inverted."""

ROOT = -1
"""Stands for the parent of a node that has none."""


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
    lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
    categories: list[str] = []
    fields = np.fromiter(_fields(sentences, how, categories), np.int32, NODE_FIELDS * int(lengths.sum()))
    flat = np.fromiter((sentence.tree.is_flat for sentence in sentences), bool, len(sentences))
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
    parents: np.ndarray  # [tokens], twice the row of the parent, plus one for a right child; or ROOT
    heights: np.ndarray  # [tokens], one more than that of the higher child; that of a token is 0


def relations_of(trees: Forest) -> Relations:
    """Find the children, parents and heights of all nodes; linear, compiled."""
    size = len(trees.nodes)
    children, parents = np.zeros((size, 2), np.int64), np.full(size, ROOT, np.int64)
    relations = Relations(children, parents, np.zeros(size, np.int64))
    _find_relations(trees.nodes, trees.starts, trees.lengths, *relations)
    return relations


@entry_point
def _find_relations(nodes, starts, lengths, children, parents, heights):
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


def labelled(trees: Forest, labels: np.ndarray) -> np.ndarray:
    """Return the nodes with labels, bool, one for each of ``trees.rows``."""
    nodes = trees.nodes.copy()
    nodes[trees.rows, LABEL] = labels & trees.free
    return nodes


def positions(trees: Forest, labels: np.ndarray) -> np.ndarray:
    """Return the position of each token, int32 ``[tokens]``, by labels of each of ``trees.rows``."""
    result = np.empty(len(trees.nodes), np.int32)
    _positions(labelled(trees, labels), trees.starts, trees.lengths, result)
    return result


@entry_point
def _positions(nodes, starts, lengths, result):
    for s in range(starts.size):
        begin, end = starts[s], starts[s] + lengths[s]
        if end > begin:
            positions_of(nodes[begin : end - 1], result[begin:end])
