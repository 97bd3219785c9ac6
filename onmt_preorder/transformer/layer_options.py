"""What a layer of the Transformer is made of."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass

from onmt.modules.rmsnorm import RMSNorm
from torch import nn

from onmt_preorder.transformer.dropout import first_rate
from onmt_preorder.transformer.options import PRE, EncodingOptions


@dataclass(frozen=True)
class LayerOptions:
    """Sizes and kinds of a layer's parts: OpenNMT-py's options, the dropout rates those of the beginning.

    Attributes:
        size, feed_forward: of the states, and of the feed-forward block's inner states.
        dropout: rate after each sub-layer and within the feed-forward block.
        attention_dropout: rate on the attention weights.
        qkv_bias, feed_forward_bias: whether attention's projections and the block's products have biases.
        norm, norm_eps: ``standard`` or ``rms``, and what it adds to the variance.
        pre_norm: normalise before each sub-layer, not after its residual.
        recompute: parts whose activations are computed again in the backward pass.
        encoding: how the encoder tells its tokens where they stand.
    """

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
            dropout=first_rate(opt.dropout),
            attention_dropout=first_rate(opt.attention_dropout),
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
        """Make what follows the last layer: nothing after post-norm layers, which end with a norm."""
        return self.make_norm() if self.pre_norm else nn.Identity()
