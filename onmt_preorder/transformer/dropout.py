"""Dropout that draws one random number for four elements.

On a CPU torch draws a number for each element, which took a quarter of an encoder's training
time. 16 bits are enough to decide, and a number has 64.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

_GRAIN = 1 << 16


def first_rate(rates: float | list[float]) -> float:
    """Return the rate that training begins with; OpenNMT-py changes it later by ``dropout_steps``."""
    return rates[0] if isinstance(rates, list) else rates


def draw(x: Tensor, dropout: float) -> tuple[Tensor | None, float]:
    """Decide by torch's generator of the device what dropout keeps of a tensor.

    ``dropout`` is the share to be dropped, rounded to 16 bits. Return True where an element of ``x`` is
    kept, or None where all are; and the factor for the kept ones.
    """
    least = round(dropout * _GRAIN)
    if least == 0:
        return None, 1.0
    if least == _GRAIN:
        return torch.zeros_like(x, dtype=torch.bool), 0.0
    draws = torch.empty(-(-x.numel() // 4), dtype=torch.int64, device=x.device)
    bits = draws.random_(-(1 << 63), None).view(torch.int16)[: x.numel()].view(x.shape)
    return bits >= least - _GRAIN // 2, _GRAIN / (_GRAIN - least)


class Dropout(nn.Dropout):
    """Dropout as torch's: on a GPU it is torch's own, on a CPU it decides by :func:`draw`."""

    def forward(self, x: Tensor) -> Tensor:
        """Map a tensor of any shape to the same shape."""
        if x.is_cuda or not self.training or self.p == 0:
            return super().forward(x)
        return _Dropout.apply(x, self.p)


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, dropout: float) -> Tensor:
        kept, ctx.scale = draw(x, dropout)
        ctx.save_for_backward(kept)
        return _apply(x, kept, ctx.scale)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return _apply(gradient, *ctx.saved_tensors, ctx.scale), None


def _apply(x: Tensor, kept: Tensor | None, scale: float) -> Tensor:
    return x if kept is None else torch.where(kept, x, x.new_zeros(())).mul_(scale)
