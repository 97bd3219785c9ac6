"""What the layers of encoder and decoder share: the feed-forward block, and where they normalise."""

from __future__ import annotations

from onmt.modules.position_ffn import PositionwiseFeedForward
from torch import Tensor, nn

from onmt_preorder.transformer.dropout import Dropout
from onmt_preorder.transformer.layer_options import LayerOptions


class FeedForward(PositionwiseFeedForward):
    """OpenNMT-py's feed-forward block, which leaves its norm and the residual to the layer."""

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
    """Where a layer normalises: ``y = x + f(LN(x))`` (pre-norm) or ``y = LN(x + f(x))`` (post-norm)."""

    pre_norm: bool

    def before(self, norm: nn.Module, states: Tensor) -> Tensor:
        """Return what a sub-layer reads."""
        return norm(states) if self.pre_norm else states

    def after(self, norm: nn.Module, states: Tensor) -> Tensor:
        """Return what a sub-layer gives, from the sum with its residual."""
        return states if self.pre_norm else norm(states)
