"""The library that computes, an optional dependency; where, and with how many threads."""

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
    """Let each operation of the block have that many threads of the CPU."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
