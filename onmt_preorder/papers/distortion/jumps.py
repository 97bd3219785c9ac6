"""Jumps of attention, for a whole batch at once: eq. 7 to 9 of Zhang et al. 2017.

An attention is kept padded with ``window`` zeros on either side: ``(batch, window + length + window)``.
Then the source words from which attention can jump to word j are the ``2 window + 1`` entries from j on,
and a shift past the sentence's ends needs no special case. These words are ``j - window`` to
``j + window``, so the jumps from them to j have the distances ``window, …, -window`` (positive is forward):
that is the order of the probabilities here.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad


def start(like: Tensor, length: int, window: int) -> Tensor:
    """Return α_0, when nothing is translated: all attention is just before the first word.

    So a first jump by distance 1 leads to the first word, by 2 to the second, and so on.

    Args:
        like: ``(batch, …)``, gives the batch, type and device of the attention.
        length: of the source.
        window: the longest jump.

    Returns:
        A padded attention, ``(batch, window + length + window)``.
    """
    attention = like.new_zeros(len(like), length + 2 * window)
    attention[:, window - 1] = 1
    return attention


def mix(
    content: Tensor, previous: Tensor, jumps: Tensor, weight: float, mask: Tensor, renormalise: bool
) -> Tensor:
    """Return ``α_t = λ Σ_k P(k) Γ(α_{t-1}, k) + (1 - λ) α̂_t`` (eq. 7 and 8).

    Costs ``batch × length × (2 window + 1)`` multiplications, in one product.

    Args:
        content: α̂_t, ``(batch, length)``.
        previous: α_{t-1}, padded, ``(batch, window + length + window)``.
        jumps: P(k), ``(batch, 2 window + 1)``, distances ``window, …, -window``.
        weight: λ.
        mask: ``(batch, length)``, 1 for a source word and 0 after its sentence's end.
        renormalise: divide by the sum, which is below one where jumps have led out of the
            sentence. Attention that has left it completely stays zero.

    Returns:
        α_t, ``(batch, length)``.
    """
    near = previous.unfold(1, jumps.size(1), 1)
    mixed = torch.baddbmm(content.unsqueeze(2), near, jumps.unsqueeze(2), beta=1 - weight, alpha=weight)
    attention = mixed.squeeze(2) * mask
    if renormalise:
        total = attention.sum(1, keepdim=True)
        attention = attention / total.clamp_min(torch.finfo(total.dtype).tiny)
    return attention


def padded(attention: Tensor, window: int) -> Tensor:
    """Return an attention ``(batch, length)`` with ``window`` zeros on either side."""
    return pad(attention, (window, window))
