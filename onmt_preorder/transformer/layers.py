"""One encoder layer, with slots where a paper's idea plugs in, and what decoder layers share with it.

Parameters carry the names of OpenNMT-py's own Transformer encoder, so that weights can
move between the two.
"""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass, field
from functools import cached_property

import torch
from onmt.modules.position_ffn import PositionwiseFeedForward
from onmt.modules.rmsnorm import RMSNorm
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from onmt_preorder.papers.reordering_embedding.options import PRE
from onmt_preorder.transformer.attention import Places, RelativePart, relative_attention
from onmt_preorder.transformer.dropout import Dropout
from onmt_preorder.transformer.options import EncodingOptions, Limits
from onmt_preorder.transformer.sinusoidal import encodings


@dataclass(frozen=True)
class LayerOptions:
    """What a layer is made of; the values are OpenNMT-py's options of these names."""

    size: int
    heads: int
    feed_forward: int
    dropout: float
    attention_dropout: float
    activation: str
    qkv_bias: bool
    feed_forward_bias: bool
    norm: str
    norm_eps: float
    pre_norm: bool
    recompute: tuple[str, ...]
    encoding: EncodingOptions

    @classmethod
    def from_opt(cls, opt: Namespace) -> LayerOptions:
        """Read the options of a training or a checkpoint."""
        return cls(
            size=opt.enc_hid_size,
            heads=opt.heads,
            feed_forward=opt.transformer_ff,
            dropout=_first(opt.dropout),
            attention_dropout=_first(opt.attention_dropout),
            activation=opt.pos_ffn_activation_fn,
            qkv_bias=opt.add_qkvbias,
            feed_forward_bias=opt.add_ffnbias,
            norm=opt.layer_norm,
            norm_eps=opt.norm_eps,
            pre_norm=opt.norm_placement == PRE,
            recompute=tuple(opt.use_ckpting),
            encoding=EncodingOptions.from_opt(opt),
        )

    def make_norm(self) -> nn.Module:
        """Make one normalisation of the layer's size."""
        return {"standard": nn.LayerNorm, "rms": RMSNorm}[self.norm](self.size, eps=self.norm_eps)

    def make_last_norm(self) -> nn.Module:
        """Make what follows the last layer: post-norm layers have normalised already."""
        return self.make_norm() if self.pre_norm else nn.Identity()


def _first(schedule: float | list[float]) -> float:
    return schedule[0] if isinstance(schedule, list) else schedule


@dataclass(frozen=True)
class Source:
    """What every layer knows of a batch of source sentences.

    Attributes:
        padding: ``(batch, length)``, True after a sentence's end.
        lengths: ``(batch,)`` tokens a sentence.
        original: the tokens' places in the source, the same for all sentences.
        preordered: their places in the target's order, where the encoder was told.
        reordered: ``(batch, length, size)`` of each layer: encodings of learned places, if it does.
    """

    padding: Tensor
    lengths: Tensor
    original: Places
    preordered: Places | None
    reordered: list[Tensor] = field(default_factory=list)

    @cached_property
    def twice(self) -> Source:
        """The same sentences, each once more after all of them."""
        preordered = self.preordered and Places(self.preordered.places.repeat(2, 1))
        return Source(self.padding.repeat(2, 1), self.lengths.repeat(2), self.original, preordered)


class RelativeTable(nn.Module):
    """One vector a clipped distance: ``weight`` is ``(2 limit + 1, size)``.

    A module by itself with a ``weight``, since that is what OpenNMT-py initialises.
    """

    def __init__(self, limit: int, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(2 * limit + 1, size))
        nn.init.xavier_uniform_(self.weight)


class RelativeTables(nn.Module):
    """The separate key and value tables of one order of the tokens."""

    def __init__(self, limits: Limits, size: int) -> None:
        super().__init__()
        self.keys = RelativeTable(limits.keys, size)
        self.values = RelativeTable(limits.values, size)

    def forward(self, places: Places) -> RelativePart:
        """Join the tables with a batch's places."""
        return RelativePart(places, self.keys.weight, self.values.weight)


class SelfAttention(nn.Module):
    """Multi-head self-attention with any of the two relative encodings."""

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

    def forward(self, states: Tensor, source: Source) -> Tensor:
        """Map ``(batch, length, size)`` to the same shape."""
        parts = [
            tables(places)
            for tables, places in ((self.original, source.original), (self.preordered, source.preordered))
            if tables is not None
        ]
        query, key, value = (
            linear(states).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for linear in (self.linear_query, self.linear_keys, self.linear_values)
        )
        dropout = self.dropout.p if self.training else 0.0
        context = relative_attention(query, key, value, source.lengths, parts, dropout)
        return self.final_linear(context.transpose(1, 2).flatten(2))


class FeedForward(PositionwiseFeedForward):
    """OpenNMT-py's feed-forward block, that leaves its norm and the residual to the layer."""

    def __init__(self, options: LayerOptions) -> None:
        super().__init__(
            options.size,
            options.feed_forward,
            options.dropout,
            options.activation,
            options.feed_forward_bias,
            layer_norm=options.norm,
            norm_eps=options.norm_eps,
            use_ckpting=options.recompute,
        )
        self.dropout_1, self.dropout_2 = Dropout(options.dropout), Dropout(options.dropout)

    def forward(self, states: Tensor) -> Tensor:
        """Map ``(batch, length, size)`` to the same shape."""
        inner = self.activation(self.maybe_ckpt(self.w_1, states))
        if self.w_3 is not None:
            inner = inner * self.maybe_ckpt(self.w_3, states)
        return self.dropout_2(self.maybe_ckpt(self.w_2, self.dropout_1(inner)))


class NormPlacement:
    """Where a layer normalises: ``y = x + f(LN(x))`` (pre-norm) or ``y = LN(x + f(x))``."""

    pre_norm: bool

    def before(self, norm: nn.Module, states: Tensor) -> Tensor:
        """Return what a sub-layer reads."""
        return norm(states) if self.pre_norm else states

    def after(self, norm: nn.Module, states: Tensor) -> Tensor:
        """Return what a sub-layer gives, from the sum with its residual."""
        return states if self.pre_norm else norm(states)


class EncoderLayer(NormPlacement, nn.Module):
    """Self-attention, then the feed-forward block, each with its norm and residual.

    Args:
        options: sizes and kinds of everything.
        after_attention: a slot; maps (what attention read, what would be read after it, the
            encodings of the tokens' places) to what is read in its stead, while the residual
            by-passes it.
        after_layer: a slot; maps (the layer's output, source) to what the next layer reads.
    """

    def __init__(
        self,
        options: LayerOptions,
        after_attention: nn.Module | None = None,
        after_layer: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.pre_norm = options.pre_norm
        self.self_attn = SelfAttention(options)
        self.feed_forward = FeedForward(options)
        self.layer_norm = options.make_norm()
        self.dropout = Dropout(options.dropout)
        self.recompute_attention = "mha" in options.recompute
        self.after_attention = after_attention
        self.after_layer = after_layer

    def forward(self, states: Tensor, source: Source) -> Tensor:
        """Map ``(batch, length, size)`` to the same shape."""
        output = self.transform(states, source)
        return output if self.after_layer is None else self.after_layer(output, source)

    def transform(self, states: Tensor, source: Source) -> Tensor:
        """Do all but what stands in the slot ``after_layer``."""
        read = self.before(self.layer_norm, states)
        attended = self.after(self.layer_norm, states + self.dropout(self._attend(read, source)))
        fed = self.before(self.feed_forward.layer_norm, attended)
        if self.after_attention is not None:
            fed = self.after_attention(read, fed, encodings(0, fed.size(1), fed))
        return self.after(self.feed_forward.layer_norm, attended + self.feed_forward(fed))

    def _attend(self, states: Tensor, source: Source) -> Tensor:
        if self.recompute_attention and self.training:
            return checkpoint(self.self_attn, states, source, use_reentrant=False)
        return self.self_attn(states, source)

    def update_dropout(self, dropout: float, attention_dropout: float) -> None:
        """Change the dropout rates, as OpenNMT-py's ``dropout_steps`` ask."""
        self.self_attn.dropout.p = attention_dropout
        self.feed_forward.update_dropout(dropout)
        self.dropout.p = dropout
