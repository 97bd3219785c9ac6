"""``decoder_type: distortion_rnn`` (Zhang et al. 2017): what the jumps of its attention depend on."""

from __future__ import annotations

from argparse import Namespace

from onmt_preorder.opennmt.options.helpers import Option, check_shared_embeddings, refuse
from onmt_preorder.opennmt.options.transformer import ENCODER as TRANSFORMER
from onmt_preorder.papers.distortion.rnnsearch import HIDDEN, NONE, PAPER_LAMBDA, PAPER_WINDOW, SOURCE, TARGET
from preorder.errors import UsageError

ENCODER, DECODER = "bidirectional_gru", "distortion_rnn"

# What OpenNMT-py's own models can do and these cannot; the decoder reads words without their numbers.
_UNSUPPORTED = (
    "copy_attn coverage_attn context_gate bridge lora_layers lora_embedding quant_layers model_task "
    "parallel_mode position_encoding"
)

_JUMPS = f"distortion: {SOURCE}, {TARGET} or {HIDDEN}", lambda opt: opt.distortion != NONE
_ADADELTA = "optim: adadelta", lambda opt: opt.optim == "adadelta"
_DECODER = f"decoder_type: {DECODER}", lambda opt: opt.decoder_type == DECODER

TITLE = f"decoder_type {DECODER}"
OPTIONS = {
    "distortion": Option(
        NONE,
        "What the jumps of attention depend on: the previous source context (S-Distortion), the previous "
        "target word (T-), the previous hidden state (H-); none: RNNsearch* without jumps.",
        choices=(NONE, SOURCE, TARGET, HIDDEN),
    ),
    "distortion_window": Option(PAPER_WINDOW, "The longest jump, in source tokens.", _JUMPS),
    "distortion_lambda": Option(PAPER_LAMBDA, "Weight of the jumps in the attention, 0 to 1.", _JUMPS),
    "distortion_rate_factor": Option(
        1.0, "The learning rate of the jumps, as a multiple of that of all other parameters.", _JUMPS
    ),
    "distortion_source_end": Option(
        False, "End every source sentence with an end symbol, to which attention can go.", _DECODER
    ),
    "adadelta_rho": Option(0.9, "The decay constant of optim: adadelta, with any model.", _ADADELTA),
    "adadelta_eps": Option(
        1e-6, "The term of the denominator of optim: adadelta, with any model.", _ADADELTA
    ),
}


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
