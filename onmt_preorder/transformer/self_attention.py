"""The self-attention of an encoder, with the position encodings of its configuration."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from torch import Tensor, nn

from onmt_preorder.transformer.attention import Positions, RelativePart, relative_attention
from onmt_preorder.transformer.config import EncoderConfig
from onmt_preorder.transformer.encodings import Encoding


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

    def positions(self, encoding: Encoding) -> Positions:
        """Return the positions that an encoding encodes."""
        return getattr(self, encoding.order)


class SelfAttention(nn.Module):
    """An encoder's attention within each sentence."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.heads, self.encodings, size = config.heads, config.encodings, config.hidden_size
        self.linear_query, self.linear_keys, self.linear_values, self.final_linear = (
            nn.Linear(size, size, bias=config.add_qkvbias) for _ in range(4)
        )
        self.dropout = nn.Dropout(config.attention_dropout)
        for encoding in self.encodings:
            tables = encoding.tables(config.head_size)
            if tables is not None:
                self.add_module(encoding.order, tables)

    def forward(self, states: Tensor, source: SourceBatch) -> Tensor:
        """Map ``(batch, length, size)`` to the same shape."""
        query, key, value = (
            linear(states).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for linear in (self.linear_query, self.linear_keys, self.linear_values)
        )
        parts: list[RelativePart] = []
        for encoding in self.encodings:
            positions = source.positions(encoding)
            query, key = encoding.rotate(query, key, positions)
            parts += encoding.parts(getattr(self, encoding.order, None), positions)
        dropout = self.dropout.p if self.training else 0.0
        context = relative_attention(query, key, value, source.lengths, parts, dropout)
        return self.final_linear(context.transpose(1, 2).flatten(2))
