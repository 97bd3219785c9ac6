"""Trees and orders of a batch, from flat arrays to a value a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from preorder.btg.features import INVERTED
from preorder.types import BinaryTree, Node, Permutation, Sentence


def permutations(positions: np.ndarray, sentences: Sequence[Sentence]) -> list[Permutation]:
    """Return the reordering of each sentence; ``positions`` has those of all tokens, one after another."""
    return [Permutation(tuple(part)) for part in _divide(positions.tolist(), sentences)]


def binary_trees(nodes: np.ndarray, sentences: Sequence[Sentence]) -> list[BinaryTree]:
    """Return the tree of each sentence; ``nodes`` as of :func:`preorder.btg.parse.parse`."""
    return [
        BinaryTree(len(part), tuple(Node(b, m, e, label == INVERTED) for b, m, e, label, _ in part[:-1]))
        for part in _divide(nodes.tolist(), sentences)
    ]


def _divide(flat: list[Any], sentences: Sequence[Sentence]) -> list[list[Any]]:
    """Cut what is one item a token into sentences."""
    parts, begin = [], 0
    for sentence in sentences:
        parts.append(flat[begin : begin + len(sentence)])
        begin += len(sentence)
    return parts
