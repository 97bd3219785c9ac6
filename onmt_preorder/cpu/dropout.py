"""Dropout that draws one random number for four elements.

On a CPU torch draws a number for each element, which took a quarter of an encoder's training
time. 16 bits are enough to decide, and a number has 64. One compiled pass makes factors of them.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from preorder.compiled import entry_point

_GRAIN = 1 << 16


def draw(x: Tensor, dropout: float) -> Tensor | None:
    """Decide by torch's generator of the device what dropout keeps of a tensor.

    ``dropout`` is the share to be dropped, rounded to 16 bits. Return what to multiply ``x`` by: 0, or for
    elements that are kept the inverse of their share; or None where all are kept.
    """
    least = round(dropout * _GRAIN)
    if least == 0:
        return None
    if least == _GRAIN or x.device.type != "cpu":
        kept, scale = decide(x, dropout)
        return kept.to(x.dtype).mul_(scale)
    factors = torch.empty(x.shape)
    bound, kept = np.int16(least - _GRAIN // 2), np.float32(_GRAIN / (_GRAIN - least))
    _choose(_bits(x).numpy(), bound, kept, factors.view(-1).numpy())
    return factors.to(x.dtype)


def decide(x: Tensor, dropout: float) -> tuple[Tensor, float]:
    """Return as a mask what :func:`draw` keeps, and what to multiply it by."""
    least = round(dropout * _GRAIN)
    if least in (0, _GRAIN):
        return torch.full(x.shape, least == 0, device=x.device), 1.0
    return (_bits(x) >= least - _GRAIN // 2).view(x.shape), _GRAIN / (_GRAIN - least)


def _bits(x: Tensor) -> Tensor:
    """Draw 16 bits for each element."""
    draws = torch.empty(-(-x.numel() // 4), dtype=torch.int64, device=x.device)
    return draws.random_(-(1 << 63), None).view(torch.int16)[: x.numel()]


@entry_point
def _choose(bits, bound, kept, factors):
    """Write a factor for each number: what torch does in three passes over memory."""
    for index in range(len(bits)):
        factors[index] = kept if bits[index] >= bound else np.float32(0)


class Dropout(nn.Dropout):
    """Dropout as torch's: on a GPU it is torch's own, on a CPU it decides by :func:`draw`."""

    def forward(self, x: Tensor) -> Tensor:
        """Map a tensor of any shape to the same shape."""
        if x.is_cuda or not self.training or self.p == 0:
            return super().forward(x)
        factors = draw(x, self.p)
        return x if factors is None else x * factors


def draw_cheaply(model: nn.Module) -> None:
    """Put :class:`Dropout` in the place of all of torch's in a model."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            if type(child) is nn.Dropout:
                setattr(module, name, Dropout(child.p, child.inplace))
