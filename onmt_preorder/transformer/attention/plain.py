"""Relative attention in plain torch: on the CPU, and where the fused kernels cannot run.

``q · (k_j + Σ_parts E_K[c_ij])`` is ``q · k_j`` plus, for each part, one of the r columns of ``q · E_K^T``;
and ``Σ_j α_ij E_V[c_ij]`` is the attention summed by clipped distance, times ``E_V``. So there are two
operations:
- *spread* ``x[b,h,i,r]`` to ``y[b,h,i,j] = x[b,h,i, c_ij]``;
- *collect* ``w[b,h,i,j]`` to ``y[b,h,i,r] = Σ_{j: c_ij = r} w[b,h,i,j]``.

Since positions are permutations, both read or write ``2k-1`` tokens of a row by index and the rest by a
masked sum; results are the same every time.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import torch
from torch import Tensor
from torch.nn import functional

from onmt_preorder.cpu.dropout import decide
from onmt_preorder.transformer.attention.relative_positions import Positions, RelativePart

# As low as OpenNMT-py's own, so that our encoder without relative parts equals its.
MASKED = -1e18


def attend(
    query: Tensor, key: Tensor, value: Tensor, lengths: Tensor, parts: Sequence[RelativePart], dropout: float
) -> Tensor:
    """Attend as :func:`onmt_preorder.transformer.attention.relative_attention` says."""
    query, root, n = query.contiguous(), sqrt(query.size(3)), query.size(2)
    scores = _product(query, key.mT, 1 / root)
    scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
    for part in parts:
        columns = query @ (_central(part.keys, n).to(query.dtype) / root).mT
        scores = _spread(columns.to(scores.dtype), scores, part.positions)
    padding = torch.arange(n, device=query.device) >= lengths.unsqueeze(1)
    if padding.is_cuda or torch.compiler.is_compiling() or padding.any():
        scores = scores.masked_fill_(padding[:, None, None, :], MASKED)
    kept = _drop(scores.softmax(dim=-1), dropout)
    context = kept.to(value.dtype) @ value
    for part in parts:
        table = _central(part.values, n).to(value.dtype)
        context = context + _collect(kept, part.positions, table.size(0) // 2).to(value.dtype) @ table
    return context


def _product(left: Tensor, right: Tensor, scale: float) -> Tensor:
    """Multiply ``(b, h, x, y)`` by ``(b, h, y, z)`` and the scale, without a pass for that."""
    none = left.new_zeros(())
    product = torch.baddbmm(none, left.flatten(0, 1), right.flatten(0, 1), beta=0, alpha=scale)
    return product.unflatten(0, left.shape[:2])


def _central(table: Tensor, n: int) -> Tensor:
    """Return the rows of the distances that occur between n tokens, of ``(2k+1, d)``."""
    limit = table.size(0) // 2
    few = max(1, min(limit, n - 1))
    return table[limit - few : limit + few + 1]


def _drop(weights: Tensor, dropout: float) -> Tensor:
    if not dropout or torch.compiler.is_compiling():
        return functional.dropout(weights, dropout)
    kept, scale = decide(weights, dropout)  # a mask of bytes, which the backward pass keeps
    return torch.where(kept, weights * scale, 0)


def _spread(columns: Tensor, scores: Tensor, positions: Positions) -> Tensor:
    """Add to ``[b, h, i, j]`` the columns, ``[b, h, i, 2k+1]``, of the clipped distances from i to j."""
    limit = columns.size(3) // 2
    index, exists = _for_heads(columns, *positions.near(limit))
    first, last = columns[..., :1], columns[..., -1:]
    beyond = positions.beyond(limit, scores.dtype).unsqueeze(1)
    scores = scores.add_(first).addcmul_(beyond, last - first)
    return scores.scatter_add_(3, index, (columns[..., 1:-1] - first) * exists)


def _collect(weights: Tensor, positions: Positions, limit: int) -> Tensor:
    """Return the sums of ``[b, h, i, j]`` over all j at a clipped distance, ``[b, h, i, 2 limit + 1]``."""
    index, exists = _for_heads(weights, *positions.near(limit))
    near = weights.gather(3, index) * exists
    beyond = positions.beyond(limit, weights.dtype).unsqueeze(1)
    last = (weights * beyond).sum(dim=3, keepdim=True)
    first = weights.sum(dim=3, keepdim=True) - near.sum(dim=3, keepdim=True) - last
    # What rounding leaves where no key is so far must not bring in a vector that the query does not use.
    first = first * (positions.tensor >= limit)[:, None, :, None]
    return torch.cat((first, near, last), dim=3)


def _for_heads(rows: Tensor, *tensors: Tensor) -> list[Tensor]:
    return [tensor.unsqueeze(1).expand(*rows.shape[:3], -1) for tensor in tensors]
