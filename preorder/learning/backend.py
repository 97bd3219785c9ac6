"""PyTorch, an optional dependency: its device, its threads, and networks as model directories keep them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from llvmlite import binding

from preorder.errors import DataError, UsageError, require, shown
from preorder.learning.checkpoint import Arrays, checked

torch = require("torch", "neural")

Network = TypeVar("Network", bound=torch.nn.Module)


def device() -> torch.device:
    """Return the GPU where there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def check_bfloat16(device: str) -> None:
    """Check that torch has LSTMs in bfloat16 on a device; a UsageError: it has none on this processor."""
    try:
        with torch.autocast(device, torch.bfloat16):
            torch.nn.LSTM(1, 1, device=device)(torch.zeros(1, 1, 1, device=device))
    except RuntimeError:
        raise UsageError("bfloat16: torch has no LSTM in bfloat16 on this processor") from None


def multiplies_bfloat16(device: str) -> bool:
    """Return whether a device, ``cpu`` or ``cuda``, multiplies matrices of bfloat16 faster than of float32.

    A rule, so that a machine always learns the same: of processors those with AMX do, and AMD's with
    AVX512_BF16 (Zen 4). Intel's AVX512_BF16 alone takes twice as long as float32 (torch 2.13).
    """
    if device == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    is_amd = binding.get_host_cpu_name().startswith("znver")
    return binding.get_host_cpu_features().get("avx512bf16" if is_amd else "amx-bf16", False)


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Let each operation of PyTorch use so many threads of the CPU, in a ``with`` block."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def equally_long(
    lengths: np.ndarray, size: Callable[[int], int], generator: np.random.Generator | None = None
) -> Iterator[np.ndarray]:
    """Yield the sentences of two tokens or more in groups of one length, the longest first.

    ``size`` gives for a length the number of sentences of a group. The generator shuffles those of a length.
    """
    for length in np.unique(lengths[lengths > 1])[::-1].tolist():
        sentences = np.flatnonzero(lengths == length)
        if generator is not None:
            generator.shuffle(sentences)
        yield from np.split(sentences, range(size(length), sentences.size, size(length)))


def weights_of(network: torch.nn.Module) -> Arrays:
    """Return a copy of the weights of a network, by their names."""
    return {name: value.cpu().numpy().copy() for name, value in network.state_dict().items()}


def network_of(make: Callable[[], Network], arrays: Arrays) -> Network:
    """Return the network that ``make`` builds, with weights; memory is taken once they are known to fit."""
    with torch.device("meta"):
        network = make()
    _check_weights(network, arrays)
    network.to_empty(device="cpu")
    set_weights(network, arrays)
    return network


def set_weights(network: torch.nn.Module, arrays: Arrays) -> None:
    """Put weights into a network, by their names; other arrays are ignored."""
    _check_weights(network, arrays)
    network.load_state_dict({name: torch.from_numpy(arrays[name].copy()) for name in network.state_dict()})


def _check_weights(network: torch.nn.Module, arrays: Arrays) -> None:
    for name, value in network.state_dict().items():
        checked(arrays, name, np.float32, tuple(value.shape), "the model's network")


def sizes_of(values: dict[str, Any], arrays: Arrays, *names: str) -> list[int]:
    """Return some sizes of a network from a model's state; none is more than the arrays can have."""
    most = max((len(arrays), *(size for array in arrays.values() for size in array.shape)))
    for name in names:
        if type(values.get(name)) is not int or not 0 < values[name] <= most:
            raise DataError(f"not a size of the model's network: {name} {shown(values.get(name))}")
    return [values[name] for name in names]
