"""Training: the label of each node that an alignment says something about, by cross-entropy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from preorder.data import Permutation, Sentence
from preorder.learning.backend import device, torch
from preorder.learning.checkpoint import digest
from preorder.learning.loop import TrainingStatistics
from preorder.learning.network_learner import NetworkLearner, with_first_weights
from preorder.learning.options import without_threads
from preorder.methods.base import permutations
from preorder.methods.options import RecursiveOptions, Weighting
from preorder.methods.tree_swap.networks import Numbering, equally_long, log_odds, minibatch
from preorder.methods.tree_swap.oracle import IN_ORDER, REVERSED, TrainingData, best_labels
from preorder.methods.tree_swap.trees import forest, positions


class Learner(NetworkLearner[torch.nn.Module, np.ndarray]):
    """A network that learns to label nodes; see :class:`preorder.learning.loop.Trainable`."""

    def __init__(
        self, method: str, network: type[torch.nn.Module], data: TrainingData, options: RecursiveOptions
    ) -> None:
        """Start from the first weights that the seed gives; the method's name counts in the :meth:`key`."""
        self.numbering, frequencies = Numbering.of(
            data.sentences, data.trees, data.layers, options.vocabulary
        )
        sizes = (self.numbering.vocabulary.rows, self.numbering.rows, options.size)
        first = with_first_weights(
            options.seed, lambda: network(*sizes, options.dropout, options.category == "on")
        )
        super().__init__(first, frequencies, options)
        self._method, self._counts = method, data.counts
        self._batch = self.numbering(data.sentences, data.trees)
        rows = data.trees.rows
        self._labels, self._weights = np.zeros((2, len(data.trees.nodes)), np.float32)
        self._labels[rows] = best_labels(data.counts)
        self._weights[rows] = weights_in_loss(data.counts, options.weighting, options.inverted_weight)

    def __len__(self) -> int:
        return int((self._batch.trees.lengths > 1).sum())

    def key(self) -> str:
        batch, numbering = self._batch, self.numbering
        known = (numbering.vocabulary.known, numbering.categories)
        arrays = (batch.tokens, batch.trees.nodes, batch.trees.lengths, batch.categories, self._counts)
        return digest([self._method, without_threads(self._options), *known], *arrays)

    def order(self, sentences: Sequence[Sentence]) -> list[Permutation]:
        trees = forest(sentences, self._options.binarisation)
        odds = log_odds(self.average, self.numbering(sentences, trees), self._options.threads)
        return permutations(positions(trees, odds > 0), sentences)

    def _minibatches(self, generator: np.random.Generator) -> list[np.ndarray]:
        """Return minibatches of equally long sentences."""
        size = self._options.minibatch
        minibatches = list(equally_long(self._batch.trees.lengths, lambda _: size, generator))
        generator.shuffle(minibatches)
        return minibatches

    def _loss(self, sentences: np.ndarray) -> tuple[torch.Tensor, np.ndarray]:
        """Return the loss of a minibatch, and its sums of loss, weight and errors."""
        nodes, rows = minibatch(self._batch, sentences, device())
        self._hide_rare(nodes.tokens[0])
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


def weights_in_loss(counts: np.ndarray, weighting: Weighting, inverted: float) -> np.ndarray:
    """Return the weight of each node in the loss: 0 where it decides about no pair of aligned tokens.

    With ``pairs`` that is how many more pairs the right label puts in order than the wrong one; else 1. Nodes
    that are best inverted have it times ``inverted``. ``counts`` are those of :func:`.oracle.count_pairs`.
    """
    if weighting == "pairs":
        weights = np.abs(counts[:, REVERSED] - counts[:, IN_ORDER])
    else:
        weights = counts.any(axis=1)
    return weights * np.where(best_labels(counts), inverted, 1.0)
