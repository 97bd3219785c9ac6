"""From the labels of the nodes of given trees to orders: what all preorderers of this package share."""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from preorder.btg.results import binary_trees, permutations
from preorder.data.errors import DataError, NotFiniteError, shown
from preorder.data.trees import BINARISATIONS, Binarisation
from preorder.data.types import BinaryTree, Permutation, Sentence
from preorder.methods.base import PickledByState
from preorder.methods.node_labels.forest import Forest, forest, labelled, positions

T = TypeVar("T")

KINDS = ("constituency", "dependency")
"""Kinds of syntax trees, by the names of the attributes of a :class:`Sentence`."""


class TreeLabeller(PickledByState, ABC):
    """Order sentences by labelling each node of their trees, independently of the others."""

    def __init__(self, kind: str, binarisation: Binarisation, token_layers: Sequence[str]) -> None:
        """Make a labeller.

        Args:
            kind: of the trees, one of the ``KINDS``.
            binarisation: how they are made binary.
            token_layers: those that are read, the words among them.
        """
        self.kind = kind
        self.binarisation = binarisation
        self.token_layers = tuple(token_layers)

    @property
    def layers(self) -> frozenset[str]:
        """Names of the layers of a :class:`Sentence` that it reads beside the words."""
        return frozenset({"tags", self.kind, *self.token_layers}) - {"words"}

    @abstractmethod
    def log_odds(self, sentences: Sequence[Sentence], trees: Forest, threads: int) -> np.ndarray:
        """Return the log-odds that each of ``trees.rows`` is inverted: float32 ``[nodes]``."""

    def _odds(self, sentences: Sequence[Sentence], trees: Forest, threads: int) -> np.ndarray:
        """Return the :meth:`log_odds`, all of which are numbers."""
        odds = self.log_odds(sentences, trees, threads)
        if not np.isfinite(odds).all():
            raise NotFiniteError("the scores")
        return odds

    def order(self, sentences: Sequence[Sentence], threads: int = 1) -> list[Permutation]:
        """Return the reordering of each sentence."""
        trees = forest(sentences, self.binarisation)
        return permutations(positions(trees, self._odds(sentences, trees, threads) > 0), sentences)

    def trees(self, sentences: Sequence[Sentence], threads: int = 1) -> list[BinaryTree]:
        """Return for each sentence the tree that gives its reordering."""
        trees = forest(sentences, self.binarisation)
        return binary_trees(labelled(trees, self._odds(sentences, trees, threads) > 0), sentences)

    def best_orders(
        self, sentences: Sequence[Sentence], k: int, threads: int = 1
    ) -> list[list[tuple[float, Permutation]]]:
        """Return the likeliest reorderings of each sentence with the logs of their probabilities."""
        return self._ranked(sentences, k, threads, lambda t, x, s: permutations(positions(t, x), s))

    def best_trees(
        self, sentences: Sequence[Sentence], k: int, threads: int = 1
    ) -> list[list[tuple[float, BinaryTree]]]:
        """Return for each of the :meth:`best_orders` the tree that gives it."""
        return self._ranked(sentences, k, threads, lambda t, x, s: binary_trees(labelled(t, x), s))

    def _ranked(
        self,
        sentences: Sequence[Sentence],
        k: int,
        threads: int,
        read: Callable[[Forest, np.ndarray, Sequence[Sentence]], list[T]],
    ) -> list[list[tuple[float, T]]]:
        """Return what ``read`` makes of each sentence's likeliest labels; no two of these give one order."""
        odds = self._odds(sentences, forest(sentences, self.binarisation), threads)
        ends = np.cumsum([max(0, len(sentence) - 1) for sentence in sentences], dtype=np.int64)
        scored = [list(_likeliest_labels(part, k)) for part in np.split(odds, ends[:-1])]
        copies = [sentence for sentence, best in zip(sentences, scored, strict=False) for _ in best]
        labels = [labels for best in scored for _, labels in best]
        items = iter(read(forest(copies, self.binarisation), np.concatenate(labels), copies))
        return [[(score, next(items)) for score, _ in best] for best in scored[: len(sentences)]]


def trees_of(values: dict[str, Any]) -> tuple[str, Binarisation]:
    """Return the kind of trees and their binarisation from the state of a model.

    Raises:
        DataError: they are unknown.
    """
    kind, how = values.get("trees"), values.get("binarisation")
    if kind not in KINDS or how not in BINARISATIONS:
        raise DataError(f"not the trees of a model of nodes: {shown(kind)}, {shown(how)}")
    return kind, how


def _likeliest_labels(odds: np.ndarray, k: int) -> Iterator[tuple[float, np.ndarray]]:
    """Yield the ``k`` likeliest labels of a tree's nodes with the logs of their probabilities, best first.

    Each differs from the likeliest one in some nodes, and is less likely by the sum of what each of these
    costs. The nodes are sorted by cost. A set of changed nodes whose last is the i-th has two successors:
    with node i + 1 added, and with node i + 1 in place of node i. So every set is reached once, after all
    that cost less. O(k · n).
    """
    odds = odds.astype(np.float64)
    best = odds > 0
    costs = np.abs(odds)
    total = -float(np.log1p(np.exp(-costs)).sum())
    order = np.argsort(costs, kind="stable").tolist()
    waiting: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    while waiting and k:
        cost, changed = heapq.heappop(waiting)
        labels = best.copy()
        nodes = [order[i] for i in changed]
        labels[nodes] = ~labels[nodes]
        yield total - cost, labels
        k -= 1
        following = changed[-1] + 1 if changed else 0
        if following < len(order):
            further = float(costs[order[following]])
            heapq.heappush(waiting, (cost + further, (*changed, following)))
            if changed:
                last = float(costs[order[changed[-1]]])
                heapq.heappush(waiting, (cost + further - last, (*changed[:-1], following)))
