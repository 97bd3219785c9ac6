"""Jumps of attention, for a whole batch at once: eq. 7 to 9 of Zhang et al. 2017.

An attention is kept with ``window`` places more on either side, all of them empty:
``(batch, window + length + window)``. Then the places from which attention can jump to
place j are the ``2 window + 1`` places from j on, and a shift past the sentence's ends
fills with zeros by itself. Those places go from ``j - window`` to ``j + window``, so the
jumps that lead to j from them have the distances ``window, …, -window``: that is the order
of the probabilities here.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad


def distances(window: int) -> list[int]:
    """Return the jumps' distances in the order of their probabilities; positive is forward."""
    return list(range(window, -window - 1, -1))


def start(like: Tensor, length: int, window: int) -> Tensor:
    """Return α_0, when nothing is translated: all attention is on the place before the first word.

    So the first jump leads to the first word by distance 1, to the second by 2 and so on.

    Args:
        like: ``(batch, …)``, of whose batch, type and device the attention will be.
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
        jumps: P(k), ``(batch, 2 window + 1)``, in the order of :func:`distances`.
        weight: λ.
        mask: ``(batch, length)``, 1 for a source word and 0 after its sentence's end.
        renormalise: divide by the sum, which is below one where jumps have led out of the
            sentence. Attention that is all lost stays zero.

    Returns:
        α_t, ``(batch, length)``.
    """
    places = previous.unfold(1, jumps.size(1), 1)
    mixed = torch.baddbmm(content.unsqueeze(2), places, jumps.unsqueeze(2), beta=1 - weight, alpha=weight)
    attention = mixed.squeeze(2) * mask
    if renormalise:
        total = attention.sum(1, keepdim=True)
        attention = attention / total.clamp_min(torch.finfo(total.dtype).tiny)
    return attention


def padded(attention: Tensor, window: int) -> Tensor:
    """Return an attention ``(batch, length)`` with ``window`` empty places on either side."""
    return pad(attention, (window, window))
