"""The sinusoidal encoding of a position in a sentence (Vaswani et al. 2017)."""

from __future__ import annotations

from functools import lru_cache
from math import log

import torch
from torch import Tensor

_SMALLEST = 512


def sinusoidal(positions: Tensor, size: int) -> Tensor:
    """Return ``PE(p, 2q) = sin(p / 10000^{2q/size})``, ``PE(p, 2q+1) = cos(p / 10000^{2q/size})``.

    ``positions`` are integers of any shape, to which ``size`` is appended; the result is float32.
    """
    turn = angles(positions, size)
    return torch.stack((turn.sin(), turn.cos()), dim=-1).flatten(-2)[..., :size]


def angles(positions: Tensor, size: int) -> Tensor:
    """Return ``p / 10000^{2q/size}`` of each position, q = 0 … size/2 - 1, as a last dimension of float32."""
    even = torch.arange(0, size, 2, device=positions.device, dtype=torch.float32)
    return positions.unsqueeze(-1) * torch.exp(even * (-log(10000.0) / size))


def encodings(begin: int, end: int, like: Tensor) -> Tensor:
    """Return the encodings of the positions begin … end-1, which may be negative: ``(end - begin, size)``.

    It is a view of a table that is computed once and kept; size (the last dimension), type and device are
    those of ``like``.
    """
    reach = max(-begin, end, _SMALLEST)
    reach = 1 << (reach - 1).bit_length()
    table = _table(reach, like.size(-1), like.dtype, like.device)
    return table[reach + begin : reach + end]


@lru_cache(maxsize=16)
def _table(reach: int, size: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    return sinusoidal(torch.arange(-reach, reach, device=device), size).to(dtype)
