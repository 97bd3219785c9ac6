"""PyTorch, an optional dependency: on which device it computes, and with how many threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from preorder.data.errors import require

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
