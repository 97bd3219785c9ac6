"""Our encoders in OpenNMT-py's models: made from options, they read words and the position feature."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import torch
from torch import Tensor

from onmt_preorder.encoder import EncoderLayers
from onmt_preorder.input.positions import ReadsPositions
from onmt_preorder.opennmt.options import reordering, transformer
from onmt_preorder.opennmt.options.helpers import layer_settings
from onmt_preorder.papers.distortion.encoder import BidirectionalGRUEncoder
from onmt_preorder.papers.explicit_reordering import named
from onmt_preorder.transformer.config import EncoderConfig


class PreorderTransformerEncoder(ReadsPositions, EncoderLayers):
    """Our Transformer encoder.

    Pre-norm, without any encoding of preordered positions and with ``source_max_relative: 0``, it
    computes what OpenNMT-py's ``transformer`` encoder computes.
    """

    embeddings: Any  # OpenNMT-py's

    def __init__(self, opt: Namespace, embeddings: Any) -> None:
        encodings = transformer.encodings_of(opt)
        config = EncoderConfig(**layer_settings(opt), layers=opt.enc_layers, encodings=encodings)
        explicit = named(opt.explicit_reordering, opt)
        super().__init__(config, embeddings, explicit, lambda: reordering.block_of("encoder", opt, config))

    @property
    def needs_positions(self) -> bool:
        """Whether the source needs its position feature."""
        return self.config.needs_positions

    def forward(self, src: Tensor, src_len: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Encode ``(batch, length, 1 or 2)`` ids of words and of positions, ``src_len`` of each sentence.

        Return states ``(batch, length, size)``; their mean in each sentence, ``(batch, size)``, from which a
        recurrent decoder begins; and ``src_len``.
        """
        padding = torch.arange(src.size(1), device=src.device) >= src_len.unsqueeze(1)
        has_use = self.needs_positions or (self.explicit is not None and self.has_positions(src))
        positions = self.positions(src, padding) if has_use else None
        # Positions are encoded before the dropout of the embeddings, which drops from the whole sum.
        embedded = self.embeddings.make_embedding(src[:, :, :1])
        states = self.transform(embedded, src_len, padding, positions, self.embeddings.dropout)
        total = states.masked_fill(padding.unsqueeze(2), 0).sum(1)
        return states, total / src_len.clamp_min(1).unsqueeze(1), src_len


def gru_encoder(opt: Namespace, embeddings: Any) -> BidirectionalGRUEncoder:
    """Make the encoder of RNNsearch*."""
    embeddings.dropout_p = 0  # the paper drops from the output layer alone
    kinds = {kind: kind in opt.preorder_encoding for kind in (transformer.ABSOLUTE, transformer.RECURRENT)}
    return BidirectionalGRUEncoder(opt.enc_hid_size, opt.enc_layers, embeddings, **kinds)
