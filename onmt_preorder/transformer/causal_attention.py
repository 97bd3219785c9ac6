"""A decoder's self-attention with relative encodings of its own (Shaw et al. 2018)."""

from __future__ import annotations

from math import sqrt
from typing import Any

import torch
from onmt.modules import MultiHeadedAttention
from torch import Tensor
from torch.nn.functional import one_hot

from onmt_preorder.transformer.layer_options import LayerOptions
from onmt_preorder.transformer.options import Limits
from onmt_preorder.transformer.self_attention import RelativeTables

_MASKED = -1e18  # as OpenNMT-py


class RelativeSelfAttention(MultiHeadedAttention):
    """OpenNMT-py's self-attention of a decoder, but with one relative table for keys and one for values.

    OpenNMT-py has one table for both, and refuses it beside an encoding of absolute positions.
    Projections and the cache of decoding word by word are OpenNMT-py's.

    Args:
        options: of the layer.
        limits: clipping distances.
    """

    def __init__(self, options: LayerOptions, limits: Limits) -> None:
        super().__init__(
            options.heads,
            options.size,
            dropout=options.attention_dropout,
            attn_type="self",
            add_qkvbias=options.qkv_bias,
        )
        self.relative = RelativeTables(limits, options.size // options.heads)

    def forward(
        self, key: Tensor, value: Tensor, query: Tensor, mask: Tensor | None = None, **_: Any
    ) -> tuple[Tensor, Tensor]:
        """Attend from the given tokens to themselves and to the cached ones.

        Args:
            key, value, query: the same ``(b, n, size)``.
            mask: ``(b, 1, n, n)``, True where attention must not go; None: it may go anywhere.

        Returns:
            ``(b, n, size)``, and the weights ``(b, heads, n, cached + n)``.

        Cost besides plain attention: ``O(b h n² r)`` multiplications, r = 2k+1 clipped distances.
        """
        query, key, value = (
            linear(query).unflatten(-1, (self.head_count, -1)).transpose(1, 2)
            for linear in (self.linear_query, self.linear_keys, self.linear_values)
        )
        key, value = self._with_cached(key, value)
        near_keys, near_values = (
            _distances(query.size(2), key.size(2), table.weight)
            for table in (self.relative.keys, self.relative.values)
        )
        query = query / sqrt(self.dim_per_head)
        near = torch.einsum("bhir,ijr->bhij", query @ self.relative.keys.weight.t(), near_keys)
        scores = (query @ key.transpose(2, 3) + near).float()
        if mask is not None:
            scores = scores.masked_fill(mask, _MASKED)
        weights = scores.softmax(-1).to(query.dtype)
        dropped = self.dropout(weights)
        collected = torch.einsum("bhij,ijr->bhir", dropped, near_values)
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
