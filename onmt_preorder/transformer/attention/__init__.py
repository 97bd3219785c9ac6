"""Self-attention that knows how far apart two tokens stand, in one or several orders.

Shape legend: b batch, n length, h heads, d size of a head, r = 2k+1 clipped distances.

It is computed in plain torch (``plain``), or on a GPU by fused kernels (``gpu``).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import cache

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from onmt_preorder.transformer.attention import plain
from onmt_preorder.transformer.attention.relative_positions import Positions, RelativePart

_KERNELS = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]

__all__ = ["Positions", "RelativePart", "choose_path", "relative_attention"]


def relative_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    lengths: Tensor,
    parts: Sequence[RelativePart],
    dropout: float = 0.0,
) -> Tensor:
    """Attend within each sentence (Kawara et al. 2021, §III-C; Shaw et al. 2018).

    ``s_ij = q_i · (k_j + Σ_parts E_K[c_ij]) / sqrt(d)`` and
    ``z_i = Σ_j α_ij (v_j + Σ_parts E_V[c_ij])`` with ``α = dropout(softmax(s))``.

    Without parts it is torch's own attention, but for dropout on a CPU, which is drawn cheaply.

    ``query``, ``key``, ``value`` and the result are ``(b, h, n, d)``; attention does not go beyond
    ``lengths``, ``(b,)`` tokens in each sentence. Scores are float32 at least. Cost: besides plain attention
    ``O(b h n (n + r d))`` for each part; no ``[b, n, n, d]`` is built.
    """
    if not parts and (query.is_cuda or not dropout):
        return _attend(query, key, value, lengths, dropout)
    return choose_path(query, parts)(query, key, value, lengths, parts, dropout)


def _attend(query: Tensor, key: Tensor, value: Tensor, lengths: Tensor, dropout: float) -> Tensor:
    """Attend without positions, by kernels that any length suits: cuDNN's plans anew for each."""
    mask = torch.arange(query.size(2), device=query.device) < lengths.clamp_min(1).unsqueeze(1)
    with sdpa_kernel(_KERNELS):
        return scaled_dot_product_attention(
            query, key, value, mask[:, None, None, :].expand(-1, 1, query.size(2), -1), dropout
        )


def choose_path(query: Tensor, parts: Sequence[RelativePart]) -> Callable[..., Tensor]:
    """Return the fused kernels on a GPU where they can run and compute the same, else the plain path.

    Either takes the arguments of :func:`relative_attention`. On a CPU it is always the plain path.
    """
    if not query.is_cuda:
        return plain.attend
    from onmt_preorder.transformer.attention.gpu.comparison import distrust

    reason: str | None
    try:
        from onmt_preorder.transformer.attention.gpu import fused
    except ImportError as error:
        reason = f"Triton cannot be imported ({error})"
    else:
        reason = fused.refusal(query, parts) or distrust(fused.attend, query.device, query.dtype)
    if reason is None:
        return fused.attend
    _warn_once(reason)
    return plain.attend


@cache
def _warn_once(reason: str) -> None:
    logging.getLogger(__name__).warning("relative attention runs in plain torch: %s", reason)
