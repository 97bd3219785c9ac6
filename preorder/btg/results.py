"""Trees and orders of a batch, from flat arrays to a value a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any, TypeVar

import numpy as np

from preorder.btg.features import INVERTED
from preorder.btg.nbest import NBest
from preorder.types import BinaryTree, Node, Permutation, Sentence

T = TypeVar("T")


def permutations(positions: np.ndarray, sentences: Sequence[Sentence]) -> list[Permutation]:
    """Return the reordering of each sentence; ``positions`` has those of all tokens, one after another."""
    return list(map(_permutation, _divide(positions.tolist(), map(len, sentences))))


def binary_trees(nodes: np.ndarray, sentences: Sequence[Sentence]) -> list[BinaryTree]:
    """Return the tree of each sentence; ``nodes`` as of :func:`preorder.btg.parse.parse`."""
    return list(map(_tree, _divide(nodes.tolist(), map(len, sentences))))


def ranked_permutations(best: NBest, sentences: Sequence[Sentence]) -> list[list[tuple[float, Permutation]]]:
    """Return the best reorderings of each sentence with their scores."""
    return _ranked(best, best.positions, _permutation, sentences)


def ranked_trees(best: NBest, sentences: Sequence[Sentence]) -> list[list[tuple[float, BinaryTree]]]:
    """Return the trees behind the best reorderings of each sentence, with their scores."""
    return _ranked(best, best.nodes, _tree, sentences)


def _ranked(
    best: NBest, items: np.ndarray, make: Callable[[list[Any]], T], sentences: Sequence[Sentence]
) -> list[list[tuple[float, T]]]:
    lengths = np.repeat(np.fromiter(map(len, sentences), np.int64, len(sentences)), best.counts)
    made = map(make, _divide(items.tolist(), lengths.tolist()))
    return _divide(list(zip(best.totals.tolist(), made, strict=True)), best.counts.tolist())


def _permutation(positions: list[int]) -> Permutation:
    return Permutation(tuple(positions))


def _tree(nodes: list[list[int]]) -> BinaryTree:
    return BinaryTree(len(nodes), tuple(Node(b, m, e, label == INVERTED) for b, m, e, label, _ in nodes[:-1]))


def _divide(flat: list[T], lengths: Iterable[int]) -> list[list[T]]:
    """Cut a list into parts of the given lengths."""
    return [flat[begin:end] for begin, end in pairwise(accumulate(lengths, initial=0))]
