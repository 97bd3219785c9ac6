"""Feed-forward attention (Bahdanau et al. 2015) and the step of a GRU, from products computed before."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class SourceStates:
    """What every step knows of a batch of source sentences.

    Attributes:
        keys: ``U h_j + b`` of the attention, ``(batch, length, size)``.
        values: linear images of h_j, ``(batch, length, any)``, zero after a sentence's end; what is
            read of a sentence is their weighted sum.
        mask: ``(batch, length)``, 1 for a word and 0 after its sentence's end.
        penalty: ``(batch, length)``, 0 for a word and ``-inf`` after its sentence's end.
    """

    keys: Tensor
    values: Tensor
    mask: Tensor
    penalty: Tensor

    @classmethod
    def of(cls, keys: Tensor, values: Tensor, lengths: Tensor) -> SourceStates:
        """Make the masks; ``lengths`` is ``(batch,)``, words in each sentence."""
        mask = torch.arange(keys.size(1), device=keys.device) < lengths.unsqueeze(1)
        penalty = keys.new_zeros(mask.shape).masked_fill(~mask, -torch.inf)
        return cls(keys, values, mask.to(keys.dtype), penalty)


class AdditiveAttention(nn.Module):
    """``α̂_j = softmax_j v · tanh(W s̃ + U h_j + b)``.

    Args:
        size: of s̃ and of the layer between.
        source_size: of h_j.
    """

    def __init__(self, size: int, source_size: int) -> None:
        super().__init__()
        self.query = nn.Linear(size, size, bias=False)
        self.keys = nn.Linear(source_size, size)
        self.score = nn.Linear(size, 1, bias=False)

    def forward(self, query: Tensor, source: SourceStates) -> Tensor:
        """Return α̂, ``(batch, length)``, for ``W s̃``, ``(batch, size)``.

        Cost: ``batch × length × size`` hyperbolic tangents, most of the time of a step.
        """
        layer = (source.keys + query.unsqueeze(1)).tanh()
        return (self.score(layer).squeeze(2) + source.penalty).softmax(-1)


def gru(inputs: Tensor, recurrent: Tensor, hidden: Tensor) -> Tensor:
    """Return a GRU's next state, as :class:`torch.nn.GRUCell` does, from the two products.

    Args:
        inputs: ``W_i x + b_i``, ``(batch, 3 size)``.
        recurrent: ``W_h h + b_h``, ``(batch, 3 size)``.
        hidden: h, ``(batch, size)``.
    """
    size = hidden.size(-1)
    gates = (inputs[:, : 2 * size] + recurrent[:, : 2 * size]).sigmoid()
    reset, update = gates.chunk(2, -1)
    candidate = (inputs[:, 2 * size :] + reset * recurrent[:, 2 * size :]).tanh()
    return candidate + update * (hidden - candidate)
