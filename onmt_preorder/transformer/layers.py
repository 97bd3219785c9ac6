"""The layers of an encoder, with slots for papers' ideas and norms before or after.

Parameters carry the names of OpenNMT-py's own Transformer, so that weights can move between the two.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils import skip_init

from onmt_preorder.transformer.config import PRE, EncoderConfig, LayerConfig
from onmt_preorder.transformer.self_attention import SelfAttention, SourceBatch
from onmt_preorder.transformer.sinusoidal import encodings

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "silu": functional.silu,
    "gated-gelu": functional.gelu,
}
_GATED = ("silu", "gated-gelu")


class FeedForward(nn.Module):
    """The feed-forward block: two linear layers, maybe with a gate between; the layer adds the residual.

    The weights are to be initialised with the model, as OpenNMT-py does.
    """

    def __init__(self, config: LayerConfig) -> None:
        super().__init__()
        size, inner, bias = config.hidden_size, config.transformer_ff, config.add_ffnbias
        self.w_1 = skip_init(nn.Linear, size, inner, bias=bias)
        self.w_2 = skip_init(nn.Linear, inner, size, bias=bias)
        self.layer_norm = config.make_norm()
        self.dropout_1, self.dropout_2 = nn.Dropout(config.dropout), nn.Dropout(config.dropout)
        self.activation = _ACTIVATIONS[config.pos_ffn_activation_fn]
        gated = config.pos_ffn_activation_fn in _GATED
        self.w_3 = skip_init(nn.Linear, size, inner, bias=bias) if gated else None

    def forward(self, states: Tensor) -> Tensor:
        """Map ``(batch, length, size)`` to the same shape."""
        inner = self.activation(self.w_1(states))
        if self.w_3 is not None:
            inner = inner * self.w_3(states)
        return self.dropout_2(self.w_2(self.dropout_1(inner)))

    def update_dropout(self, dropout: float) -> None:
        """Change the dropout rate."""
        self.dropout_1.p = self.dropout_2.p = dropout


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
        config: EncoderConfig,
        after_attention: nn.Module | None = None,
        after_layer: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.pre_norm = config.norm_placement == PRE
        self.self_attn = SelfAttention(config)
        self.feed_forward = FeedForward(config)
        self.layer_norm = config.make_norm()
        self.dropout = nn.Dropout(config.dropout)
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
        attended = self.after(self.layer_norm, states + self.dropout(self.self_attn(read, source)))
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
