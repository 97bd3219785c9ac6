"""Relative attention in plain torch: on the CPU, and where the fused kernels cannot run.

``q · (k_j + Σ_parts E_K[c_ij])`` is ``q · k_j`` plus, for each part, one of the r columns of ``q · E_K^T``;
and ``Σ_j α_ij E_V[c_ij]`` is the attention summed by clipped distance, times ``E_V``. So there are two
operations:
- *spread* ``x[b,h,i,r]`` to ``y[b,h,i,j] = x[b,h,i, c_ij]``;
- *collect* ``w[b,h,i,j]`` to ``y[b,h,i,r] = Σ_{j: c_ij = r} w[b,h,i,j]``.

Each is the other's gradient. Since positions are permutations, both read or write ``2k-1`` tokens of a
row by index and the rest by a masked sum; results are the same every time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from onmt_preorder.cpu.dropout import draw
from onmt_preorder.transformer.attention.relative_positions import Positions, RelativePart

# As low as OpenNMT-py's own, so that our encoder without relative parts equals its.
MASKED = -1e18


_Side = tuple[tuple[Positions, int], ...]
"""The tokens' positions in each order, and the distance at which each order is clipped."""


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    lengths: Tensor,
    parts: Sequence[RelativePart],
    dropout: float,
) -> Tensor:
    """Attend as :func:`onmt_preorder.transformer.attention.relative_attention` says."""
    # Of the tables only distances that occur.
    keys = [_central(part.keys, query.size(2)) for part in parts]
    values = [_central(part.values, query.size(2)) for part in parts]
    key_side, value_side = (
        tuple((part.positions, table.size(0) // 2) for part, table in zip(parts, tables, strict=True))
        for tables in (keys, values)
    )
    tables = (torch.cat(side) if side else query.new_empty(0, query.size(3)) for side in (keys, values))
    return _Attention.apply(query, key, value, *tables, lengths, key_side, value_side, dropout)


def _central(table: Tensor, n: int) -> Tensor:
    limit = table.size(0) // 2
    few = max(1, min(limit, n - 1))
    return table[limit - few : limit + few + 1]


class _Attention(torch.autograd.Function):
    """Attention with a backward pass of our own, so that only two ``[b, h, n, n]`` are kept for it."""

    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_table: Tensor,
        value_table: Tensor,
        lengths: Tensor,
        key_side: _Side,
        value_side: _Side,
        dropout: float,
    ) -> Tensor:
        query, key, value = query.contiguous(), key.contiguous(), value.contiguous()
        root, key_table = sqrt(query.size(3)), key_table.to(query.dtype)
        scores = _product(query, key.mT, 1 / root)
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        _spread((query @ (key_table / root).mT).to(scores.dtype), scores, key_side)
        padding = torch.arange(query.size(2), device=query.device) >= lengths.unsqueeze(1)
        if padding.is_cuda or padding.any():
            scores.masked_fill_(padding[:, None, None, :], MASKED)
        weights = scores.softmax(dim=-1)
        factors = draw(weights, dropout)
        kept = weights if factors is None else weights * factors
        sums, value_table = _collect(kept, value_side).to(value.dtype), value_table.to(value.dtype)
        ctx.save_for_backward(query, key, value, key_table, value_table, weights, kept, sums)
        ctx.key_side, ctx.value_side = key_side, value_side
        return _add_product(kept.to(value.dtype) @ value, sums, value_table)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, context: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, key_table, value_table, weights, kept, sums = ctx.saved_tensors
        context, root = context.contiguous(), sqrt(query.size(3))
        scores = (context @ value.mT).to(weights.dtype)
        _spread((context @ value_table.mT).to(scores.dtype), scores, ctx.value_side)
        scores.mul_(kept)
        scores.addcmul_(weights, scores.sum(dim=-1, keepdim=True), value=-1)
        columns, scores = _collect(scores, ctx.key_side).to(query.dtype), scores.to(query.dtype)
        return (
            _add_product(_product(scores, key, 1 / root), columns, key_table, 1 / root),
            _product(scores.mT, query, 1 / root),
            kept.to(context.dtype).mT @ context,
            columns.flatten(0, 2).t() @ query.flatten(0, 2) / root,
            sums.flatten(0, 2).t() @ context.flatten(0, 2),
            *(None,) * 4,
        )


def _product(left: Tensor, right: Tensor, scale: float) -> Tensor:
    """Multiply ``(b, h, x, y)`` by ``(b, h, y, z)`` and the scale, without a pass for that."""
    none = left.new_zeros(())
    product = torch.baddbmm(none, left.flatten(0, 1), right.flatten(0, 1), beta=0, alpha=scale)
    return product.unflatten(0, left.shape[:2])


def _add_product(into: Tensor, rows: Tensor, table: Tensor, scale: float = 1.0) -> Tensor:
    """Add ``(b, h, n, r)`` times ``(r, d)`` times the scale."""
    into.flatten(0, 2).addmm_(rows.flatten(0, 2), table, alpha=scale)
    return into


def _spread(columns: Tensor, scores: Tensor, side: _Side) -> None:
    """Add to ``[b, h, i, j]`` the columns of the clipped distances from i to j."""
    for part, positions, limit in _each(columns, side):
        index, exists = _for_heads(part, *positions.near(limit))
        first, last = part[..., :1], part[..., -1:]
        scores.add_(first)
        scores.addcmul_(positions.beyond(limit, scores.dtype).unsqueeze(1), last - first)
        scores.scatter_add_(3, index, (part[..., 1:-1] - first) * exists)


def _collect(weights: Tensor, side: _Side) -> Tensor:
    """Return the sums of ``[b, h, i, j]`` over all j at a clipped distance, the orders side by side."""
    columns = weights.new_empty(*weights.shape[:3], sum(2 * limit + 1 for _, limit in side))
    for part, positions, limit in _each(columns, side):
        index, exists = _for_heads(weights, *positions.near(limit))
        near = torch.mul(weights.gather(3, index), exists, out=part[..., 1:-1])
        beyond = weights * positions.beyond(limit, weights.dtype).unsqueeze(1)
        last = torch.sum(beyond, dim=3, keepdim=True, out=part[..., -1:])
        first = weights.sum(dim=3, keepdim=True) - near.sum(dim=3, keepdim=True) - last
        # What rounding leaves where no key is so far must not bring in a vector that the query does not use.
        torch.mul(first, (positions.tensor >= limit)[:, None, :, None], out=part[..., :1])
    return columns


def _each(columns: Tensor, side: _Side) -> Iterator[tuple[Tensor, Positions, int]]:
    """Yield each order's columns."""
    end = 0
    for positions, limit in side:
        begin, end = end, end + 2 * limit + 1
        yield columns[..., begin:end], positions, limit


def _for_heads(rows: Tensor, *tensors: Tensor) -> list[Tensor]:
    return [tensor.unsqueeze(1).expand(*rows.shape[:3], -1) for tensor in tensors]
