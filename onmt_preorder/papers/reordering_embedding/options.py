"""Reordering embeddings (Chen et al. 2019): whose layers learn them."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from onmt_preorder.option_helpers import Need, option_group
from onmt_preorder.transformer.options import ENCODER
from preorder.errors import UsageError

SIDES = ("encoder", "decoder")
EMBEDDING, ADDITIONAL = "reordering_embedding", "additional_position_encoding"
NEEDS: dict[str, Need] = {}  # each names the sides that it is for


def add_options(parser: Any) -> None:
    """Add the options to a parser of OpenNMT-py."""
    add = option_group(parser, "Model- reordering embeddings")
    for name, what in (
        (EMBEDDING, "Sides whose layers learn reordering embeddings."),
        (ADDITIONAL, "Sides whose layers add the positions' encodings unchanged: a control."),
    ):
        add(name, nargs="*", default=[], choices=SIDES, help=what)


def check(opt: Namespace) -> None:
    """Check that both sides can have what they are asked for; else raise a ``UsageError``."""
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
