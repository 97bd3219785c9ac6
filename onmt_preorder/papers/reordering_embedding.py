"""Reordering embeddings (Chen et al. 2019): a layer learns how much of each token's position to keep.

The blocks stand in the slot ``after_attention`` of an encoder or decoder layer. There

    H̄ = LN(SelfAttn(H) + H)
    C = LN(H̄ + PE ⊙ PP),  PP = sigmoid(V tanh(W H + W̄ H̄))

and what follows reads C, while its residual is H̄. In a pre-norm layer H and H̄ are the
normalised states that attention and what follows it read, and the residuals by-pass both.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from onmt_preorder.transformer.config import LayerConfig


class AdditionalEncoding(nn.Module):
    """``LN(H̄ + PE)``: the position once more, in every layer; the control of the paper."""

    def __init__(self, config: LayerConfig) -> None:
        super().__init__()
        self.layer_norm = config.make_norm()

    def forward(self, _read: Tensor, attended: Tensor, encodings: Tensor) -> Tensor:
        """Return C, which the next sub-layer reads, of H and H̄, all ``(b, n, d)``, and PE, ``(n, d)``."""
        return self.layer_norm(attended + encodings)


class ReorderingEmbedding(AdditionalEncoding):
    """``LN(H̄ + PE ⊙ PP)`` with the positional penalty PP, each number of it in (0, 1).

    V, W and W̄ have no biases (equation 6). Cost: three products of ``d²`` for each token.
    """

    def __init__(self, config: LayerConfig) -> None:
        super().__init__(config)
        self.linear_read, self.linear_attended, self.linear_penalty = (
            nn.Linear(config.hidden_size, config.hidden_size, bias=False) for _ in range(3)
        )

    def forward(self, read: Tensor, attended: Tensor, encodings: Tensor) -> Tensor:
        """Add the encodings times the penalty; see :class:`AdditionalEncoding`."""
        penalty = self.penalty(read, attended)
        return self.layer_norm(torch.addcmul(attended, encodings.to(penalty.dtype), penalty))

    def penalty(self, read: Tensor, attended: Tensor) -> Tensor:
        """Return PP, ``(b, n, d)``."""
        hidden = self.linear_read(read) + self.linear_attended(attended)
        return self.linear_penalty(hidden.tanh()).sigmoid()
