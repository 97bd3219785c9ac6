"""Training: the label of each node that an alignment says something about, by cross-entropy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from preorder.learning.backend import device, threads, torch
from preorder.learning.checkpoint import Arrays
from preorder.learning.descent import Descent
from preorder.learning.vocabulary import UNKNOWN
from preorder.methods.node_labels.oracle import IN_ORDER, REVERSED, best_labels
from preorder.methods.node_labels.recursive.batch import Batch, equally_long, minibatch
from preorder.methods.node_labels.recursive.network import Network
from preorder.methods.node_labels.recursive.options import Options, Weighting


class Learner:
    """A network that learns, and its average over time.

    The same input, seed and number of threads give the same weights on the same machine.
    """

    def __init__(
        self, batch: Batch, counts: np.ndarray, frequencies: np.ndarray, network: Network, options: Options
    ) -> None:
        """Start to learn.

        Args:
            batch: the sentences.
            counts: as of :func:`.oracle.count_pairs`, of each of the ``batch.trees.rows``.
            frequencies: of each row of the words' table, how often the word was seen.
            network: with its first weights.
            options: how to learn.
        """
        self._options = options
        self._batch = batch
        rows = batch.trees.rows
        self._labels = np.zeros(len(batch.trees.nodes), np.float32)
        self._labels[rows] = best_labels(counts)
        self._weights = np.zeros(len(batch.trees.nodes), np.float32)
        self._weights[rows] = weights_of(counts, options.weighting, options.inverted_weight)
        self._descent = Descent(network, options.learning_rate, frequencies)

    @property
    def average(self) -> Network:
        """The network with the average of its weights."""
        return self._descent.average

    def iterate(self, iteration: int, advance: Callable[[int], Any]) -> dict[str, float]:
        """Learn from every sentence once; iterations count from 1.

        Returns:
            ``loss``, the mean over what counts; ``errors``, the nodes that count and had the wrong label.
        """
        seed = np.random.SeedSequence((self._options.seed, iteration))
        generator = np.random.default_rng(seed)
        chosen = list(equally_long(self._batch.trees.lengths, lambda _: self._options.minibatch, generator))
        generator.shuffle(chosen)
        done = np.zeros(3)
        with threads(self._options.threads), torch.random.fork_rng():
            torch.manual_seed(int(seed.generate_state(1)[0]))
            for k, sentences in enumerate(chosen):
                steps = (iteration - 1) * len(chosen) + k
                done += self._learn(sentences, steps / (len(chosen) * self._options.iterations), steps)
                advance(sentences.size)
        loss, weight, errors = done.tolist()
        return {"loss": loss / max(weight, 1e-9), "errors": int(errors)}

    def _learn(self, sentences: np.ndarray, share: float, steps: int) -> np.ndarray:
        """Learn from a minibatch, after that share of all steps; return sums of loss, weight and errors."""
        nodes, rows = minibatch(self._batch, sentences, device())
        nodes.tokens[0].masked_fill_(self._descent.rare(nodes.tokens[0]), UNKNOWN)
        labels, weights = (
            torch.from_numpy(array[rows]).to(device()) for array in (self._labels, self._weights)
        )
        odds = self._descent.network(nodes)
        losses = torch.nn.functional.binary_cross_entropy_with_logits(odds, labels, weights, reduction="sum")
        weight = weights.sum()
        self._descent.step(losses / weight.clamp(min=1), share, steps)
        errors = (((odds > 0) != (labels > 0)) & (weights > 0)).sum()
        return np.array([losses.item(), weight.item(), errors.item()])

    def state(self) -> Arrays:
        """Return all that further iterations depend on."""
        return self._descent.state()

    def restore(self, arrays: Arrays) -> None:
        """Put a new learner into a :meth:`state`."""
        self._descent.restore(arrays)


def weights_of(counts: np.ndarray, weighting: Weighting, inverted: float) -> np.ndarray:
    """Return what each node counts in the loss: nothing where no pair of tokens is aligned.

    Args:
        counts: as of :func:`.oracle.count_pairs`.
        weighting: ``pairs``: as many as the right label puts in order more than the wrong one.
        inverted: what an inverted node counts beside a straight one.
    """
    if weighting == "pairs":
        weights = np.abs(counts[:, REVERSED] - counts[:, IN_ORDER])
    else:
        weights = counts.any(axis=1)
    return weights * np.where(best_labels(counts), inverted, 1.0)
