"""Relative attention from products with the small tables: no ``[b, n, n, d]`` is ever built.

Both sides of a relative part turn on one pair of dual operations between the r clipped
distances and the n tokens of a row:

- *spread* ``x[b,h,i,r]`` to ``y[b,h,i,j] = x[b,h,i, c_ij]``, for ``q · E_K^T``;
- *collect* ``w[b,h,i,j]`` to ``y[b,h,i,r] = Σ_{j: c_ij = r} w[b,h,i,j]``, before ``· E_V``.

Each is the other's gradient. On the CPU they are a gather and a scatter-add. On a GPU
scatter-add would be non-deterministic, add up in half precision, and fight for the two
buckets ±k that hold most pairs; there both are products with 0/1 indicators, which every
layer shares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt

import torch
from torch import Tensor

from onmt_preorder.attention.relations import Places, RelativePart

# As low as OpenNMT-py's own, so that our encoder without relative parts equals its.
_MASKED = -1e18


def relative_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    padding: Tensor,
    parts: Sequence[RelativePart],
    dropout: Callable[[Tensor], Tensor],
) -> Tensor:
    """Attend within each sentence (Kawara et al. 2021, §III-C; Shaw et al. 2018).

    ``s_ij = q_i · (k_j + Σ_parts E_K[c_ij]) / sqrt(d)`` and
    ``z_i = Σ_j α_ij (v_j + Σ_parts E_V[c_ij])`` with ``α = dropout(softmax(s))``.

    Args:
        query, key, value: ``(b, h, n, d)``.
        padding: ``(b, n)``, True where attention must not go.
        parts: the relative encodings, none of them, one or several.
        dropout: applied to the attention weights.

    Returns:
        ``(b, h, n, d)``.

    Besides plain attention each part costs ``O(b h n (n + r d))`` on the CPU and
    ``O(b h n r (n + d))`` multiplications on a GPU; scores are float32 at least.
    """
    spread, collect = (_spread_by_product, _collect_by_product) if query.is_cuda else (_gather, _scatter)
    query = query / sqrt(query.size(-1))
    scores = query @ key.transpose(2, 3)
    scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
    for part in parts:
        scores = scores + spread(query @ part.keys.t(), part.places, part.key_limit)
    scores = scores.masked_fill(padding[:, None, None, :], _MASKED)
    weights = dropout(scores.softmax(dim=-1).to(query.dtype))
    context = weights @ value
    for part in parts:
        context = context + collect(weights, part.places, part.value_limit) @ part.values
    return context


def _gather(rows: Tensor, places: Places, limit: int) -> Tensor:
    return rows.gather(3, _for_heads(places.clipped(limit), rows))


def _scatter(weights: Tensor, places: Places, limit: int) -> Tensor:
    index = _for_heads(places.clipped(limit), weights)
    return weights.new_zeros(*weights.shape[:3], 2 * limit + 1).scatter_add(3, index, weights)


def _for_heads(index: Tensor, rows: Tensor) -> Tensor:
    return index.unsqueeze(1).expand(*rows.shape[:3], -1)


def _spread_by_product(rows: Tensor, places: Places, limit: int) -> Tensor:
    indicator = places.indicator(limit, rows.dtype)
    if indicator.size(0) == 1:
        return torch.einsum("bhir,ijr->bhij", rows, indicator[0])
    return torch.einsum("bhir,bijr->bhij", rows, indicator)


def _collect_by_product(weights: Tensor, places: Places, limit: int) -> Tensor:
    indicator = places.indicator(limit, weights.dtype)
    if indicator.size(0) == 1:
        return torch.einsum("bhij,ijr->bhir", weights, indicator[0])
    return torch.einsum("bhij,bijr->bhir", weights, indicator)
