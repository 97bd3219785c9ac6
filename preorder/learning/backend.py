"""PyTorch, an optional dependency: its device, its threads, and networks as model directories keep them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from preorder.data.errors import DataError, require
from preorder.learning.checkpoint import Arrays

torch = require("torch", "neural")


def device() -> torch.device:
    """Return the GPU where there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Let each operation of PyTorch use so many threads of the CPU, in a ``with`` block."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def weights_of(network: torch.nn.Module) -> Arrays:
    """Return a copy of the weights of a network, by their names."""
    return {name: value.cpu().numpy().copy() for name, value in network.state_dict().items()}


def set_weights(network: torch.nn.Module, arrays: Arrays) -> None:
    """Put weights into a network, by their names; other arrays are ignored.

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
