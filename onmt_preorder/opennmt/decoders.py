"""Our decoders, as OpenNMT-py's models hold them, made from the options of a training or a checkpoint.

The Transformer's is OpenNMT-py's own with another layer; those of the papers are host-free, and get here what
they read of the options.
"""

from __future__ import annotations

from argparse import Namespace
from math import sqrt
from typing import Any

import torch
from onmt.decoders.transformer import TransformerDecoder, TransformerDecoderLayer
from onmt.modules import MultiHeadedAttention
from torch import Tensor, nn
from torch.nn.functional import one_hot

from onmt_preorder.opennmt.options import distortion
from onmt_preorder.opennmt.options.helpers import first_rate, layer_settings
from onmt_preorder.opennmt.options.reordering import block_of
from onmt_preorder.papers.distortion.rnnsearch import DistortionConfig, DistortionRNNDecoder
from onmt_preorder.papers.npmt.decoder import SwanConfig, SwanDecoder
from onmt_preorder.papers.npmt.scorer import WorkLimits
from onmt_preorder.transformer.attention.plain import MASKED
from onmt_preorder.transformer.config import PRE, DecoderConfig
from onmt_preorder.transformer.encodings.relative import RelativeTables
from onmt_preorder.transformer.layers import FeedForward, NormPlacement
from onmt_preorder.transformer.sinusoidal import encodings

# Arguments of OpenNMT-py's decoder layer that have the name of an option.
_OF_OPENNMT = (
    *("self_attn_type", "alignment_heads", "full_context_alignment", "num_kv", "sliding_window"),
    *("max_relative_positions", "relative_positions_buckets", "layer_norm", "norm_eps"),
    *("rotary_interleave", "rotary_theta", "rotary_dim"),
)


class PreorderTransformerDecoder(TransformerDecoder):
    """OpenNMT-py's Transformer decoder, made of :class:`DecoderLayer`.

    Pre-norm and without blocks it computes what ``decoder_type: transformer`` computes.
    """

    def __init__(self, opt: Namespace, embeddings: Any) -> None:
        config = DecoderConfig(
            **layer_settings(opt), layers=opt.dec_layers, target_max_relative=opt.target_max_relative
        )
        # Past the constructor that makes OpenNMT-py's own layers.
        super(TransformerDecoder, self).__init__(
            opt.enc_hid_size, opt.copy_attn, embeddings, opt.alignment_layer, opt.layer_norm, opt.norm_eps
        )
        self.layer_norm = config.make_last_norm()
        host = {name: getattr(opt, name) for name in _OF_OPENNMT}
        self.transformer_layers = nn.ModuleList(
            DecoderLayer(config, host, block_of("decoder", opt, config)) for _ in range(config.layers)
        )


class DecoderLayer(NormPlacement, TransformerDecoderLayer):
    """Self-attention, attention over the source, the feed-forward block: each with norm and residual.

    All but :meth:`_forward` is OpenNMT-py's, also the cache and the alignments. ``after_attention`` is a slot
    after self-attention, as in the encoder's layers.
    """

    def __init__(
        self, config: DecoderConfig, host: dict[str, Any], after_attention: nn.Module | None
    ) -> None:
        super().__init__(
            config.hidden_size,
            config.heads,
            config.transformer_ff,
            config.dropout,
            config.attention_dropout,
            add_qkvbias=config.add_qkvbias,
            **host,
        )
        self.pre_norm = config.norm_placement == PRE
        if config.target_max_relative:
            self.self_attn = RelativeSelfAttention(config)
        self.feed_forward = FeedForward(config)
        self.after_attention = after_attention

    def _forward(
        self,
        layer_in: Tensor,
        enc_out: Tensor,
        src_pad_mask: Tensor,
        tgt_pad_mask: Tensor,
        step: int | None = None,
        future: bool = False,
        return_attn: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Map ``(batch, length, size)`` to the same shape and the attention over the source.

        ``step`` is the position of the first given token, None for a whole sentence.
        """
        length = layer_in.size(1)
        mask = None  # a single step sees all that is cached
        if length > 1:
            mask = self._compute_dec_mask(tgt_pad_mask, future).unsqueeze(1).expand(-1, -1, length, -1)
        source_mask = src_pad_mask.unsqueeze(1).expand(-1, -1, length, -1)

        read = self.before(self.layer_norm_1, layer_in)
        attended, _ = self._forward_self_attn(read, mask, step, return_attn=return_attn)
        attended = self.after(self.layer_norm_1, layer_in + self.dropout(attended))
        query = self.before(self.layer_norm_2, attended)
        if self.after_attention is not None:
            begin = step or 0
            query = self.after_attention(read, query, encodings(begin, begin + length, query))
        context, attention = self.context_attn(
            enc_out, enc_out, query, mask=source_mask, return_attn=return_attn
        )
        states = self.after(self.layer_norm_2, attended + self.dropout(context))
        fed = self.before(self.feed_forward.layer_norm, states)
        return self.after(self.feed_forward.layer_norm, states + self.feed_forward(fed)), attention


class RelativeSelfAttention(MultiHeadedAttention):
    """A decoder's: OpenNMT-py's, but with one relative table for keys and one for values.

    OpenNMT-py has one table for both, and refuses it beside an encoding of absolute positions.
    Projections and the cache of decoding word by word are OpenNMT-py's.
    """

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__(
            config.heads,
            config.hidden_size,
            dropout=config.attention_dropout,
            attn_type="self",
            add_qkvbias=config.add_qkvbias,
        )
        self.relative = RelativeTables(config.target_max_relative, config.head_size)

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


def distortion_decoder(opt: Namespace, embeddings: Any) -> DistortionRNNDecoder:
    """Make the decoder of RNNsearch*."""
    bidirectional = opt.encoder_type == distortion.ENCODER
    config = DistortionConfig(
        size=opt.dec_hid_size,
        source_size=(1 + bidirectional) * opt.enc_hid_size,
        dropout=first_rate(opt.dropout),
        distortion=opt.distortion,
        window=opt.distortion_window,
        weight=opt.distortion_lambda,
    )
    embeddings.dropout_p = 0  # the paper drops from the output layer alone
    return DistortionRNNDecoder(config, embeddings)


def swan_decoder(opt: Namespace, embeddings: Any) -> SwanDecoder:
    """Make the decoder of NPMT."""
    config = SwanConfig(
        rnn_type=opt.rnn_type,
        source_size=opt.enc_hid_size,
        size=opt.dec_hid_size,
        layers=opt.dec_layers,
        dropout=first_rate(opt.dropout),
        bfloat16=getattr(opt, "bfloat16", False),  # earlier checkpoints have no such option
        limits=WorkLimits(
            opt.swan_segment_length, opt.swan_logits, opt.swan_negligible, opt.swan_unpromising
        ),
    )
    return SwanDecoder(config, embeddings)
