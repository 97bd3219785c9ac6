"""``decoder_type: preorder_transformer``: OpenNMT-py's Transformer decoder with our layers."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from onmt.decoders.transformer import TransformerDecoder
from torch import nn

from onmt_preorder.papers.reordering_embedding.block import make_block
from onmt_preorder.transformer.layer_options import LayerOptions
from onmt_preorder.transformer.layers import DecoderLayer


class PreorderTransformerDecoder(TransformerDecoder):
    """OpenNMT-py's Transformer decoder, made of :class:`.DecoderLayer`.

    Pre-norm and without blocks it computes what ``decoder_type: transformer`` computes.
    """

    def __init__(self, opt: Namespace, embeddings: Any) -> None:
        options = LayerOptions.from_opt(opt)
        # Past the constructor that makes OpenNMT-py's own layers.
        super(TransformerDecoder, self).__init__(
            options.size, opt.copy_attn, embeddings, opt.alignment_layer, options.norm, options.norm_eps
        )
        self.layer_norm = options.make_last_norm()
        self.transformer_layers = nn.ModuleList(
            DecoderLayer(opt, options, make_block("decoder", opt, options)) for _ in range(opt.dec_layers)
        )

    @classmethod
    def from_opt(cls, opt: Namespace, embeddings: Any) -> PreorderTransformerDecoder:
        """Build as OpenNMT-py does."""
        return cls(opt, embeddings)
