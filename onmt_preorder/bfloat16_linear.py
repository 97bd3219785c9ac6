"""Linear layers in bfloat16 on a CPU, whose products have few shapes.

Why: torch compiles a kernel for each new shape of a product in bfloat16. In a small model that takes as long
as the product itself, and a batch of sentences hardly ever has as many tokens as an earlier one. So zeros
fill the rows up to a multiple of 32.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

ROWS = 32
"""The number of rows of a product is a multiple of this."""


class Bfloat16Linear(nn.Linear):
    """A linear layer that computes its product and the gradients in bfloat16 while it is trained."""

    def forward(self, states: Tensor) -> Tensor:
        """Map ``(…, d)`` to ``(…, e)`` of the same type."""
        if not self.training:
            return super().forward(states)
        rows = states.flatten(0, -2)
        product = _Linear.apply(rows, self.weight, self.bias)
        return product[: len(rows)].to(states.dtype).unflatten(0, states.shape[:-1])


def filled_up(matrix: Tensor, precision: torch.dtype) -> Tensor:
    """Return a matrix in another precision; in bfloat16 with rows of zeros up to a multiple of ``ROWS``."""
    missing = -len(matrix) % ROWS if precision == torch.bfloat16 else 0
    if not missing:
        return matrix.to(precision)
    whole = matrix.new_empty((len(matrix) + missing, matrix.size(1)), dtype=precision)
    whole[: len(matrix)] = matrix
    whole[len(matrix) :] = 0
    return whole


class _Linear(torch.autograd.Function):
    """Maps ``(t, d)`` to the product with its further rows: a view of it could not be changed in place."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        whole, low = filled_up(states, torch.bfloat16), weight.to(torch.bfloat16)
        ctx.save_for_backward(whole, low)
        ctx.rows = len(states)
        return functional.linear(whole, low, None if bias is None else bias.to(torch.bfloat16))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        (whole, low), wanted = ctx.saved_tensors, ctx.needs_input_grad
        return (
            (gradient @ low)[: ctx.rows] if wanted[0] else None,
            gradient.mT @ whole if wanted[1] else None,
            gradient.sum(0) if wanted[2] else None,
        )
