"""The layers of encoder and decoder: OpenNMT-py's, with slots for papers' ideas and norms before or after.

Parameters carry the names of OpenNMT-py's own Transformer, so that weights can move between the two.
"""

from __future__ import annotations

from argparse import Namespace

from onmt.decoders.transformer import TransformerDecoderLayer
from onmt.modules.position_ffn import PositionwiseFeedForward
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from onmt_preorder.transformer.options import PRE, first_rate, make_norm
from onmt_preorder.transformer.self_attention import RelativeSelfAttention, SelfAttention, SourceBatch
from onmt_preorder.transformer.sinusoidal import encodings

# Arguments of OpenNMT-py's decoder layer that have the name of an option.
_OF_OPENNMT = (
    *("self_attn_type", "alignment_heads", "full_context_alignment", "num_kv", "sliding_window"),
    *("max_relative_positions", "relative_positions_buckets", "layer_norm", "norm_eps"),
    *("rotary_interleave", "rotary_theta", "rotary_dim"),
)


class FeedForward(PositionwiseFeedForward):
    """OpenNMT-py's feed-forward block, which leaves its norm and the residual to the layer."""

    def __init__(self, opt: Namespace) -> None:
        super().__init__(
            opt.enc_hid_size,
            opt.transformer_ff,
            first_rate(opt.dropout),
            opt.pos_ffn_activation_fn,
            opt.add_ffnbias,
            layer_norm=opt.layer_norm,
            norm_eps=opt.norm_eps,
            use_ckpting=opt.use_ckpting,
        )

    def forward(self, states: Tensor) -> Tensor:
        """Map ``(batch, length, size)`` to the same shape."""
        inner = self.activation(self.maybe_ckpt(self.w_1, states))
        if self.w_3 is not None:
            inner = inner * self.maybe_ckpt(self.w_3, states)
        return self.dropout_2(self.maybe_ckpt(self.w_2, self.dropout_1(inner)))


class NormPlacement:
    """Where a layer normalises: ``y = x + f(LN(x))`` (pre-norm) or ``y = LN(x + f(x))`` (post-norm)."""

    pre_norm: bool

    def before(self, norm: nn.Module, states: Tensor) -> Tensor:
        """Return what a sub-layer reads."""
        return norm(states) if self.pre_norm else states

    def after(self, norm: nn.Module, states: Tensor) -> Tensor:
        """Return what a sub-layer gives, from the sum with its residual."""
        return states if self.pre_norm else norm(states)


class EncoderLayer(NormPlacement, nn.Module):
    """Self-attention, then the feed-forward block, each with its norm and residual.

    The slot ``after_attention`` maps (what attention read, what would be read after it, the encodings of the
    tokens' original positions) to what is read instead. ``after_layer`` maps (the layer's output, the batch)
    to encodings of learned positions, which are added to the output.
    """

    def __init__(
        self,
        opt: Namespace,
        after_attention: nn.Module | None = None,
        after_layer: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.pre_norm = opt.norm_placement == PRE
        self.self_attn = SelfAttention(opt)
        self.feed_forward = FeedForward(opt)
        self.layer_norm = make_norm(opt)
        self.dropout = nn.Dropout(first_rate(opt.dropout))
        self.recompute_attention = "mha" in opt.use_ckpting
        self.after_attention = after_attention
        self.after_layer = after_layer

    def forward(self, states: Tensor, source: SourceBatch) -> tuple[Tensor, Tensor | None]:
        """Map ``(batch, length, size)`` to the same shape.

        Also return the encodings of learned positions that were added, None without ``after_layer``.
        """
        return self.reorder(self.transform(states, source), source)

    def transform(self, states: Tensor, source: SourceBatch) -> Tensor:
        """Do all but what stands in the slot ``after_layer``."""
        read = self.before(self.layer_norm, states)
        attended = self.after(self.layer_norm, states + self.dropout(self._attend(read, source)))
        fed = self.before(self.feed_forward.layer_norm, attended)
        if self.after_attention is not None:
            fed = self.after_attention(read, fed, encodings(0, fed.size(1), fed))
        return self.after(self.feed_forward.layer_norm, attended + self.feed_forward(fed))

    def reorder(self, states: Tensor, source: SourceBatch) -> tuple[Tensor, Tensor | None]:
        """Do what stands in the slot ``after_layer``; results as of the whole layer."""
        if self.after_layer is None:
            return states, None
        learned = self.after_layer(states, source)
        return states + learned, learned

    def _attend(self, states: Tensor, source: SourceBatch) -> Tensor:
        if self.recompute_attention and self.training:
            return checkpoint(self.self_attn, states, source, use_reentrant=False)
        return self.self_attn(states, source)

    def update_dropout(self, dropout: float, attention_dropout: float) -> None:
        """Change the dropout rates, as OpenNMT-py's ``dropout_steps`` ask."""
        self.self_attn.dropout.p = attention_dropout
        self.feed_forward.update_dropout(dropout)
        self.dropout.p = dropout


class DecoderLayer(NormPlacement, TransformerDecoderLayer):
    """Self-attention, attention over the source, the feed-forward block: each with norm and residual.

    All but :meth:`_forward` is OpenNMT-py's, also the cache and the alignments. ``after_attention`` is a slot
    after self-attention, as in :class:`EncoderLayer`.
    """

    def __init__(self, opt: Namespace, after_attention: nn.Module | None) -> None:
        super().__init__(
            opt.enc_hid_size,
            opt.heads,
            opt.transformer_ff,
            first_rate(opt.dropout),
            first_rate(opt.attention_dropout),
            add_qkvbias=opt.add_qkvbias,
            use_ckpting=opt.use_ckpting,
            **{name: getattr(opt, name) for name in _OF_OPENNMT},
        )
        self.pre_norm = opt.norm_placement == PRE
        if opt.target_max_relative:
            self.self_attn = RelativeSelfAttention(opt)
        self.feed_forward = FeedForward(opt)
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
