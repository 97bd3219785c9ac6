"""The preorderers that label each node of given trees by a network, independently of the other nodes."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from preorder.data import NO_LINES, Bitext, Sentence
from preorder.data.trees import BINARISATIONS, Binarisation
from preorder.errors import DataError, NotFiniteError, shown
from preorder.learning.backend import device, network_of, sizes_of, torch, weights_of
from preorder.learning.checkpoint import NO_CHECKPOINT, Arrays, Checkpoint
from preorder.learning.options import without_threads
from preorder.learning.vocabulary import Vocabulary, is_strings
from preorder.methods.base import Preorderer
from preorder.methods.options import RecursiveOptions
from preorder.methods.tree_swap.learner import Learner
from preorder.methods.tree_swap.networks import Contextual, Numbering, Recursive, log_odds
from preorder.methods.tree_swap.oracle import KINDS, training_data
from preorder.methods.tree_swap.trees import LABEL, Forest, forest, labelled, positions

STRAIGHT = np.float32(-100)
"""Log-odds of a node that may not be inverted."""


class TreeSwapPreorderer(Preorderer):
    """A trained network; see :class:`preorder.methods.base.Preorderer`.

    ``network`` is the class of its networks. It is made from the size of each layer's vocabulary, the number
    of categories, a size, the share of units that is dropped in training, and whether it sees categories. It
    returns the log-odds of the nodes of a :class:`.networks.Minibatch`.
    """

    network: ClassVar[type[torch.nn.Module]]

    def __init__(
        self, kind: str, binarisation: Binarisation, numbering: Numbering, network: torch.nn.Module
    ) -> None:
        """Make a preorderer of a network and the numbering that it was made for, for one of the ``KINDS``."""
        self.layers = frozenset({"tags", kind, *numbering.vocabulary.known}) - {"words"}
        self._kind, self._binarisation = kind, binarisation
        self._numbering = numbering
        self._network = network.to(device()).eval()

    def log_odds(self, sentences: Sequence[Sentence], trees: Forest, threads: int) -> np.ndarray:
        """Return the log-odds that each of ``trees.rows`` is inverted: float32 ``[nodes]``."""
        odds = log_odds(self._network, self._numbering(sentences, trees), threads)
        if not np.isfinite(odds).all():
            raise NotFiniteError("the scores")
        return odds

    def parse(self, sentences: Sequence[Sentence], threads: int) -> tuple[np.ndarray, np.ndarray]:
        trees = forest(sentences, self._binarisation)
        labels = self.log_odds(sentences, trees, threads) > 0
        return labelled(trees, labels), positions(trees, labels)

    def kbest(
        self, sentences: Sequence[Sentence], k: int, threads: int
    ) -> list[list[tuple[float, np.ndarray]]]:
        """Return each sentence's k likeliest trees, which differ in order, with their log-probabilities."""
        trees = forest(sentences, self._binarisation)
        odds = np.zeros(len(trees.nodes), np.float32)
        odds[trees.rows] = np.where(trees.free, self.log_odds(sentences, trees, threads), STRAIGHT)
        ends = trees.starts + np.maximum(trees.lengths - 1, 0)
        slices = [slice(start, end) for start, end in zip(trees.starts, ends, strict=True)]
        return [list(_likeliest(trees.nodes[rows], odds[rows], k)) for rows in slices]

    def state(self) -> tuple[dict[str, Any], Arrays]:
        values = {
            "trees": self._kind,
            "binarisation": self._binarisation,
            "size": self._network.output.in_features,
            "category": self._network.category is not None,
            "vocabulary": self._numbering.vocabulary.known,
            "categories": self._numbering.categories,
        }
        return values, weights_of(self._network)

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: Arrays) -> TreeSwapPreorderer:
        kind, how = values.get("trees"), values.get("binarisation")
        if kind not in KINDS or how not in BINARISATIONS:
            raise DataError(f"not the trees of a model of nodes: {shown(kind)}, {shown(how)}")
        category, categories = values.get("category"), values.get("categories")
        if not isinstance(category, bool) or not is_strings(categories):
            raise DataError(f"not the categories of a model of nodes: {shown(category)}, {shown(categories)}")
        numbering = Numbering(Vocabulary.from_state(values.get("vocabulary")), categories)
        (size,) = sizes_of(values, arrays, "size")
        rows = numbering.vocabulary.rows, numbering.rows
        network = network_of(lambda: cls.network(*rows, size, category=category), arrays)
        return cls(kind, how, numbering, network)

    @classmethod
    def fit(
        cls,
        bitext: Bitext,
        options: RecursiveOptions,
        held_out: Bitext = NO_LINES,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> tuple[TreeSwapPreorderer, dict[str, Any]]:
        """Learn from sentences with trees and alignments, by word classes, too, if all sentences have them.

        The same input and options give the same model on the same machine. The statistics include those of
        :func:`.oracle.training_data`.
        """
        data = training_data(bitext, held_out, options.binarisation)
        learner = Learner(cls.method, cls.network, data, options)
        progress = learner.train(held_out, checkpoint)
        statistics = {"options": without_threads(options), **data.statistics, **progress}
        return cls(data.kind, options.binarisation, learner.numbering, learner.average), statistics


class RvNNPreorderer(TreeSwapPreorderer):
    """Labels by the recursive network."""

    method = "rvnn"
    network = Recursive


class ContextualPreorderer(TreeSwapPreorderer):
    """Labels by the network that reads the whole sentence first."""

    method = "swap-lstm"
    network = Contextual


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
