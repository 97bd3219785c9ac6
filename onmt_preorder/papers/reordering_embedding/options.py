"""Reordering embeddings (Chen et al. 2019), our decoder, and where its and our encoder's norms stand."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from onmt_preorder.refusal import refuse, refuse_in_model
from onmt_preorder.transformer.options import ENCODER, Limits
from preorder.data.errors import UsageError

DECODER = "preorder_transformer"
ENCODERS: dict[str, str] = {}
DECODERS = {DECODER: "onmt_preorder.models.decoder:PreorderTransformerDecoder"}
SIDES = ("encoder", "decoder")
REORDERING, ADDITIONAL = "reordering", "additional"
PRE, POST = "pre", "post"

# What OpenNMT-py's own decoder can do and ours cannot, and the value that leaves it off.
_UNSUPPORTED: dict[str, Any] = {
    "parallel_residual": False,
    "shared_layer_norm": False,
    "num_experts": 0,
    "model_task": "seq2seq",
}
_EMBEDDING, _ADDITIONAL = "reordering_embedding", "additional_position_encoding"


def add_options(parser: Any) -> None:
    """Add the options to a parser of OpenNMT-py."""
    group = parser.add_argument_group("Model- reordering embeddings")
    group.add(
        "--norm_placement",
        "-norm_placement",
        default=PRE,
        choices=[PRE, POST],
        help="Where layers normalise: before each sub-layer, as OpenNMT-py, or after its residual.",
    )
    for name, what in (
        (_EMBEDDING, "Sides whose layers learn reordering embeddings."),
        (_ADDITIONAL, "Sides whose layers add the places' encodings unchanged: a control."),
    ):
        group.add(f"--{name}", f"-{name}", nargs="*", default=[], choices=SIDES, help=what)
    group.add(
        "--target_max_relative",
        "-target_max_relative",
        type=int,
        default=0,
        help="Clipping distance of the target's places in the decoder (0: off), keys and values apart.",
    )


def block_of(side: str, opt: Namespace) -> str | None:
    """Return what the layers of a side have after self-attention: a kind of block or None."""
    if side in getattr(opt, _EMBEDDING):
        return REORDERING
    return ADDITIONAL if side in getattr(opt, _ADDITIONAL) else None


def target_limits(opt: Namespace) -> Limits | None:
    """Return the clipping distances of the target's places in the decoder, or None."""
    return Limits(opt.target_max_relative, opt.target_max_relative) if opt.target_max_relative else None


def check(opt: Namespace) -> None:
    """Check what concerns the norms, the blocks and our decoder.

    Raises:
        UsageError: they ask for something that cannot be.
    """
    _check_sides(opt)
    _check_norms(opt)
    if opt.decoder_type != DECODER:
        if opt.target_max_relative:
            raise UsageError(f"target_max_relative needs decoder_type: {DECODER}, not {opt.decoder_type}")
        return
    _check_target_places(opt)
    refuse_in_model(opt, _UNSUPPORTED, f"decoder_type: {DECODER}")
    if opt.self_attn_type == "average":
        raise UsageError(f"self_attn_type: average does not work with decoder_type: {DECODER}")
    if opt.dec_hid_size != opt.tgt_word_vec_size:
        raise UsageError(f"hidden_size {opt.dec_hid_size} is not word_vec_size {opt.tgt_word_vec_size}")


def _check_sides(opt: Namespace) -> None:
    ours = {"encoder": opt.encoder_type == ENCODER, "decoder": opt.decoder_type == DECODER}
    for name in (_EMBEDDING, _ADDITIONAL):
        for side in getattr(opt, name):
            if not ours[side]:
                raise UsageError(f"{name}: [{side}] needs {side}_type: {ENCODER}")
            if opt.position_encoding_type != "SinusoidalInterleaved":
                raise UsageError(f"{name} needs position_encoding_type: SinusoidalInterleaved")
    both = set(getattr(opt, _EMBEDDING)) & set(getattr(opt, _ADDITIONAL))
    if both:
        raise UsageError(f"{_EMBEDDING} and {_ADDITIONAL} exclude each other in the {min(both)}")


def _check_target_places(opt: Namespace) -> None:
    if opt.target_max_relative < 0:
        raise UsageError("target_max_relative counts from 0")
    if opt.target_max_relative:
        others = ("max_relative_positions", "num_kv", "sliding_window")
        refuse(opt, dict.fromkeys(others, 0), "target_max_relative")


def _check_norms(opt: Namespace) -> None:
    """OpenNMT-py's own Transformers are pre-norm, and no model should be half and half by oversight."""
    if opt.norm_placement == POST:
        for side, kind in (("encoder", opt.encoder_type), ("decoder", opt.decoder_type)):
            if kind.startswith("transformer"):
                raise UsageError(f"norm_placement: {POST} needs {side}_type: {ENCODER}, not {kind}")
