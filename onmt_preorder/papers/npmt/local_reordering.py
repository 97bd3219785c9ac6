"""Soft local reordering of word embeddings (Huang et al. 2018, eq. 2)."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional


class LocalReordering(nn.Module):
    """Replaces each token's embedding by a gated sum over its neighbours.

    ``h_t = tanh(Σ_i sigmoid(w_i · [e_{t-τ}; …; e_{t+τ}]) e_{t-τ+i})`` for ``i = 0 … 2τ``, with zeros
    beyond the sentence. Cost: ``window² · size`` multiplications for each token.

    Args:
        window: ``2τ + 1`` tokens, odd.
        size: of the embeddings.
    """

    def __init__(self, window: int, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(window, size * window))  # over (size, window)
        nn.init.uniform_(self.weight, -(bound := 1 / math.sqrt(size * window)), bound)

    def forward(self, embedded: Tensor, padding: Tensor) -> Tensor:
        """Map ``(batch, length, size)`` to the same shape.

        ``padding`` is ``(batch, length)``, True after a sentence's end; what stands there has no effect.
        """
        window = self.weight.size(0)
        side = window // 2
        real = embedded.masked_fill(padding.unsqueeze(-1), 0)
        near = functional.pad(real, (0, 0, side, side)).unfold(1, window, 1).contiguous()
        gates = functional.linear(near.flatten(2), self.weight).sigmoid()
        return torch.matmul(near, gates.unsqueeze(-1)).squeeze(-1).tanh()
