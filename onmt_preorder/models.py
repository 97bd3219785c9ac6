"""``preorder_transformer``, as encoder and as decoder: our layers, and the papers' ideas in their slots."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import torch
from onmt.decoders.transformer import TransformerDecoder
from onmt.encoders.encoder import EncoderBase
from torch import Tensor, nn

from onmt_preorder.input.positions import ReadsPositions
from onmt_preorder.papers.explicit_reordering import (
    NONE,
    REFSR,
    AdditionalLoss,
    ExplicitReordering,
    ReorderingFusion,
    reordering_loss,
)
from onmt_preorder.papers.reordering_embedding import make_block
from onmt_preorder.transformer.attention import Positions
from onmt_preorder.transformer.layers import DecoderLayer, EncoderLayer
from onmt_preorder.transformer.options import PRE, EncodingOptions, make_norm
from onmt_preorder.transformer.self_attention import SourceBatch
from onmt_preorder.transformer.sinusoidal import encodings


def _make_last_norm(opt: Namespace) -> nn.Module:  # post-norm layers end with one
    return make_norm(opt) if opt.norm_placement == PRE else nn.Identity()


class PreorderTransformerEncoder(ReadsPositions, EncoderBase):
    """A Transformer encoder that may read, or learn, each token's position in the target's order.

    Pre-norm, without any encoding of preordered positions and with ``source_max_relative: 0``, it
    computes what OpenNMT-py's ``transformer`` encoder computes.
    """

    def __init__(self, opt: Namespace, embeddings: Any) -> None:
        super().__init__()
        self.encoding, self.embeddings = EncodingOptions.from_opt(opt), embeddings
        self.explicit = opt if opt.explicit_reordering != NONE else None
        self.transformer = nn.ModuleList(
            EncoderLayer(
                opt,
                after_attention=make_block("encoder", opt),
                after_layer=self.explicit and ExplicitReordering(opt.enc_hid_size, opt),
            )
            for _ in range(opt.enc_layers)
        )
        self.fusion = ReorderingFusion(opt.enc_hid_size) if opt.explicit_reordering == REFSR else None
        self.layer_norm = _make_last_norm(opt)
        self._seen: tuple[Tensor, Tensor, Tensor] | None = None  # ids, padding, learned encodings

    def forward(self, src: Tensor, src_len: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Encode ``(batch, length, 1 or 2)`` ids of words and of positions, ``src_len`` of each sentence.

        Return states ``(batch, length, size)``; their mean in each sentence, ``(batch, size)``, from which a
        recurrent decoder begins; and ``src_len``.
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
        if not self.has_positions(src):
            return None
        return reordering_loss(learned, self.positions(src, padding), padding, self.explicit)

    def _source(self, src: Tensor, src_len: Tensor) -> SourceBatch:
        original = torch.arange(src.size(1), device=src.device).unsqueeze(0)
        padding = original >= src_len.unsqueeze(1)
        preordered = Positions(self.positions(src, padding)) if self.encoding.needs_positions else None
        return SourceBatch(padding, src_len, Positions(original), preordered)

    def _embed(self, words: Tensor, source: SourceBatch) -> Tensor:
        if not self.encoding.absolute:
            return self.embeddings(words)
        # Before the dropout of the embeddings, which so drops from the whole sum.
        embedded = self.embeddings.make_embedding(words)
        table = encodings(0, embedded.size(1), embedded)
        return self.embeddings.dropout(embedded + table[source.preordered.tensor])

    def update_dropout(self, dropout: float, attention_dropout: float) -> None:
        """Change the dropout rates, as OpenNMT-py's ``dropout_steps`` ask."""
        self.embeddings.update_dropout(dropout)
        for layer in self.transformer:
            layer.update_dropout(dropout, attention_dropout)


class PreorderTransformerDecoder(TransformerDecoder):
    """OpenNMT-py's Transformer decoder, made of :class:`.DecoderLayer`.

    Pre-norm and without blocks it computes what ``decoder_type: transformer`` computes.
    """

    def __init__(self, opt: Namespace, embeddings: Any) -> None:
        # Past the constructor that makes OpenNMT-py's own layers.
        super(TransformerDecoder, self).__init__(
            opt.enc_hid_size, opt.copy_attn, embeddings, opt.alignment_layer, opt.layer_norm, opt.norm_eps
        )
        self.layer_norm = _make_last_norm(opt)
        self.transformer_layers = nn.ModuleList(
            DecoderLayer(opt, make_block("decoder", opt)) for _ in range(opt.dec_layers)
        )
