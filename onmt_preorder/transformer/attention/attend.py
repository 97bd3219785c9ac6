"""Where self-attention goes: to the fused kernels, or to what is written in plain torch."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cache
from typing import Protocol

from torch import Tensor

from onmt_preorder.transformer.attention import plain
from onmt_preorder.transformer.attention.relations import RelativePart


class Path(Protocol):
    """A way to compute :func:`relative_attention`."""

    def __call__(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        lengths: Tensor,
        parts: Sequence[RelativePart],
        dropout: float,
    ) -> Tensor:
        """Attend; arguments and result as of :func:`relative_attention`."""


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

    Args:
        query, key, value: ``(b, h, n, d)``.
        lengths: ``(b,)`` tokens a sentence, at least 1; attention does not go beyond.
        parts: the relative encodings, none of them, one or several.
        dropout: the share of the attention weights that is dropped.

    Returns:
        ``(b, h, n, d)``.

    Besides plain attention each part costs ``O(b h n (n + r d))``; no ``[b, n, n, d]`` is built.
    Scores are float32 at least.
    """
    return choose_path(query, parts)(query, key, value, lengths, parts, dropout)


def choose_path(query: Tensor, parts: Sequence[RelativePart]) -> Path:
    """Return the fused kernels on a GPU where they can run, else the plain path."""
    if not query.is_cuda:
        return plain.attend
    try:
        from onmt_preorder.transformer.attention import fused
    except ImportError as error:
        _say_once(f"Triton cannot be imported ({error})")
        return plain.attend
    if reason := fused.refusal(query, parts):
        _say_once(reason)
        return plain.attend
    return fused.attend


@cache
def _say_once(reason: str) -> None:
    logging.getLogger(__name__).warning("relative attention runs in plain torch: %s", reason)
