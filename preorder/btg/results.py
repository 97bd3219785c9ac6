"""Trees and orders of a batch, from flat arrays to a value a sentence; and what preorderers make of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import TypeVar

import numpy as np

from preorder.btg.grammar import INVERTED
from preorder.btg.kbest import ScoredTree
from preorder.btg.viterbi import all_positions
from preorder.data.types import BinaryTree, Node, Permutation, Sentence

T = TypeVar("T")


def permutations(positions: np.ndarray, sentences: Sequence[Sentence]) -> list[Permutation]:
    """Return the reordering of each sentence; ``positions`` has those of all tokens, one after another."""
    return [Permutation(tuple(part)) for part in _divide(positions.tolist(), map(len, sentences))]


def binary_trees(nodes: np.ndarray, sentences: Sequence[Sentence]) -> list[BinaryTree]:
    """Return the tree of each sentence.

    ``nodes`` are int32 ``[tokens, NODE_FIELDS]``, one sentence after another; of the n rows of a sentence of
    n tokens, its tree takes the first n - 1.
    """
    return [_tree(part[:-1], len(part)) for part in _divide(nodes.tolist(), map(len, sentences))]


class TreePreorderer(ABC):
    """A preorderer that finds BTG trees, by whatever scores."""

    @abstractmethod
    def parse(self, sentences: Sequence[Sentence], threads: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the best trees, as :func:`binary_trees` takes them, and positions: int32 ``[tokens]``."""

    @abstractmethod
    def kbest(self, sentences: Sequence[Sentence], k: int, threads: int) -> list[list[ScoredTree]]:
        """Return the best trees of each sentence's k best orders, best first."""

    def order(self, sentences: Sequence[Sentence], threads: int = 1) -> list[Permutation]:
        """Return the reordering of each sentence; costs a :meth:`parse`."""
        return permutations(self.positions(sentences, threads), sentences)

    def positions(self, sentences: Sequence[Sentence], threads: int = 1) -> np.ndarray:
        """Return the positions of :meth:`order`, one sentence after another: int32 ``[tokens]``."""
        return self.parse(sentences, threads)[1]

    def trees(self, sentences: Sequence[Sentence], threads: int = 1) -> list[BinaryTree]:
        """Return the tree behind each reordering."""
        return binary_trees(self.parse(sentences, threads)[0], sentences)

    def best_orders(
        self, sentences: Sequence[Sentence], k: int, threads: int = 1
    ) -> list[list[tuple[float, Permutation]]]:
        """Return the k best distinct reorderings of each sentence with their scores."""
        best = zip(sentences, self.kbest(sentences, k, threads), strict=True)
        return [list(_scored_orders(trees, len(s))) for s, trees in best]

    def best_trees(
        self, sentences: Sequence[Sentence], k: int, threads: int = 1
    ) -> list[list[tuple[float, BinaryTree]]]:
        """Return the best tree behind each of the :meth:`best_orders`, with their scores."""
        best = zip(sentences, self.kbest(sentences, k, threads), strict=True)
        return [
            [(float(score), _tree(nodes.tolist(), len(s))) for score, nodes in trees] for s, trees in best
        ]


def _scored_orders(trees: Sequence[ScoredTree], length: int) -> Iterator[tuple[float, Permutation]]:
    """Yield the scores and orders of trees of one sentence."""
    positions = np.empty((len(trees), length), np.int32)
    if length:
        all_positions(np.stack([nodes for _, nodes in trees]), positions)
    for (score, _), order in zip(trees, positions.tolist(), strict=True):
        yield float(score), Permutation(tuple(order))


def _tree(nodes: Sequence[Sequence[int]], length: int) -> BinaryTree:
    return BinaryTree(length, tuple(Node(b, m, e, label == INVERTED) for b, m, e, label, _ in nodes))


def _divide(flat: list[T], lengths: Iterable[int]) -> list[list[T]]:
    """Cut a list into parts of the given lengths."""
    return [flat[begin:end] for begin, end in pairwise(accumulate(lengths, initial=0))]
