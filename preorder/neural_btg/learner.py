"""Training: the marginal likelihood of all trees that the alignment allows.

The loss of a sentence is −log of the probability that its tree is one of those whose nodes are all
valid, a difference of two log-partitions. Adam takes the steps, along a rate that rises and
falls once; the model is an exponential average of the weights. Rare words are read as unknown now and
then (Kiperwasser and Goldberg 2016), so that the network learns what to do with these.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from preorder.checkpoint import Arrays
from preorder.errors import DataError
from preorder.neural_btg.backend import device, threads, torch
from preorder.neural_btg.inside import log_partition
from preorder.neural_btg.network import Scorer
from preorder.neural_btg.options import Options
from preorder.neural_btg.vocabulary import UNKNOWN

get_ema_multi_avg_fn = torch.optim.swa_utils.get_ema_multi_avg_fn

WARM_UP = 0.05
"""Share of all steps in which the learning rate rises."""

MOMENTUM = (0.9, 0.98)
DECAY = 0.01
CLIP = 5.0
"""Greatest norm of a minibatch's gradient."""

AVERAGE = 0.998
"""Share of the average that a step keeps."""

RARITY = 0.5
"""A word seen c times is read as unknown with a probability of RARITY / (RARITY + c)."""


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
        rarity = np.where(lines.counts > 0, RARITY / (RARITY + lines.counts), 0)
        self._rarity = torch.from_numpy(rarity.astype(np.float32)).to(device())
        self._scorer = scorer.to(device()).train()
        self.average = deepcopy(scorer).eval().requires_grad_(False)
        self._optimizer = torch.optim.AdamW(
            scorer.parameters(), betas=MOMENTUM, weight_decay=DECAY, fused=True
        )

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
                self._set_rate((iteration - 1 + k / len(minibatches)) / self._options.iterations)
                losses.append(self._step(chosen, (iteration - 1) * len(minibatches) + k))
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

    def _set_rate(self, done: float) -> None:
        """Let the rate rise linearly and fall along a cosine; ``done`` is the share of all steps."""
        falling = 0.5 + 0.5 * math.cos(math.pi * (done - WARM_UP) / (1 - WARM_UP))
        share = done / WARM_UP if done < WARM_UP else falling
        for group in self._optimizer.param_groups:
            group["lr"] = self._options.learning_rate * share

    def _step(self, chosen: np.ndarray, steps: int) -> torch.Tensor:
        """Learn from one minibatch, after that many; return the losses of its sentences."""
        places = self._starts[chosen, None] + np.arange(self._lengths[chosen[0]])
        at = torch.from_numpy(places).to(self._tokens.device)
        tokens, groups = self._tokens[:, at], self._groups[at]
        rare = torch.rand(groups.shape, device=groups.device) < self._rarity[tokens[0]]
        tokens[0].masked_fill_(rare, UNKNOWN)
        parts = self._scorer(tokens)
        losses = log_partition(parts) - log_partition(parts, groups)
        self._optimizer.zero_grad()
        (losses.sum() / self._options.minibatch).backward()
        torch.nn.utils.clip_grad_norm_(self._scorer.parameters(), CLIP)
        self._optimizer.step()
        share = max(1 - AVERAGE, 9 / (10 + steps))  # of this step; at first the average is short
        averages, weights = (list(scorer.parameters()) for scorer in (self.average, self._scorer))
        get_ema_multi_avg_fn(1 - share)(averages, weights, None)
        return losses.detach()

    def state(self) -> Arrays:
        """Return all that further iterations depend on."""
        arrays = {f"average.{name}": array for name, array in arrays_of(self.average).items()}
        arrays |= {f"weights.{name}": array for name, array in arrays_of(self._scorer).items()}
        for name, parameter in self._scorer.named_parameters():
            for kind, value in self._optimizer.state[parameter].items():
                arrays[f"{kind}.{name}"] = value.cpu().numpy().copy()
        return arrays

    def restore(self, arrays: Arrays) -> None:
        """Put a new learner into a :meth:`state`."""
        load(self.average, _part(arrays, "average."))
        load(self._scorer, _part(arrays, "weights."))
        for name, parameter in self._scorer.named_parameters():
            self._optimizer.state[parameter] = {
                kind: torch.from_numpy(arrays[f"{kind}.{name}"].copy()).to(parameter.device)
                for kind in ("step", "exp_avg", "exp_avg_sq")
            }


def arrays_of(scorer: Scorer) -> Arrays:
    """Return a copy of the weights of a network."""
    return {name: value.cpu().numpy().copy() for name, value in scorer.state_dict().items()}


def load(scorer: Scorer, arrays: Arrays) -> None:
    """Put weights into a network.

    Raises:
        DataError: they are not those of a network of its size.
    """
    for name, value in scorer.state_dict().items():
        if name not in arrays or arrays[name].shape != tuple(value.shape):
            raise DataError(f"not the weights of a neural BTG model: {name}")
    scorer.load_state_dict({name: torch.from_numpy(arrays[name].copy()) for name in scorer.state_dict()})


def _part(arrays: Arrays, prefix: str) -> Arrays:
    return {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
