"""The encoder's self-attention, and the relative encodings of source tokens that it adds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from onmt_preorder.transformer.attention import Positions, RelativePart, relative_attention
from onmt_preorder.transformer.dropout import Dropout
from onmt_preorder.transformer.layer_options import LayerOptions
from onmt_preorder.transformer.options import Limits


@dataclass(frozen=True)
class SourceBatch:
    """What every layer knows of a batch of source sentences.

    Attributes:
        padding: ``(batch, length)``, True after a sentence's end.
        lengths: ``(batch,)`` tokens in each sentence.
        original: the tokens' original positions, the same for all sentences.
        preordered: their positions in the target's order; None where the encoder is not told.
    """

    padding: Tensor
    lengths: Tensor
    original: Positions
    preordered: Positions | None

    @cached_property
    def twice(self) -> SourceBatch:
        """The batch with all its sentences appended once more."""
        preordered = self.preordered and Positions(self.preordered.tensor.repeat(2, 1))
        return SourceBatch(self.padding.repeat(2, 1), self.lengths.repeat(2), self.original, preordered)


class RelativeTable(nn.Module):
    """One vector for each clipped distance: ``weight`` is ``(2 limit + 1, size)``.

    A module of its own with a ``weight``, since that is what OpenNMT-py initialises.
    """

    def __init__(self, limit: int, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(2 * limit + 1, size))
        nn.init.xavier_uniform_(self.weight)


class RelativeTables(nn.Module):
    """The separate tables of keys and values for one order of the tokens."""

    def __init__(self, limits: Limits, size: int) -> None:
        super().__init__()
        self.keys = RelativeTable(limits.keys, size)
        self.values = RelativeTable(limits.values, size)

    def forward(self, positions: Positions) -> RelativePart:
        """Join the tables with a batch's positions."""
        return RelativePart(positions, self.keys.weight, self.values.weight)


class SelfAttention(nn.Module):
    """Multi-head self-attention with relative encodings of original and preordered positions, or either."""

    def __init__(self, options: LayerOptions) -> None:
        super().__init__()
        self.heads = options.heads
        for name in ("linear_query", "linear_keys", "linear_values", "final_linear"):
            self.add_module(name, nn.Linear(options.size, options.size, bias=options.qkv_bias))
        self.dropout = Dropout(options.attention_dropout)
        head_size = options.size // options.heads
        encoding = options.encoding
        self.original = RelativeTables(encoding.original, head_size) if encoding.original else None
        self.preordered = RelativeTables(encoding.preordered, head_size) if encoding.preordered else None

    def forward(self, states: Tensor, source: SourceBatch) -> Tensor:
        """Map ``(batch, length, size)`` to the same shape."""
        parts = [
            tables(positions)
            for tables, positions in (
                (self.original, source.original),
                (self.preordered, source.preordered),
            )
            if tables is not None
        ]
        query, key, value = (
            linear(states).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for linear in (self.linear_query, self.linear_keys, self.linear_values)
        )
        dropout = self.dropout.p if self.training else 0.0
        context = relative_attention(query, key, value, source.lengths, parts, dropout)
        return self.final_linear(context.transpose(1, 2).flatten(2))
