"""``decoder_type: distortion_rnn`` (Zhang et al. 2017): what the jumps of its attention depend on."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from onmt_preorder.opennmt.options.helpers import check_shared_embeddings, option_group, refuse
from onmt_preorder.opennmt.options.transformer import ENCODER as TRANSFORMER
from onmt_preorder.papers.distortion.rnnsearch import (
    HIDDEN,
    NONE,
    PAPER_LAMBDA,
    PAPER_WINDOW,
    SOURCE,
    TARGET,
)
from preorder.errors import UsageError

ENCODER, DECODER = "bidirectional_gru", "distortion_rnn"

# What OpenNMT-py's own models can do and these cannot; the decoder reads words without their numbers.
_UNSUPPORTED = (
    "copy_attn coverage_attn context_gate bridge lora_layers lora_embedding quant_layers model_task "
    "parallel_mode position_encoding"
)

_JUMPS = f"distortion: {SOURCE}, {TARGET} or {HIDDEN}", lambda opt: opt.distortion != NONE
_ADADELTA = "optim: adadelta", lambda opt: opt.optim == "adadelta"
NEEDS = {
    **dict.fromkeys(("distortion_window", "distortion_lambda", "distortion_rate_factor"), _JUMPS),
    "distortion_source_end": (f"decoder_type: {DECODER}", lambda opt: opt.decoder_type == DECODER),
    **dict.fromkeys(("adadelta_rho", "adadelta_eps"), _ADADELTA),
}


def add_options(parser: Any) -> None:
    """Add the models' options, and AdaDelta's, to a parser of OpenNMT-py."""
    add = option_group(parser, f"Model- decoder_type {DECODER}")
    what = "What the jumps of attention depend on: the previous source context (S-Distortion), the previous "
    what += "target word (T-), the previous hidden state (H-); none: RNNsearch* without jumps."
    add("distortion", default=NONE, choices=[NONE, SOURCE, TARGET, HIDDEN], help=what)
    add("distortion_window", type=int, default=PAPER_WINDOW, help="The longest jump, in source tokens.")
    share = "Weight of the jumps in the attention, 0 to 1."
    add("distortion_lambda", type=float, default=PAPER_LAMBDA, help=share)
    rate = "The learning rate of the jumps, as a multiple of that of all other parameters."
    add("distortion_rate_factor", type=float, default=1.0, help=rate)
    end = "End every source sentence with an end symbol, to which attention can go."
    add("distortion_source_end", action="store_true", help=end)
    for name, default, what in (("rho", 0.9, "decay constant"), ("eps", 1e-6, "term of the denominator")):
        what = f"The {what} of optim: adadelta, with any model."
        add(f"adadelta_{name}", type=float, default=default, help=what)


def check(opt: Namespace) -> None:
    """Check what concerns these models."""
    if opt.decoder_type != DECODER:
        if opt.distortion != NONE:
            raise UsageError(f"distortion: {opt.distortion} needs decoder_type: {DECODER}")
        if opt.encoder_type == ENCODER:
            raise UsageError(f"encoder_type: {ENCODER} needs decoder_type: {DECODER}")
        return
    if opt.encoder_type not in (ENCODER, TRANSFORMER):
        known = f"{ENCODER} or {TRANSFORMER}"
        raise UsageError(f"decoder_type: {DECODER} needs encoder_type: {known}, not {opt.encoder_type}")
    refuse(opt, _UNSUPPORTED, f"decoder_type: {DECODER}")
    if opt.encoder_type == ENCODER and not opt.preorder_encoding:
        refuse(opt, "n_src_feats", f"encoder_type: {ENCODER} without preorder_encoding")
    if opt.encoder_type != ENCODER and opt.distortion_source_end:
        raise UsageError(f"distortion_source_end needs encoder_type: {ENCODER}, not {TRANSFORMER}")
    if opt.dec_layers != 1:
        raise UsageError(f"decoder_type: {DECODER} has one layer: dec_layers: 1, not {opt.dec_layers}")
    check_shared_embeddings(opt)
