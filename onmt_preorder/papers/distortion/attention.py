"""Feed-forward attention (Bahdanau et al. 2015) that is mixed with jumps (Zhang et al. 2017, eq. 7 to 9).

An attention is kept padded with ``window`` zeros on either side: ``(batch, window + length + window)``.
Then the source words from which attention can jump to word j are the ``2 window + 1`` entries from j on,
and a shift past the sentence's ends needs no special case. These words are ``j - window`` to
``j + window``, so the jumps from them to j have the distances ``window, …, -window`` (positive is forward):
that is the order of the probabilities here.
"""

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
    """``α̂_j = softmax_j v · tanh(W s̃ + U h_j + b)``; s̃ and the layer between are of one size."""

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


def start(like: Tensor, length: int, window: int) -> Tensor:
    """Return α_0, padded, of a source of this length, on the type and device of ``like``, ``(batch, …)``.

    All attention is just before the first word: a jump by 1 leads to the first word, by 2 to the second.
    """
    attention = like.new_zeros(len(like), length + 2 * window)
    attention[:, window - 1] = 1
    return attention


def mix(
    content: Tensor, previous: Tensor, jumps: Tensor, weight: float, mask: Tensor, renormalise: bool
) -> Tensor:
    """Return ``α_t = λ Σ_k P(k) Γ(α_{t-1}, k) + (1 - λ) α̂_t`` (eq. 7 and 8), ``(batch, length)``.

    Costs ``batch × length × (2 window + 1)`` multiplications, in one product.

    Args:
        content: α̂_t, ``(batch, length)``.
        previous: α_{t-1}, padded.
        jumps: P(k), ``(batch, 2 window + 1)``, distances ``window, …, -window``.
        weight: λ.
        mask: ``(batch, length)``, 1 for a source word and 0 after its sentence's end.
        renormalise: divide by the sum, which is below one where jumps have led out of the sentence.
            Attention that has left it completely stays zero.
    """
    near = previous.unfold(1, jumps.size(1), 1)
    mixed = torch.baddbmm(content.unsqueeze(2), near, jumps.unsqueeze(2), beta=1 - weight, alpha=weight)
    attention = mixed.squeeze(2) * mask
    if renormalise:
        total = attention.sum(1, keepdim=True)
        attention = attention / total.clamp_min(torch.finfo(total.dtype).tiny)
    return attention
