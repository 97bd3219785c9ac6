"""Relative attention written as the paper writes it: the truth for the tests."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from onmt_preorder.transformer.attention.relative_positions import RelativePart


def clip(distance: int, limit: int) -> int:
    """Return the distance, cut to -limit … limit."""
    return max(-limit, min(limit, distance))


def relative_attention_by_pairs(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    lengths: Tensor,
    parts: Sequence[RelativePart],
    factors: Tensor | None = None,
) -> Tensor:
    """Attend with an explicit ``a_ij`` for every pair of tokens, one head and query at a time.

    Arguments and result as of :func:`onmt_preorder.transformer.attention.relative_attention`; what
    dropout multiplies the attention by is given, ``(b, h, n, n)``. Slow by design:
    ``b · h · n`` steps of Python.
    """
    b, h, n, d = query.shape
    result = torch.zeros_like(query)
    for sentence in range(b):
        length = int(lengths[sentence])
        orders = [part.positions.tensor.expand(b, n)[sentence] for part in parts]
        for head in range(h):
            for i in range(n):
                keys, values = key[sentence, head, :length], value[sentence, head, :length]
                for part, positions in zip(parts, orders, strict=True):
                    distances = (positions[:length] - positions[i]).tolist()
                    k, v = part.keys.size(0) // 2, part.values.size(0) // 2
                    keys = keys + part.keys[[clip(x, k) + k for x in distances]]
                    values = values + part.values[[clip(x, v) + v for x in distances]]
                weights = (keys @ query[sentence, head, i] / d**0.5).softmax(0)
                if factors is not None:
                    weights = weights * factors[sentence, head, i, :length]
                result[sentence, head, i] = weights @ values
    return result
