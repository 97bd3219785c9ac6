"""From the labels of the nodes of given trees to orders: what all preorderers of this package share."""

from __future__ import annotations

import heapq
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from preorder.data import Sentence
from preorder.data.trees import BINARISATIONS, Binarisation
from preorder.errors import DataError, NotFiniteError, shown
from preorder.methods.base import Preorderer
from preorder.methods.node_labels.forest import LABEL, Forest, forest, labelled, positions

KINDS = ("constituency", "dependency")
"""Kinds of syntax trees, by the names of the attributes of a :class:`Sentence`."""


STRAIGHT = np.float32(-100)
"""Log-odds of a node that may not be inverted."""


class TreeLabeller(Preorderer):
    """Order sentences by labelling each node of their trees, independently of the others."""

    def __init__(self, kind: str, binarisation: Binarisation, token_layers: Sequence[str]) -> None:
        """Make a labeller of trees of one of the ``KINDS``, which reads some layers, the words among them."""
        self.kind = kind
        self.binarisation = binarisation
        self.layers = frozenset({"tags", kind, *token_layers}) - {"words"}

    @abstractmethod
    def log_odds(self, sentences: Sequence[Sentence], trees: Forest, threads: int) -> np.ndarray:
        """Return the log-odds that each of ``trees.rows`` is inverted: float32 ``[nodes]``."""

    def _odds(self, sentences: Sequence[Sentence], trees: Forest, threads: int) -> np.ndarray:
        """Return the :meth:`log_odds`, all of which are numbers."""
        odds = self.log_odds(sentences, trees, threads)
        if not np.isfinite(odds).all():
            raise NotFiniteError("the scores")
        return odds

    def parse(self, sentences: Sequence[Sentence], threads: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the labelled trees and the positions that they give."""
        trees = forest(sentences, self.binarisation)
        labels = self._odds(sentences, trees, threads) > 0
        return labelled(trees, labels), positions(trees, labels)

    def kbest(
        self, sentences: Sequence[Sentence], k: int, threads: int
    ) -> list[list[tuple[float, np.ndarray]]]:
        """Return each sentence's k likeliest trees, which differ in order, with their log-probabilities."""
        trees = forest(sentences, self.binarisation)
        odds = np.zeros(len(trees.nodes), np.float32)
        odds[trees.rows] = np.where(trees.free, self._odds(sentences, trees, threads), STRAIGHT)
        ends = trees.starts + np.maximum(trees.lengths - 1, 0)
        slices = [slice(start, end) for start, end in zip(trees.starts, ends, strict=True)]
        return [list(_likeliest(trees.nodes[rows], odds[rows], k)) for rows in slices]


def trees_of(values: dict[str, Any]) -> tuple[str, Binarisation]:
    """Return the kind of trees and their binarisation from a model's state; a DataError: they are unknown."""
    kind, how = values.get("trees"), values.get("binarisation")
    if kind not in KINDS or how not in BINARISATIONS:
        raise DataError(f"not the trees of a model of nodes: {shown(kind)}, {shown(how)}")
    return kind, how


def _likeliest(nodes: np.ndarray, odds: np.ndarray, k: int) -> Iterator[tuple[float, np.ndarray]]:
    """Yield a tree's nodes with their ``k`` likeliest labels and the logs of these probabilities, best first.

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
        result = nodes.copy()
        result[:, LABEL] = best
        result[[order[i] for i in changed], LABEL] ^= 1
        yield total - cost, result
        k -= 1
        following = changed[-1] + 1 if changed else 0
        if following < len(order):
            further = float(costs[order[following]])
            heapq.heappush(waiting, (cost + further, (*changed, following)))
            if changed:
                last = float(costs[order[changed[-1]]])
                heapq.heappush(waiting, (cost + further - last, (*changed[:-1], following)))
