"""``reordering_embedding`` (Chen et al. 2019), and its control."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from torch import nn

from onmt_preorder.opennmt.options.helpers import option_group
from onmt_preorder.opennmt.options.transformer import ENCODER
from onmt_preorder.papers.reordering_embedding import AdditionalEncoding, ReorderingEmbedding
from onmt_preorder.transformer.config import LayerConfig
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


def block_of(side: str, opt: Namespace, config: LayerConfig) -> nn.Module | None:
    """Make what a layer of a side, ``encoder`` or ``decoder``, has after self-attention; None: nothing."""
    if side in getattr(opt, EMBEDDING):
        return ReorderingEmbedding(config)
    return AdditionalEncoding(config) if side in getattr(opt, ADDITIONAL) else None
