"""What a Transformer's layers are made of, checked once: when the configuration is made.

Fields have the names of OpenNMT-py's and eole's options.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import nn

from onmt_preorder.transformer.encodings import Encoding
from preorder.errors import UsageError

PRE, POST = "pre", "post"
NORMS = {"standard": nn.LayerNorm, "rms": nn.RMSNorm}


@dataclass(frozen=True)
class LayerConfig:
    """The layers of an encoder or a decoder: sizes, rates, norms."""

    hidden_size: int
    heads: int
    transformer_ff: int
    layers: int = 1
    dropout: float = 0.1
    attention_dropout: float = 0.1
    norm_placement: str = PRE  # before each sub-layer or after its residual
    layer_norm: str = "standard"
    norm_eps: float = 1e-6
    pos_ffn_activation_fn: str = "relu"
    add_qkvbias: bool = True
    add_ffnbias: bool = True

    def __post_init__(self) -> None:
        if self.hidden_size % self.heads:
            raise UsageError(f"hidden_size {self.hidden_size} is not a multiple of heads {self.heads}")

    @property
    def head_size(self) -> int:
        """The size of a head."""
        return self.hidden_size // self.heads

    def make_norm(self) -> nn.Module:
        """Make a normalisation of the kind and size that layers have."""
        return NORMS[self.layer_norm](self.hidden_size, eps=self.norm_eps)

    def make_last_norm(self) -> nn.Module:
        """Make what stands behind the last layer: post-norm layers end with a norm."""
        return self.make_norm() if self.norm_placement == PRE else nn.Identity()


@dataclass(frozen=True)
class EncoderConfig(LayerConfig):
    """An encoder's layers, and how they encode their tokens' positions."""

    encodings: tuple[Encoding, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        rotary = [encoding for encoding in self.encodings if encoding.rotates]
        if rotary and self.head_size % 2:
            raise UsageError(f"rotary encodings need heads of an even size, not {self.head_size}")
        if len(rotary) > 1 or (rotary and any(encoding.has_parts for encoding in self.encodings)):
            raise UsageError("rotary encodings go with neither relative nor other rotary encodings")

    @property
    def needs_positions(self) -> bool:
        """Whether the source needs preordered positions."""
        return any(encoding.order == "preordered" for encoding in self.encodings)


@dataclass(frozen=True)
class DecoderConfig(LayerConfig):
    """A decoder's layers."""

    target_max_relative: int = 0  # clipping distance of its relative encodings; 0: none
