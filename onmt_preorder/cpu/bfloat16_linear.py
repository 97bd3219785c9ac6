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
        product = _Linear.apply(states.flatten(0, -2), self.weight, self.bias)
        return product.unflatten(0, states.shape[:-1])


def filled_up(matrix: Tensor, precision: torch.dtype) -> Tensor:
    """Return a matrix in another precision; in bfloat16 with rows of zeros up to a multiple of ``ROWS``."""
    missing = -len(matrix) % ROWS if precision == torch.bfloat16 else 0
    low = matrix.to(precision)
    return functional.pad(low, (0, 0, 0, missing)) if missing else low


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, states: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        whole, low = filled_up(states, torch.bfloat16), weight.to(torch.bfloat16)
        ctx.save_for_backward(whole, low)
        product = functional.linear(whole, low, None if bias is None else bias.to(torch.bfloat16))
        return product[: len(states)].to(states.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        (states, weight), wanted = ctx.saved_tensors, ctx.needs_input_grad
        whole = filled_up(gradient, torch.bfloat16)
        return (
            (whole @ weight)[: len(gradient)].to(gradient.dtype) if wanted[0] else None,
            (whole.mT @ states).to(gradient.dtype) if wanted[1] else None,
            gradient.sum(0) if wanted[2] else None,
        )
