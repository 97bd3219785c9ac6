"""Trees and orders of a batch, from flat arrays to a value a sentence; and what every chart parser gives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any, TypeVar

import numpy as np

from preorder.btg.nbest import NBest
from preorder.data.types import BinaryTree, Node, Permutation, Sentence
from preorder.methods.perceptron.features import INVERTED

T = TypeVar("T")


def permutations(positions: np.ndarray, sentences: Sequence[Sentence]) -> list[Permutation]:
    """Return the reordering of each sentence; ``positions`` has those of all tokens, one after another."""
    return list(map(_permutation, _divide(positions.tolist(), map(len, sentences))))


def binary_trees(nodes: np.ndarray, sentences: Sequence[Sentence]) -> list[BinaryTree]:
    """Return the tree of each sentence; ``nodes`` as of :func:`preorder.methods.perceptron.parse.parse`."""
    return list(map(_tree, _divide(nodes.tolist(), map(len, sentences))))


class ChartParser(ABC):
    """A preorderer that searches BTG trees, by whatever scores."""

    @abstractmethod
    def parse(self, sentences: Sequence[Sentence], threads: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the best trees and their positions, as the perceptron's parser does."""

    @abstractmethod
    def nbest(self, sentences: Sequence[Sentence], most: int, threads: int) -> NBest:
        """Return the best distinct orders, as :func:`preorder.btg.nbest.nbest` does."""

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
        self, sentences: Sequence[Sentence], most: int, threads: int = 1
    ) -> list[list[tuple[float, Permutation]]]:
        """Return the best distinct reorderings of each sentence with their scores."""
        best = self.nbest(sentences, most, threads)
        return _ranked(best, best.positions, _permutation, sentences)

    def best_trees(
        self, sentences: Sequence[Sentence], most: int, threads: int = 1
    ) -> list[list[tuple[float, BinaryTree]]]:
        """Return the best tree behind each of the :meth:`best_orders`, with their scores."""
        best = self.nbest(sentences, most, threads)
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
