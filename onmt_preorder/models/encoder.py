"""``encoder_type: preorder_transformer``: the encoder of every paper on Transformers."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from math import sqrt
from typing import Any

import torch
from onmt.encoders.encoder import EncoderBase
from torch import Tensor, nn

from onmt_preorder.input.positions import feature_numbers, rank_positions
from onmt_preorder.papers.explicit_reordering.layers import (
    AdditionalLoss,
    ExplicitReordering,
    ReorderingFusion,
    reordering_loss,
)
from onmt_preorder.papers.explicit_reordering.options import ExplicitOptions
from onmt_preorder.papers.reordering_embedding.block import make_block
from onmt_preorder.transformer.attention import Positions
from onmt_preorder.transformer.layer_options import LayerOptions
from onmt_preorder.transformer.layers import EncoderLayer
from onmt_preorder.transformer.self_attention import SourceBatch
from onmt_preorder.transformer.sinusoidal import encodings
from preorder.errors import UsageError


class PreorderTransformerEncoder(EncoderBase):
    """A Transformer encoder that may be told, or learn, each token's position in the target's order.

    Pre-norm, without any encoding of preordered positions and with ``source_max_relative: 0``, it
    computes what OpenNMT-py's ``transformer`` encoder computes.

    Args:
        opt: of a training or a checkpoint.
        embeddings: OpenNMT-py's, of the words alone.
    """

    def __init__(self, opt: Namespace, embeddings: Any) -> None:
        super().__init__()
        options, explicit = LayerOptions.from_opt(opt), ExplicitOptions.from_opt(opt)
        self.encoding = options.encoding
        self.explicit = explicit
        self.embeddings = embeddings
        self.transformer = nn.ModuleList(
            EncoderLayer(
                options,
                after_attention=make_block("encoder", opt, options),
                after_layer=explicit and ExplicitReordering(options.size, explicit),
            )
            for _ in range(opt.enc_layers)
        )
        self.fusion = ReorderingFusion(options.size) if explicit and explicit.fusion else None
        self.layer_norm = options.make_last_norm()
        # Not a buffer: OpenNMT-py can neither average nor reload one of integers.
        self._numbers: Tensor | None = None
        # ids, padding, learned encodings: for the loss
        self._seen: tuple[Tensor, Tensor, Tensor] | None = None

    @classmethod
    def from_opt(cls, opt: Namespace, embeddings: Any) -> PreorderTransformerEncoder:
        """Build as OpenNMT-py does."""
        return cls(opt, embeddings)

    def read_positions_with(self, vocabulary: Sequence[str]) -> None:
        """Take the vocabulary of the position feature: entry i is the token of id i."""
        self._numbers = feature_numbers(vocabulary)

    def forward(self, src: Tensor, src_len: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Encode a batch.

        Args:
            src: ``(batch, length, 1 or 2)`` ids of words and of positions.
            src_len: ``(batch,)`` tokens in each sentence.

        Returns:
            States ``(batch, length, size)``; their mean in each sentence, ``(batch, size)``, from which a
            recurrent decoder begins; and ``src_len``.

        Raises:
            UsageError: the encoder needs positions and gets none.
        """
        source, learned = self._source(src, src_len), None
        states = self._embed(src[:, :, :1], source)
        if self.fusion is not None:
            states, learned = self.fusion(self.transformer, states, source)
        else:
            for layer in self.transformer:
                states, learned = layer(states, source)
        if learned is not None:
            self._seen = src, source.padding, learned
        states = self.layer_norm(states)
        total = states.masked_fill(source.padding.unsqueeze(2), 0).sum(1)
        return states, total / src_len.clamp_min(1).unsqueeze(1), src_len

    def additional_loss(self) -> AdditionalLoss | None:
        """Return the reordering loss of the batch that was encoded last, None where it had no positions."""
        if self._seen is None:
            return None
        (src, padding, learned), self._seen = self._seen, None
        if self._numbers is None or src.size(2) < 2:
            return None
        return reordering_loss(learned, self.positions(src, padding), padding, self.explicit)

    def _source(self, src: Tensor, src_len: Tensor) -> SourceBatch:
        original = torch.arange(src.size(1), device=src.device).unsqueeze(0)
        padding = original >= src_len.unsqueeze(1)
        preordered = None
        if self.encoding.needs_positions:
            if self._numbers is None or src.size(2) < 2:
                raise UsageError("the model needs source positions: token￨position, n_src_feats: 1")
            preordered = Positions(self.positions(src, padding))
        return SourceBatch(padding, src_len, Positions(original), preordered)

    def positions(self, src: Tensor, padding: Tensor) -> Tensor:
        """Return each token's position by the position feature of ``src``: ``(batch, length)``."""
        self._numbers = self._numbers.to(src.device)
        return rank_positions(self._numbers[src[:, :, 1]], padding)

    def _embed(self, words: Tensor, source: SourceBatch) -> Tensor:
        if not self.encoding.absolute:
            return self.embeddings(words)
        # Before the dropout of the embeddings, which so drops from the whole sum.
        embedded = self.embeddings.make_embedding(words)
        if not self.embeddings.position_encoding:
            embedded = embedded * sqrt(embedded.size(-1))  # as OpenNMT-py does where it adds an encoding
        table = encodings(0, embedded.size(1), embedded)
        return self.embeddings.dropout(embedded + table[source.preordered.tensor])

    def update_dropout(self, dropout: float, attention_dropout: float) -> None:
        """Change the dropout rates, as OpenNMT-py's ``dropout_steps`` ask."""
        self.embeddings.update_dropout(dropout)
        for layer in self.transformer:
            layer.update_dropout(dropout, attention_dropout)
