"""Training: the marginal likelihood of all trees that the alignment allows.

The loss of a sentence is −log of the probability that its tree is one of those whose nodes are all
valid, a difference of two log-partitions. Where links are less than certain, what they ask for is drawn anew
in each iteration, by their confidences (:meth:`preorder.btg.constraint.Constraint.drawn`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from preorder.btg.chart import log_partition
from preorder.btg.constraint import DRAW, Constraint
from preorder.data import Permutation, Sentence
from preorder.learning.backend import check_bfloat16, device, multiplies_bfloat16, set_weights, torch
from preorder.learning.checkpoint import Arrays, digest
from preorder.learning.loop import TrainingStatistics
from preorder.learning.network_learner import NetworkLearner, with_first_weights
from preorder.learning.options import without_threads
from preorder.learning.vocabulary import Vocabulary
from preorder.methods.base import permutations
from preorder.methods.neural_btg.decode import Input, parse
from preorder.methods.neural_btg.network import Scorer
from preorder.methods.options import NeuralBTGOptions


class Learner(NetworkLearner[Scorer, torch.Tensor]):
    """A scorer that learns; see :class:`preorder.learning.loop.Trainable`."""

    def __init__(
        self,
        layers: Sequence[str],
        sentences: Sequence[Sentence],
        constraint: Constraint,
        options: NeuralBTGOptions,
        initial: tuple[Vocabulary, Arrays] | None = None,
    ) -> None:
        """Start from the seed's weights, or those of a trained network, with what :func:`learnable` gives."""
        if initial is None:
            self.vocabulary, frequencies = Vocabulary.of(sentences, layers)
        else:
            self.vocabulary, weights = initial
            frequencies = self.vocabulary.frequencies(sentences)
        rows = self.vocabulary.rows
        scorer = with_first_weights(
            options.seed, lambda: Scorer(rows, options.hidden, options.depth, options.dropout)
        )
        self._initial = ()
        if initial is not None:
            set_weights(scorer, weights)
            self._initial = tuple(weights.values())
        super().__init__(scorer, frequencies, options)
        self._lengths = lengths_of(sentences)
        self._starts = np.cumsum(self._lengths) - self._lengths
        self._tokens = torch.from_numpy(self.vocabulary(sentences)).to(device())
        self._constraint = constraint
        self._groups = torch.empty(0)  # of this iteration
        is_faster = options.bfloat16 == "auto" and multiplies_bfloat16(device().type)
        self._in_bfloat16 = options.bfloat16 == "on" or is_faster
        if options.bfloat16 == "on":
            check_bfloat16(device().type)

    def __len__(self) -> int:
        return self._lengths.size

    def key(self) -> str:
        arrays = (self._tokens.cpu().numpy(), *self._constraint, self._lengths, *self._initial)
        return digest([without_threads(self._options), self.vocabulary.known], *arrays)

    def learn(self, iteration: int, advance: Callable[[int], Any]) -> TrainingStatistics:
        draw = np.random.default_rng((self._options.seed, iteration, DRAW))
        groups = self._constraint.drawn(self._lengths, draw)
        self._groups = torch.from_numpy(groups.astype(np.int64)).to(device())
        return super().learn(iteration, advance)

    def order(self, sentences: Sequence[Sentence]) -> list[Permutation]:
        given = Input(self.vocabulary(sentences), lengths_of(sentences))
        _, positions = parse(self.average, given, self._options.threads)
        return permutations(positions, sentences)

    def _minibatches(self, generator: np.random.Generator) -> list[np.ndarray]:
        """Return minibatches of equally long sentences."""
        size = self._options.minibatch
        minibatches = []
        for length in np.unique(self._lengths):
            shuffled = generator.permutation(np.flatnonzero(self._lengths == length))
            minibatches += np.split(shuffled, range(size, shuffled.size, size))
        generator.shuffle(minibatches)
        return minibatches

    def _loss(self, minibatch: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the loss of a minibatch and those of its sentences."""
        indices = self._starts[minibatch, None] + np.arange(self._lengths[minibatch[0]])
        indices = torch.from_numpy(indices).to(self._tokens.device)
        tokens, groups = self._tokens[:, indices], self._groups[indices]
        self._hide_rare(tokens[0])
        with torch.autocast(tokens.device.type, torch.bfloat16, enabled=self._in_bfloat16):
            parts = self._network(tokens)
        parts = parts.float()
        losses = log_partition(parts) - log_partition(parts, groups)
        return losses.sum() / self._options.minibatch, losses.detach()

    def _statistics(self, results: Sequence[torch.Tensor]) -> TrainingStatistics:
        """Return the mean ``loss`` of the sentences, and how many of them are ``errors``.

        A sentence is one if the trees that the alignment allows have less than half of the probability.
        """
        loss = torch.cat(tuple(results))
        return {"loss": float(loss.mean()), "errors": int((loss > math.log(2)).sum())}


def lengths_of(sentences: Sequence[Sentence]) -> np.ndarray:
    """Return the number of tokens of each sentence: int64."""
    return np.fromiter(map(len, sentences), np.int64, len(sentences))
