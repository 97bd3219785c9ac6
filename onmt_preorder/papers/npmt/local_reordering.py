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
        bias: where not 0, gates have biases, as in the authors' code: at first this for the token itself,
            its negative for the others, so that the layer begins by passing on each token's own embedding.
    """

    def __init__(self, window: int, size: int, bias: float = 0.0) -> None:
        super().__init__()
        self.first_bias = bias
        self.weight = nn.Parameter(torch.empty(window, size * window))  # over (size, window)
        self.bias = nn.Parameter(torch.empty(window)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weights as torch's linear layers do; set the biases."""
        window, inputs = self.weight.shape
        nn.init.uniform_(self.weight, -(bound := 1 / math.sqrt(inputs)), bound)
        if self.bias is not None:
            with torch.no_grad():
                self.bias.fill_(-self.first_bias)[window // 2] = self.first_bias

    def forward(self, embedded: Tensor, padding: Tensor) -> Tensor:
        """Map ``(batch, length, size)`` to the same shape.

        ``padding`` is ``(batch, length)``, True after a sentence's end; what stands there has no effect.
        """
        window = self.weight.size(0)
        side = window // 2
        real = embedded.masked_fill(padding.unsqueeze(-1), 0)
        near = functional.pad(real, (0, 0, side, side)).unfold(1, window, 1).contiguous()
        gates = functional.linear(near.flatten(2), self.weight, self.bias).sigmoid()
        return torch.matmul(near, gates.unsqueeze(-1)).squeeze(-1).tanh()
