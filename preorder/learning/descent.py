"""How a network learns: Adam along a rate that rises and falls once; the weights are averaged over time."""

from __future__ import annotations

import math
from copy import deepcopy

import numpy as np

from preorder.data.errors import DataError
from preorder.learning.backend import device, torch
from preorder.learning.checkpoint import Arrays

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


class Descent:
    """A network that learns, and ``average``, an exponential average of its weights.

    Rare words are read as unknown now and then (Kiperwasser and Goldberg 2016), so that the network
    learns what to do with these.
    """

    def __init__(self, network: torch.nn.Module, learning_rate: float, frequencies: np.ndarray) -> None:
        """Start from the weights of a network, which is moved to :func:`device`.

        Args:
            network: what learns.
            learning_rate: the greatest.
            frequencies: of each row of the words' table, how often the word was seen.
        """
        self.network = network.to(device()).train()
        self.average = deepcopy(network).eval().requires_grad_(False)
        rarity = np.where(frequencies > 0, RARITY / (RARITY + frequencies), 0)
        self._rarity = torch.from_numpy(rarity.astype(np.float32)).to(device())
        self._learning_rate = learning_rate
        self._optimizer = torch.optim.AdamW(
            network.parameters(), betas=MOMENTUM, weight_decay=DECAY, fused=True
        )

    def rare(self, words: torch.Tensor) -> torch.Tensor:
        """Draw which words, given by their rows, are read as unknown."""
        return torch.rand(words.shape, device=words.device) < self._rarity[words]

    def step(self, loss: torch.Tensor, done: float, steps: int) -> None:
        """Take a step down the gradient of a loss.

        Args:
            loss: of the network; a scalar.
            done: share of all steps that are done.
            steps: how many that is.
        """
        for group in self._optimizer.param_groups:
            group["lr"] = self._learning_rate * share_of_rate(done)
        self._optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), CLIP)
        self._optimizer.step()
        share = max(1 - AVERAGE, 9 / (10 + steps))  # of this step; at first the average is short
        averages, weights = (list(network.parameters()) for network in (self.average, self.network))
        get_ema_multi_avg_fn(1 - share)(averages, weights, None)

    def state(self) -> Arrays:
        """Return all that further steps depend on."""
        arrays = {f"average.{name}": array for name, array in arrays_of(self.average).items()}
        arrays |= {f"weights.{name}": array for name, array in arrays_of(self.network).items()}
        for name, parameter in self.network.named_parameters():
            for kind, value in self._optimizer.state[parameter].items():
                arrays[f"{kind}.{name}"] = value.cpu().numpy().copy()
        return arrays

    def restore(self, arrays: Arrays) -> None:
        """Go back to a :meth:`state`."""
        load(self.average, _part(arrays, "average."))
        load(self.network, _part(arrays, "weights."))
        for name, parameter in self.network.named_parameters():
            self._optimizer.state[parameter] = {
                kind: torch.from_numpy(arrays[f"{kind}.{name}"].copy()).to(parameter.device)
                for kind in ("step", "exp_avg", "exp_avg_sq")
            }


def share_of_rate(done: float) -> float:
    """Return the share of the greatest rate: it rises linearly and falls along a cosine."""
    falling = 0.5 + 0.5 * math.cos(math.pi * (done - WARM_UP) / (1 - WARM_UP))
    return done / WARM_UP if done < WARM_UP else falling


def arrays_of(network: torch.nn.Module) -> Arrays:
    """Return a copy of the weights of a network."""
    return {name: value.cpu().numpy().copy() for name, value in network.state_dict().items()}


def load(network: torch.nn.Module, arrays: Arrays) -> None:
    """Put weights into a network.

    Raises:
        DataError: they are not those of a network of its kind and size.
    """
    for name, value in network.state_dict().items():
        if name not in arrays or arrays[name].shape != tuple(value.shape):
            raise DataError(f"not the weights of the model's network: {name}")
    network.load_state_dict({name: torch.from_numpy(arrays[name].copy()) for name in network.state_dict()})


def _part(arrays: Arrays, prefix: str) -> Arrays:
    return {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
