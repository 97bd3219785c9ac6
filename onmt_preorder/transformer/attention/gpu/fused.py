"""Relative attention by fused kernels on a GPU: no ``[b, h, n, n]`` in memory.

The kernels never read the tables: they are given ``q · E_K^T`` and give back the attention summed by
clipped distance. Both are products with the tables, which torch computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import torch
import triton
from torch import Tensor
from torch.autograd.function import once_differentiable

from onmt_preorder.transformer.attention.gpu import kernels
from onmt_preorder.transformer.attention.relative_positions import RelativePart

LARGEST_HEAD = 128
_GRAIN = 1 << 24  # dropout is decided by 24 random bits


def refusal(query: Tensor, parts: Sequence[RelativePart]) -> str | None:
    """Return why the kernels cannot attend from ``(b, h, n, d)`` queries, None if they can."""
    size = query.size(3)
    if query.dtype not in (torch.float32, torch.bfloat16, torch.float16):
        return f"the kernels do not compute in {query.dtype}"
    if size > LARGEST_HEAD:
        return f"heads are larger than {LARGEST_HEAD}"
    if torch.cuda.get_device_capability(query.device) < (8, 0):
        return "the GPU is older than Ampere (compute capability 8.0)"
    if query.numel() // size * max(size, *map(_width, _limits(parts))) >= 1 << 31:
        return "a batch has 2^31 numbers or more"
    return None


def attend(
    query: Tensor, key: Tensor, value: Tensor, lengths: Tensor, parts: Sequence[RelativePart], dropout: float
) -> Tensor:
    """Attend as :func:`onmt_preorder.transformer.attention.relative_attention` says."""
    b, _, n, d = query.shape
    if parts:
        positions = parts[0].positions.stacked_with([part.positions for part in parts[1:]], b)
        tables = torch.cat([part.keys for part in parts]), torch.cat([part.values for part in parts])
    else:
        positions = lengths.new_empty(0, b, n, dtype=torch.int32)
        tables = query.new_empty(0, d), query.new_empty(0, d)
    # Projections write (b, n, h, d), as the kernels want it. The seed is drawn on the CPU, so as not to wait
    # for the GPU.
    states = (states.transpose(1, 2).contiguous() for states in (query, key, value))
    seed = int(torch.randint(1 << 31, ())) if dropout else 0
    given = *states, *tables, positions, lengths.contiguous(), *_limits(parts)
    return _Attention.apply(*given, dropout, seed).transpose(1, 2)


def _limits(parts: Sequence[RelativePart]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(part.keys.size(0) // 2 for part in parts), tuple(part.values.size(0) // 2 for part in parts)


def _width(limits: Sequence[int]) -> int:
    return sum(2 * limit + 1 for limit in limits)


class _Attention(torch.autograd.Function):
    """The kernels and the products with the tables; all states are ``[b, n, h, x]``."""

    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_table: Tensor,
        value_table: Tensor,
        positions: Tensor,
        lengths: Tensor,
        key_limits: tuple[int, ...],
        value_limits: tuple[int, ...],
        dropout: float,
        seed: int,
    ) -> Tensor:
        ctx.launch = launch = _Launch(query, key_limits, value_limits, dropout, seed)
        key_table, value_table = key_table.to(query.dtype) / sqrt(query.size(3)), value_table.to(query.dtype)
        inputs = query, key, value, query @ key_table.t(), positions, lengths
        rows, width = query.shape[:3], value_table.size(0)
        result, sums = torch.empty_like(query), query.new_empty(*rows, width)
        normaliser = query.new_empty(rows, dtype=torch.float32)
        near = query.new_full((*rows, width), float("-inf"), dtype=torch.float32)
        launch(kernels.forward, *inputs, result, normaliser, sums, near, **launch.columns)
        result.flatten(0, 2).addmm_(sums.flatten(0, 2), value_table)
        ctx.save_for_backward(key_table, value_table, sums, result, *inputs, normaliser)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        key_table, value_table, sums, result, *inputs, normaliser = ctx.saved_tensors
        gradient, launch = gradient.contiguous(), ctx.launch
        outer = gradient, gradient @ value_table.t()
        query, key, value = (torch.empty_like(states) for states in inputs[:3])
        bias, offsets = torch.zeros_like(inputs[3]), torch.empty_like(normaliser)
        launch(
            kernels.backward_of_queries,
            *inputs,
            normaliser,
            result,
            *outer,
            query,
            bias,
            offsets,
            **launch.ends,
        )
        launch(kernels.backward_of_keys, *inputs, normaliser, *outer, offsets, key, value)
        query.flatten(0, 2).addmm_(bias.flatten(0, 2), key_table)
        of_keys = bias.flatten(0, 2).t() @ inputs[0].flatten(0, 2) / sqrt(query.size(3))
        of_values = sums.flatten(0, 2).t() @ gradient.flatten(0, 2)
        return query, key, value, of_keys, of_values, *(None,) * 6


class _Launch:
    """Starts kernels with block sizes that suit ``(b, n, h, d)`` queries."""

    def __init__(
        self, query: Tensor, key_limits: Sequence[int], value_limits: Sequence[int], dropout: float, seed: int
    ) -> None:
        b, n, h, d = query.shape
        # As large as registers allow: what is wide gets smaller blocks and more threads.
        wide = query.dtype == torch.float32 or d > 64
        block = min(max(triton.next_power_of_2(n), 16), 32 if wide else 64)
        threshold = round(dropout * _GRAIN)
        kept_scale = _GRAIN / (_GRAIN - threshold) if threshold < _GRAIN else 0.0
        self._query = query
        self._grid = b * h, triton.cdiv(n, block)
        self._numbers = n, b, 1 / sqrt(d), seed, threshold, kept_scale
        self._constants = {
            "HEADS": h,
            "SIZE": d,
            "KEY_LIMITS": key_limits,
            "KEY_WIDTH": _width(key_limits),
            "VALUE_LIMITS": value_limits,
            "VALUE_WIDTH": _width(value_limits),
            "DROPOUT": threshold > 0,
            # Three products of tf32 are as good as one of float32, and many times as fast.
            "PRECISION": "tf32x3" if torch.get_float32_matmul_precision() == "highest" else "tf32",
            "QUERIES": block,
            "KEYS": block,
            "BLOCK": max(triton.next_power_of_2(d), 16),
            "num_warps": min(block // 8 * (2 if wide else 1), 8),
            "num_stages": 2,
        }
        self.ends = {"ENDS": triton.next_power_of_2(max(2 * len(key_limits), 1))}
        self.columns = {**self.ends, "COLUMNS": 32}

    def __call__(self, kernel: Any, *tensors: Tensor, **more: int) -> None:
        with torch.cuda.device_of(self._query):
            kernel[self._grid](*tensors, *self._numbers, **self._constants, **more)
