"""The weights and sizes of a network, as a model directory keeps them."""

from __future__ import annotations

from typing import Any

from preorder.data.errors import DataError
from preorder.learning.arrays import Arrays
from preorder.learning.backend import torch


def weights_of(network: torch.nn.Module) -> Arrays:
    """Return a copy of the weights of a network, by their names."""
    return {name: value.cpu().numpy().copy() for name, value in network.state_dict().items()}


def set_weights(network: torch.nn.Module, arrays: Arrays) -> None:
    """Put weights into a network.

    Args:
        network: changed in place.
        arrays: the weights by their names; others are ignored.

    Raises:
        DataError: they are not those of a network of its kind and size.
    """
    for name, value in network.state_dict().items():
        if name not in arrays or arrays[name].shape != tuple(value.shape):
            raise DataError(f"not the weights of the model's network: {name}")
    network.load_state_dict({name: torch.from_numpy(arrays[name].copy()) for name in network.state_dict()})


def sizes_of(values: dict[str, Any], *names: str) -> list[int]:
    """Return some sizes of a network from a model's state.

    Raises:
        DataError: one is not a positive number.
    """
    for name in names:
        if not isinstance(values.get(name), int) or values[name] <= 0:
            raise DataError(f"not a size of the model's network: {name} {values.get(name)!r}")
    return [values[name] for name in names]
