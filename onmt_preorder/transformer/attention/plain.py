"""Relative attention in plain torch: on the CPU, and where the fused kernels cannot run.

``q · (k_j + Σ_parts E_K[c_ij])`` is ``q · k_j`` plus, for each part, one of the r columns of
``q · E_K^T``; and ``Σ_j α_ij E_V[c_ij]`` is the attention summed by clipped distance, times
``E_V``. So keys and values need one pair of operations between the r clipped distances and
the n tokens of a row:

- *spread* ``x[b,h,i,r]`` to ``y[b,h,i,j] = x[b,h,i, c_ij]``;
- *collect* ``w[b,h,i,j]`` to ``y[b,h,i,r] = Σ_{j: c_ij = r} w[b,h,i,j]``.

Each is the other's gradient. Since positions are permutations, both read or write ``2k-1`` tokens of a
row by index and the rest by a masked sum; results are the same every time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from onmt_preorder.transformer.attention.relative_positions import Positions, RelativePart
from onmt_preorder.transformer.dropout import draw

# As low as OpenNMT-py's own, so that our encoder without relative parts equals its.
MASKED = -1e18


@dataclass(frozen=True)
class _Distances:
    """The tokens' positions in each order, and the distance at which each order is clipped."""

    positions: tuple[Positions, ...]
    limits: tuple[int, ...]

    def spread(self, columns: Tensor, scores: Tensor) -> None:
        """Add to the scores the columns of their clipped distances."""
        for part, positions, limit in self._each(columns):
            _spread(part, scores, positions, limit)

    def collect(self, weights: Tensor) -> Tensor:
        """Return the sums of the weights by clipped distance, those of all orders side by side."""
        columns = weights.new_empty(*weights.shape[:3], sum(2 * limit + 1 for limit in self.limits))
        for part, positions, limit in self._each(columns):
            _collect(weights, part, positions, limit)
        return columns

    def _each(self, columns: Tensor) -> Iterator[tuple[Tensor, Positions, int]]:
        parts = columns.split([2 * limit + 1 for limit in self.limits], dim=3) if self.limits else ()
        return zip(parts, self.positions, self.limits, strict=True)


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
    positions = tuple(part.positions for part in parts)
    key_side, value_side = (
        _Distances(positions, tuple(table.size(0) // 2 for table in tables)) for tables in (keys, values)
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
        key_side: _Distances,
        value_side: _Distances,
        dropout: float,
    ) -> Tensor:
        query, key, value = query.contiguous(), key.contiguous(), value.contiguous()
        root, key_table = sqrt(query.size(3)), key_table.to(query.dtype)
        scores = _product(query, key.mT, 1 / root)
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        key_side.spread((query @ (key_table / root).mT).to(scores.dtype), scores)
        padding = torch.arange(query.size(2), device=query.device) >= lengths.unsqueeze(1)
        if padding.is_cuda or padding.any():
            scores.masked_fill_(padding[:, None, None, :], MASKED)
        weights = scores.softmax(dim=-1)
        factors = draw(weights, dropout)
        kept = weights if factors is None else weights * factors
        sums, value_table = value_side.collect(kept).to(value.dtype), value_table.to(value.dtype)
        ctx.save_for_backward(query, key, value, key_table, value_table, weights, kept, sums)
        ctx.key_side, ctx.value_side = key_side, value_side
        return _add_product(kept.to(value.dtype) @ value, sums, value_table)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, context: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, key_table, value_table, weights, kept, sums = ctx.saved_tensors
        context, root = context.contiguous(), sqrt(query.size(3))
        scores = (context @ value.mT).to(weights.dtype)
        ctx.value_side.spread((context @ value_table.mT).to(scores.dtype), scores)
        scores.mul_(kept)
        scores.addcmul_(weights, scores.sum(dim=-1, keepdim=True), value=-1)
        columns, scores = ctx.key_side.collect(scores).to(query.dtype), scores.to(query.dtype)
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


def _spread(columns: Tensor, scores: Tensor, positions: Positions, limit: int) -> None:
    """Add to ``[b, h, i, j]`` the column of the clipped distance from i to j."""
    index, exists = _for_heads(columns, *positions.near(limit))
    first, last = columns[..., :1], columns[..., -1:]
    scores.add_(first)
    scores.addcmul_(positions.beyond(limit, scores.dtype).unsqueeze(1), last - first)
    scores.scatter_add_(3, index, (columns[..., 1:-1] - first) * exists)


def _collect(weights: Tensor, columns: Tensor, positions: Positions, limit: int) -> None:
    """Set each column to the sum of ``[b, h, i, j]`` over all j at its clipped distance."""
    index, exists = _for_heads(weights, *positions.near(limit))
    near = torch.mul(weights.gather(3, index), exists, out=columns[..., 1:-1])
    beyond = weights * positions.beyond(limit, weights.dtype).unsqueeze(1)
    last = torch.sum(beyond, dim=3, keepdim=True, out=columns[..., -1:])
    first = weights.sum(dim=3, keepdim=True) - near.sum(dim=3, keepdim=True) - last
    # What rounding has left where there is nothing to sum would train a vector that is never used.
    torch.mul(first, (positions.tensor >= limit)[:, None, :, None], out=columns[..., :1])


def _for_heads(rows: Tensor, *tensors: Tensor) -> list[Tensor]:
    return [tensor.unsqueeze(1).expand(*rows.shape[:3], -1) for tensor in tensors]
