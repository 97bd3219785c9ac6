"""One layer of the decoder: OpenNMT-py's, with a slot for a paper's idea and either placement of norms."""

from __future__ import annotations

from argparse import Namespace

from onmt.decoders.transformer import TransformerDecoderLayer
from torch import Tensor, nn

from onmt_preorder.transformer.causal_attention import RelativeSelfAttention
from onmt_preorder.transformer.layer_options import LayerOptions
from onmt_preorder.transformer.options import target_limits
from onmt_preorder.transformer.sinusoidal import encodings
from onmt_preorder.transformer.sublayers import FeedForward, NormPlacement


class DecoderLayer(NormPlacement, TransformerDecoderLayer):
    """Self-attention, attention over the source, the feed-forward block: each with norm and residual.

    All but :meth:`_forward` is OpenNMT-py's, also the cache and the alignments.

    Args:
        opt: of a training or a checkpoint, for attention.
        options: of the layer, from the same.
        after_attention: a slot after self-attention, as in
            :class:`onmt_preorder.transformer.encoder_layer.EncoderLayer`.
    """

    def __init__(self, opt: Namespace, options: LayerOptions, after_attention: nn.Module | None) -> None:
        super().__init__(
            options.size,
            options.heads,
            options.feed_forward,
            options.dropout,
            options.attention_dropout,
            self_attn_type=opt.self_attn_type,
            max_relative_positions=opt.max_relative_positions,
            relative_positions_buckets=opt.relative_positions_buckets,
            full_context_alignment=opt.full_context_alignment,
            alignment_heads=opt.alignment_heads,
            add_qkvbias=options.qkv_bias,
            num_kv=opt.num_kv,
            layer_norm=options.norm,
            norm_eps=options.norm_eps,
            use_ckpting=options.recompute,
            sliding_window=opt.sliding_window,
            rotary_interleave=opt.rotary_interleave,
            rotary_theta=opt.rotary_theta,
            rotary_dim=opt.rotary_dim,
        )
        self.pre_norm = options.pre_norm
        limits = target_limits(opt)
        if limits:
            self.self_attn = RelativeSelfAttention(options, limits)
        self.feed_forward = FeedForward(options)
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

        Arguments and results are those of OpenNMT-py's layer; ``step`` is the position of the
        first given token, None for a whole sentence.
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
