"""The preorderers that label each node of given trees by a network, independently of the other nodes.

It learns the label of each node that an alignment says something about, by cross-entropy.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from preorder.annotate.options import TREES
from preorder.data import Permutation, Sentence
from preorder.data.trees import BINARISATIONS, Binarisation
from preorder.errors import DataError, UsageError, shown
from preorder.learning.checkpoint import Arrays, digest
from preorder.learning.encode import Vocabulary, common_layers, frequent, is_strings
from preorder.learning.loop import TrainingStatistics
from preorder.learning.network import NetworkLearner, device, network_of, sizes_of, torch, weights_of
from preorder.learning.options import without_threads
from preorder.methods.base import Preorderer, Training, permutations
from preorder.methods.registry import RecursiveOptions, Weighting
from preorder.methods.tree_swap.networks import Contextual, Numbering, Recursive, log_odds, minibatch
from preorder.methods.tree_swap.trees import (
    IN_ORDER,
    LABEL,
    REVERSED,
    Forest,
    allowed,
    best_labels,
    count_pairs,
    flat_keys,
    forest,
    kind_of,
    labelled,
    positions,
)
from preorder.progress import LOGGER

Labeller = Recursive | Contextual

NEVER_INVERTED = np.float32(-100)  # log-odds of a node that may not be inverted


class SwapLearner(NetworkLearner[Labeller, np.ndarray]):
    """A network that learns to label nodes; see :class:`preorder.learning.loop.Trainable`."""

    def __init__(
        self,
        method: type[TreeSwapPreorderer],
        sentences: Sequence[Sentence],
        trees: Forest,
        layers: Sequence[str],
        counts: np.ndarray,
        options: RecursiveOptions,
        initial: tuple[Numbering, Arrays] | None = None,
        pairs: Sequence[int] = (),
    ) -> None:
        """Take sentences and their trees, the layers to read, and the counts of :func:`count_pairs`.

        Start from the seed's weights, or those of a trained network.
        """
        if initial is None:
            vocabulary = Vocabulary.of(sentences, layers, options.vocabulary)
            self.numbering, weights = Numbering(vocabulary, frequent(filter(None, trees.categories))), None
        else:
            self.numbering, weights = initial
        self._initial = () if weights is None else tuple(weights.values())
        self._batch = self.numbering(sentences, trees)
        sizes = self.numbering.vocabulary.rows, self.numbering.rows, options.size
        how = options.dropout, options.category == "on"
        make = partial(method.network, *sizes, *how)
        super().__init__(make, self._batch.tokens[0], trees.lengths, options, weights, pairs)
        self._method, self._counts = method.method, counts
        self._labels, self._weights = np.zeros((2, len(trees.nodes)), np.float32)
        self._labels[trees.rows] = best_labels(counts)
        self._weights[trees.rows] = weights_in_loss(counts, options.weighting)

    def key(self) -> str:
        batch, numbering = self._batch, self.numbering
        known = (numbering.vocabulary.known, numbering.categories)
        trees = (batch.trees.nodes, batch.trees.lengths, batch.categories)
        arrays = (batch.tokens, *trees, self._counts, self._pairs, *self._initial)
        return digest([self._method, without_threads(self._options), *known], *arrays)

    def order(self, sentences: Sequence[Sentence]) -> list[Permutation]:
        trees = forest(sentences, self._options.binarisation)
        odds = log_odds(self.average, self.numbering(sentences, trees), self._options.threads)
        return permutations(positions(trees, odds > 0), sentences)

    def _loss(self, sentences: np.ndarray) -> tuple[torch.Tensor, np.ndarray]:
        nodes, rows = minibatch(self._batch, sentences, device())
        self._hide(nodes.tokens[0])
        labels, weights = (
            torch.from_numpy(array[rows]).to(device()) for array in (self._labels, self._weights)
        )
        odds = self._network(nodes)
        losses = torch.nn.functional.binary_cross_entropy_with_logits(odds, labels, weights, reduction="sum")
        weight = weights.sum()
        errors = (((odds > 0) != (labels > 0)) & (weights > 0)).sum()
        return losses / weight.clamp(min=1), np.array([losses.item(), weight.item(), errors.item()])

    def _statistics(self, results: Sequence[np.ndarray]) -> TrainingStatistics:
        """Return the ``loss``, a mean by weight, and the ``errors``: wrong labels of nodes that count."""
        loss, weight, errors = sum(results, np.zeros(3)).tolist()
        return {"loss": loss / max(weight, 1e-9), "errors": int(errors)}


def weights_in_loss(counts: np.ndarray, weighting: Weighting) -> np.ndarray:
    """Return the weight of each node in the loss: 0 where it decides about no pair of aligned tokens.

    With ``pairs`` it is how many more pairs the right label puts in order than the wrong one; else 1.
    """
    if weighting == "pairs":
        return np.abs(counts[:, REVERSED] - counts[:, IN_ORDER])
    return np.any(counts, axis=1)


class TreeSwapPreorderer(Preorderer):
    """A trained network; see :class:`preorder.methods.base.Preorderer`."""

    network: ClassVar[type[Labeller]]
    """Made from the size of each layer's vocabulary, the number of categories, a size, the share of units to
    drop in training, and whether it sees categories; returns the log-odds of a minibatch's nodes."""

    def __init__(
        self, kind: str, binarisation: Binarisation, numbering: Numbering, network: Labeller
    ) -> None:
        self.layers = frozenset({"tags", kind, *numbering.vocabulary.known}) - {"words"}
        self._kind, self._binarisation = kind, binarisation
        self._numbering = numbering
        self._network = network.to(device()).eval()

    def parse(self, sentences: Sequence[Sentence], threads: int) -> tuple[np.ndarray, np.ndarray]:
        trees = forest(sentences, self._binarisation)
        labels = log_odds(self._network, self._numbering(sentences, trees), threads) > 0
        return labelled(trees, labels), positions(trees, labels)

    def kbest(
        self, sentences: Sequence[Sentence], k: int, threads: int
    ) -> list[list[tuple[float, np.ndarray]]]:
        """Return each sentence's k likeliest trees, with log-probabilities; without a parse, one tree."""
        trees = forest(sentences, self._binarisation)
        found = log_odds(self._network, self._numbering(sentences, trees), threads)
        odds = np.zeros(len(trees.nodes), np.float32)
        odds[trees.rows] = np.where(trees.free, found, NEVER_INVERTED)
        ends = trees.starts + np.maximum(trees.lengths - 1, 0)
        parts = zip(trees.starts, ends, np.where(trees.flat, 1, k), strict=True)
        return [list(_likeliest(trees.nodes[a:b], odds[a:b], number)) for a, b, number in parts]

    @property
    def tag_names(self) -> tuple[str, ...]:
        return self._numbering.vocabulary.known.get("tags", ())

    def fixed_options(self) -> dict[str, Any]:
        return {
            "binarisation": self._binarisation,
            "category": "off" if self._network.category is None else "on",
            "size": self._network.output.in_features,
            "vocabulary": max(1, len(self._numbering.vocabulary.known["words"])),
        }

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
        if kind not in TREES or how not in BINARISATIONS:
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
    def fit(cls, training: Training) -> tuple[TreeSwapPreorderer, dict[str, Any]]:
        """Learn by tags, trees, and classes if all sentences have them; the same model on one machine."""
        bitext, options, held_out, checkpoint, initial = training
        lines = (*bitext.sentences, *held_out.sentences)
        kind = kind_of(lines)
        trees = forest(bitext.sentences, options.binarisation)
        counts = count_pairs(trees, flat_keys(bitext))
        if not counts.any():
            raise UsageError("no node of the trees has an aligned token in both of its children")
        aligned, everything = allowed(trees, bitext), allowed(trees, bitext, every=True)
        LOGGER.info(
            f"the best order that the trees allow has a tau_nakagawa of {aligned:.4f} over aligned tokens, "
            f"{everything:.4f} over all"
        )
        layers = common_layers(lines, options.word_dropout)
        given = None if initial is None else (initial._numbering, weights_of(initial._network))
        learner = SwapLearner(cls, bitext.sentences, trees, layers, counts, options, given, bitext.pairs)
        statistics = {
            "options": without_threads(options),
            "nodes": int(counts.any(axis=1).sum()),
            "inverted": int(best_labels(counts).sum()),
            "allowed_aligned": aligned,
            "allowed_all": everything,
            **learner.train(held_out, checkpoint),
        }
        return cls(kind, options.binarisation, learner.numbering, learner.average), statistics


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

    Each differs from the likeliest in some nodes, sorted by what they cost. A set of changed nodes whose last
    is the i-th has two successors: with node i + 1 added, and with it in place of node i. O(k · n).
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
