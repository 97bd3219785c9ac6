"""Relative attention written as the paper writes it, to test the others against."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from onmt_preorder.attention.relations import RelativePart


def clip(distance: int, limit: int) -> int:
    """Return the distance, cut to -limit … limit."""
    return max(-limit, min(limit, distance))


def relative_attention_by_pairs(
    query: Tensor, key: Tensor, value: Tensor, padding: Tensor, parts: Sequence[RelativePart]
) -> Tensor:
    """Attend with an explicit ``a_ij`` for every pair of tokens, one head and query at a time.

    Arguments and result as of :func:`onmt_preorder.attention.relative_attention`, without
    dropout. Slow by design: ``b · h · n²`` steps of Python.
    """
    b, h, n, d = query.shape
    result = torch.zeros_like(query)
    for sentence in range(b):
        tokens = [j for j in range(n) if not padding[sentence, j]]
        for head in range(h):
            for i in range(n):
                keys, values = [], []
                for j in tokens:
                    keys.append(key[sentence, head, j])
                    values.append(value[sentence, head, j])
                    for part in parts:
                        places = part.places.places.expand(b, n)[sentence]
                        distance = int(places[j] - places[i])
                        k, v = part.keys.size(0) // 2, part.values.size(0) // 2
                        keys[-1] = keys[-1] + part.keys[clip(distance, k) + k]
                        values[-1] = values[-1] + part.values[clip(distance, v) + v]
                scores = torch.stack([query[sentence, head, i] @ a for a in keys]) / d**0.5
                result[sentence, head, i] = (scores.softmax(0).unsqueeze(1) * torch.stack(values)).sum(0)
    return result
