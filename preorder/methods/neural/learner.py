"""Training: the marginal likelihood of all trees that the alignment allows.

The loss of a sentence is −log of the probability that its tree is one of those whose nodes are all
valid, a difference of two log-partitions. How steps are taken: see
:mod:`descent`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from preorder.btg.chart import Chart
from preorder.learning.backend import device, threads, torch
from preorder.learning.checkpoint import Arrays
from preorder.learning.descent import Descent
from preorder.learning.vocabulary import UNKNOWN
from preorder.methods.neural.network import Scorer
from preorder.methods.neural.options import Options


@dataclass(frozen=True)
class Lines:
    """Sentences of two tokens or more, one after another.

    Attributes:
        tokens: int64 ``[channels, tokens]``, rows of a vocabulary.
        groups: int64 ``[tokens]``, where each token belongs, -1 for a free one.
        lengths: int64 ``[sentences]``.
        counts: int64, of each row of the first channel, the words, how often they were seen.
    """

    tokens: np.ndarray
    groups: np.ndarray
    lengths: np.ndarray
    counts: np.ndarray


def new_scorer(rows: dict[str, int], options: Options) -> Scorer:
    """Return a network with the first weights that the seed gives."""
    with torch.random.fork_rng():
        torch.manual_seed(options.seed)
        return Scorer(rows, options.hidden, options.depth, options.dropout)


class Learner:
    """A network that learns, and its average over time.

    The same input, seed and number of threads give the same weights on the same machine.
    """

    def __init__(self, lines: Lines, scorer: Scorer, options: Options) -> None:
        self._options = options
        self._lengths = lines.lengths
        self._starts = np.cumsum(lines.lengths) - lines.lengths
        self._tokens = torch.from_numpy(lines.tokens).to(device())
        self._groups = torch.from_numpy(lines.groups).to(device())
        self._descent = Descent(scorer, options.learning_rate, lines.counts)

    @property
    def average(self) -> Scorer:
        """The network with the average of its weights."""
        return self._descent.average

    def iterate(self, iteration: int, advance: Callable[[int], Any]) -> dict[str, float]:
        """Learn from every sentence once; iterations count from 1.

        Returns:
            ``loss``, the mean over the sentences; ``errors``, the sentences whose valid trees have less
            than half of the probability.
        """
        seed = np.random.SeedSequence((self._options.seed, iteration))
        minibatches = self._minibatches(np.random.default_rng(seed))
        losses = []
        with threads(self._options.threads), torch.random.fork_rng():
            torch.manual_seed(int(seed.generate_state(1)[0]))
            for k, chosen in enumerate(minibatches):
                steps = (iteration - 1) * len(minibatches) + k
                losses.append(
                    self._step(chosen, steps / (len(minibatches) * self._options.iterations), steps)
                )
                advance(chosen.size)
        loss = torch.cat(losses)
        return {"loss": float(loss.mean()), "errors": int((loss > math.log(2)).sum())}

    def _minibatches(self, generator: np.random.Generator) -> list[np.ndarray]:
        """Return the sentences in minibatches of equally long ones."""
        size = self._options.minibatch
        minibatches = []
        for length in np.unique(self._lengths):
            shuffled = generator.permutation(np.flatnonzero(self._lengths == length))
            minibatches += np.split(shuffled, range(size, shuffled.size, size))
        generator.shuffle(minibatches)
        return minibatches

    def _step(self, chosen: np.ndarray, done: float, steps: int) -> torch.Tensor:
        """Learn from one minibatch, after that share and number of steps; return its sentences' losses."""
        places = self._starts[chosen, None] + np.arange(self._lengths[chosen[0]])
        at = torch.from_numpy(places).to(self._tokens.device)
        tokens, groups = self._tokens[:, at], self._groups[at]
        tokens[0].masked_fill_(self._descent.rare(tokens[0]), UNKNOWN)
        chart = Chart(self._descent.network(tokens))
        losses = chart.log_partition() - chart.log_partition(groups)
        self._descent.step(losses.sum() / self._options.minibatch, done, steps)
        return losses.detach()

    def state(self) -> Arrays:
        """Return all that further iterations depend on."""
        return self._descent.state()

    def restore(self, arrays: Arrays) -> None:
        """Put a new learner into a :meth:`state`."""
        self._descent.restore(arrays)
