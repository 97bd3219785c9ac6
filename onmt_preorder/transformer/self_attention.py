"""The self-attention of encoder and decoder with relative encodings of their tokens (Shaw et al. 2018)."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any

import torch
from onmt.modules import MultiHeadedAttention
from torch import Tensor, nn
from torch.nn.functional import one_hot

from onmt_preorder.transformer.attention import Positions, RelativePart, relative_attention
from onmt_preorder.transformer.attention.plain import MASKED
from onmt_preorder.transformer.options import EncodingOptions, first_rate


@dataclass(frozen=True)
class SourceBatch:
    """What every layer knows of a batch of source sentences."""

    padding: Tensor  # (batch, length), True after a sentence's end
    lengths: Tensor  # (batch,) tokens in each sentence
    original: Positions  # the same for all sentences
    preordered: Positions | None  # in the target's order; None where the encoder reads none

    @cached_property
    def twice(self) -> SourceBatch:
        """The batch with all its sentences appended once more."""
        preordered = self.preordered and Positions(self.preordered.tensor.repeat(2, 1))
        return SourceBatch(self.padding.repeat(2, 1), self.lengths.repeat(2), self.original, preordered)


class RelativeTables(nn.Module):
    """One order's tables of keys and values: a vector for each clipped distance, ``(2 limit + 1, size)``.

    They are weights of linear layers, which OpenNMT-py initialises.
    """

    def __init__(self, limit: int, size: int) -> None:
        super().__init__()
        self.keys, self.values = (nn.Linear(size, 2 * limit + 1, bias=False) for _ in range(2))


class SelfAttention(nn.Module):
    """An encoder's attention, with relative encodings of original and preordered positions, or either."""

    def __init__(self, opt: Namespace) -> None:
        super().__init__()
        self.heads = opt.heads
        for name in ("linear_query", "linear_keys", "linear_values", "final_linear"):
            self.add_module(name, nn.Linear(opt.enc_hid_size, opt.enc_hid_size, bias=opt.add_qkvbias))
        self.dropout = nn.Dropout(first_rate(opt.attention_dropout))
        head_size, encoding = opt.enc_hid_size // opt.heads, EncodingOptions.from_opt(opt)
        self.original = RelativeTables(encoding.original, head_size) if encoding.original else None
        self.preordered = RelativeTables(encoding.preordered, head_size) if encoding.preordered else None

    def forward(self, states: Tensor, source: SourceBatch) -> Tensor:
        """Map ``(batch, length, size)`` to the same shape."""
        orders = (self.original, source.original), (self.preordered, source.preordered)
        parts = [
            RelativePart(positions, tables.keys.weight, tables.values.weight)
            for tables, positions in orders
            if tables is not None
        ]
        query, key, value = (
            linear(states).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for linear in (self.linear_query, self.linear_keys, self.linear_values)
        )
        dropout = self.dropout.p if self.training else 0.0
        context = relative_attention(query, key, value, source.lengths, parts, dropout)
        return self.final_linear(context.transpose(1, 2).flatten(2))


class RelativeSelfAttention(MultiHeadedAttention):
    """A decoder's: OpenNMT-py's, but with one relative table for keys and one for values.

    OpenNMT-py has one table for both, and refuses it beside an encoding of absolute positions.
    Projections and the cache of decoding word by word are OpenNMT-py's.
    """

    def __init__(self, opt: Namespace) -> None:
        super().__init__(
            opt.heads,
            opt.enc_hid_size,
            dropout=first_rate(opt.attention_dropout),
            attn_type="self",
            add_qkvbias=opt.add_qkvbias,
        )
        self.relative = RelativeTables(opt.target_max_relative, opt.enc_hid_size // opt.heads)

    def forward(
        self, key: Tensor, value: Tensor, query: Tensor, mask: Tensor | None = None, **_: Any
    ) -> tuple[Tensor, Tensor]:
        """Attend from the given tokens, ``(b, n, size)`` all three, to themselves and to the cached ones.

        ``mask`` is ``(b, 1, n, n)``, True where attention must not go. Return ``(b, n, size)``, and the
        weights ``(b, heads, n, cached + n)``. Cost besides plain attention: ``O(b h n² r)`` multiplications,
        r = 2k+1 clipped distances.
        """
        query, key, value = (
            linear(query).unflatten(-1, (self.head_count, -1)).transpose(1, 2)
            for linear in (self.linear_query, self.linear_keys, self.linear_values)
        )
        key, value = self._with_cached(key, value)
        distances = _distances(query.size(2), key.size(2), self.relative.keys.weight)
        query = query / sqrt(self.dim_per_head)
        near = torch.einsum("bhir,ijr->bhij", query @ self.relative.keys.weight.t(), distances)
        scores = (query @ key.transpose(2, 3) + near).float()
        if mask is not None:
            scores = scores.masked_fill(mask, MASKED)
        weights = scores.softmax(-1).to(query.dtype)
        dropped = self.dropout(weights)
        collected = torch.einsum("bhij,ijr->bhir", dropped, distances)
        context = dropped @ value + collected @ self.relative.values.weight
        return self.final_linear(context.transpose(1, 2).flatten(2)), weights

    def _with_cached(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        is_stepwise, cache = self.layer_cache
        if is_stepwise:
            if cache["keys"].numel():
                key = torch.cat((cache["keys"], key), dim=2)
                value = torch.cat((cache["values"], value), dim=2)
            cache["keys"], cache["values"] = key, value
        return key, value


def _distances(queries: int, keys: int, table: Tensor) -> Tensor:
    """Return 1 at ``[i, j, clip(p_j - p_i, k) + k]``, else 0, queries being the last of the keys."""
    positions = torch.arange(keys, device=table.device)
    limit = table.size(0) // 2
    clipped = (positions - positions[keys - queries :].unsqueeze(1)).clamp(-limit, limit) + limit
    return one_hot(clipped, table.size(0)).to(table.dtype)
