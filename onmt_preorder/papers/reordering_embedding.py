"""Reordering embeddings (Chen et al. 2019): a layer learns how much of each token's position to keep.

The blocks stand in the slot ``after_attention`` of an encoder or decoder layer. There

    H̄ = LN(SelfAttn(H) + H)
    C = LN(H̄ + PE ⊙ PP),  PP = sigmoid(V tanh(W H + W̄ H̄))

and what follows reads C, while its residual is H̄. In a pre-norm layer H and H̄ are the
normalised states that attention and what follows it read, and the residuals by-pass both.
"""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import torch
from torch import Tensor, nn

from onmt_preorder.option_helpers import option_group
from onmt_preorder.transformer.options import ENCODER, make_norm
from preorder.errors import UsageError

SIDES = ("encoder", "decoder")
EMBEDDING, ADDITIONAL = "reordering_embedding", "additional_position_encoding"


def add_options(parser: Any) -> None:
    """Add the options to a parser of OpenNMT-py."""
    add = option_group(parser, "Model- reordering embeddings")
    for name, what in (
        (EMBEDDING, "Sides whose layers learn reordering embeddings."),
        (ADDITIONAL, "Sides whose layers add the positions' encodings unchanged: a control."),
    ):
        add(name, nargs="*", default=[], choices=SIDES, help=what)


def check(opt: Namespace) -> None:
    """Check that both sides can have what they are asked for."""
    types = {"encoder": opt.encoder_type, "decoder": opt.decoder_type}
    for name in (EMBEDDING, ADDITIONAL):
        for side in getattr(opt, name):
            if types[side] != ENCODER:  # our decoder has the encoder's name
                raise UsageError(f"{name}: [{side}] needs {side}_type: {ENCODER}")
            if opt.position_encoding_type != "SinusoidalInterleaved":
                raise UsageError(f"{name} needs position_encoding_type: SinusoidalInterleaved")
    both = set(getattr(opt, EMBEDDING)) & set(getattr(opt, ADDITIONAL))
    if both:
        raise UsageError(f"{EMBEDDING} and {ADDITIONAL} exclude each other in the {min(both)}")


class AdditionalEncoding(nn.Module):
    """``LN(H̄ + PE)``: the position once more, in every layer; the control of the paper."""

    def __init__(self, opt: Namespace) -> None:
        super().__init__()
        self.layer_norm = make_norm(opt)

    def forward(self, _read: Tensor, attended: Tensor, encodings: Tensor) -> Tensor:
        """Return C, which the next sub-layer reads, of H and H̄, all ``(b, n, d)``, and PE, ``(n, d)``."""
        return self.layer_norm(attended + encodings)


class ReorderingEmbedding(AdditionalEncoding):
    """``LN(H̄ + PE ⊙ PP)`` with the positional penalty PP, each number of it in (0, 1).

    V, W and W̄ have no biases (equation 6). Cost: three products of ``d²`` for each token.
    """

    def __init__(self, opt: Namespace) -> None:
        super().__init__(opt)
        for name in ("linear_read", "linear_attended", "linear_penalty"):
            self.add_module(name, nn.Linear(opt.enc_hid_size, opt.enc_hid_size, bias=False))

    def forward(self, read: Tensor, attended: Tensor, encodings: Tensor) -> Tensor:
        """Add the encodings times the penalty; see :class:`AdditionalEncoding`."""
        penalty = self.penalty(read, attended)
        return self.layer_norm(torch.addcmul(attended, encodings.to(penalty.dtype), penalty))

    def penalty(self, read: Tensor, attended: Tensor) -> Tensor:
        """Return PP, ``(b, n, d)``."""
        hidden = self.linear_read(read) + self.linear_attended(attended)
        return self.linear_penalty(hidden.tanh()).sigmoid()


def make_block(side: str, opt: Namespace) -> nn.Module | None:
    """Make what a layer of a side, ``encoder`` or ``decoder``, has after self-attention; None: nothing."""
    if side in getattr(opt, EMBEDDING):
        return ReorderingEmbedding(opt)
    return AdditionalEncoding(opt) if side in getattr(opt, ADDITIONAL) else None
