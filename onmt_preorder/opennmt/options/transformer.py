"""``encoder_type`` and ``decoder_type: preorder_transformer``: the options of our Transformer itself.

Among them are those of the preordering encodings (Kawara et al. 2021).
"""

from __future__ import annotations

from argparse import Namespace

from onmt_preorder.opennmt.options.helpers import Option, layer_settings, refuse
from onmt_preorder.papers.npmt import DECODER as SWAN  # whose target words have no positions
from onmt_preorder.transformer.config import POST, PRE, EncoderConfig
from onmt_preorder.transformer.encodings import Encoding
from onmt_preorder.transformer.encodings.named import ABSOLUTE, HELP, RELATIVE, ROTARY, encodings
from onmt_preorder.transformer.encodings.relative import PAPER_LIMIT
from preorder.errors import UsageError

ENCODER = DECODER = "preorder_transformer"
RECURRENT = "recurrent"
READERS = {ENCODER: (ABSOLUTE, RELATIVE, ROTARY), "bidirectional_gru": (ABSOLUTE, RECURRENT)}
"""The encoders that read preordered positions, and how they can."""

# What OpenNMT-py's own encoder and decoder can do and ours cannot; nor can it translate with copy_attn.
_UNSUPPORTED_ENCODER = (
    "multiquery num_kv parallel_residual relative_positions_buckets lora_layers lora_embedding quant_layers "
    "model_task copy_attn parallel_mode"
)
_UNSUPPORTED_DECODER = "parallel_residual shared_layer_norm num_experts model_task copy_attn parallel_mode"

_RELATIVE = f"preorder_encoding: [{RELATIVE}]", lambda opt: RELATIVE in opt.preorder_encoding
_OURS = f"encoder_type: {ENCODER}", lambda opt: opt.encoder_type == ENCODER or not opt.source_max_relative
_ENCODER = f"encoder_type: {ENCODER}", lambda opt: opt.encoder_type == ENCODER
_EITHER = (
    f"encoder_type or decoder_type: {ENCODER}",
    lambda opt: ENCODER in (opt.encoder_type, opt.decoder_type),
)

TITLE = f"encoder_type, decoder_type {ENCODER}"
OPTIONS = {
    "preorder_encoding": Option(
        [], HELP["preorder_encoding"], choices=(ABSOLUTE, RELATIVE, ROTARY, RECURRENT)
    ),
    "preorder_max_relative": Option(PAPER_LIMIT, HELP["preorder_max_relative"], _RELATIVE),
    "source_max_relative": Option(PAPER_LIMIT, HELP["source_max_relative"], _OURS),
    "target_max_relative": Option(0, "Clipping distance of the target's positions in the decoder (0: off)."),
    "source_rotary": Option(False, HELP["source_rotary"], _ENCODER),
    "norm_placement": Option(
        PRE,
        "Where layers normalise: before each sub-layer, as OpenNMT-py, or after its residual.",
        _EITHER,
        choices=(PRE, POST),
    ),
    "scale_embeddings": Option(
        False,
        "Multiply word embeddings by the root of their size, as position_encoding does, with any model.",
        ("position_encoding: false", lambda opt: not opt.position_encoding or opt.decoder_type == SWAN),
    ),
}


def encodings_of(opt: Namespace) -> tuple[Encoding, ...]:
    """Return the position encodings of the encoder, but for OpenNMT-py's own of original positions."""
    return encodings(**{name: getattr(opt, name) for name in HELP if hasattr(opt, name)})  # of all versions


def check(opt: Namespace) -> None:
    """Check what concerns encoder and decoder."""
    # OpenNMT-py's own Transformers are pre-norm, and no model should be half and half by oversight.
    if opt.norm_placement == POST:
        for side, kind in (("encoder", opt.encoder_type), ("decoder", opt.decoder_type)):
            if kind.startswith("transformer"):
                raise UsageError(f"norm_placement: {POST} needs {side}_type: {ENCODER}, not {kind}")
    _check_positions(opt)
    _check_encoder(opt)
    _check_decoder(opt)


def _check_positions(opt: Namespace) -> None:
    for kind in opt.preorder_encoding:
        readers = [encoder for encoder, kinds in READERS.items() if kind in kinds]
        if opt.encoder_type not in readers:
            needed = f"encoder_type: {' or '.join(readers)}, not {opt.encoder_type}"
            raise UsageError(f"preorder_encoding: [{kind}] needs {needed}")
    if opt.encoder_type not in READERS:
        return
    features = getattr(opt, "n_src_feats", 0)
    if opt.preorder_encoding and features != 1:
        raise UsageError(
            f"preorder_encoding needs the positions as source feature: n_src_feats: 1, not {features}"
        )
    if features > 1:
        reader = f"encoder_type: {opt.encoder_type}"
        raise UsageError(f"{reader} reads one source feature, the position, not {features}")


def _check_encoder(opt: Namespace) -> None:
    if opt.encoder_type != ENCODER:
        return
    refuse(opt, _UNSUPPORTED_ENCODER, f"encoder_type: {ENCODER}")
    if opt.decoder_type in ("rnn", "ifrnn", "cnn"):
        raise UsageError(f"encoder_type: {ENCODER} does not work with decoder_type: {opt.decoder_type}")
    try:
        EncoderConfig(**layer_settings(opt), encodings=encodings_of(opt))  # which checks itself
    except UsageError as error:
        named = [name for name in ("source_rotary", "source_max_relative") if getattr(opt, name)]
        option = f"{[*named, 'preorder_encoding'][0]}: " if "rotary" in str(error) else ""
        raise UsageError(f"{option}{error}") from None
    if opt.enc_hid_size != opt.src_word_vec_size:
        raise UsageError(f"hidden_size {opt.enc_hid_size} is not word_vec_size {opt.src_word_vec_size}")
    if ABSOLUTE in opt.preorder_encoding and opt.position_encoding_type != "SinusoidalInterleaved":
        raise UsageError("preorder_encoding: [absolute] needs position_encoding_type: SinusoidalInterleaved")


def _check_decoder(opt: Namespace) -> None:
    if opt.decoder_type != DECODER:
        if opt.target_max_relative:
            raise UsageError(f"target_max_relative needs decoder_type: {DECODER}, not {opt.decoder_type}")
        return
    if opt.target_max_relative:
        refuse(opt, "max_relative_positions num_kv sliding_window", "target_max_relative")
    refuse(opt, _UNSUPPORTED_DECODER, f"decoder_type: {DECODER}")
    if opt.self_attn_type == "average":
        raise UsageError(f"self_attn_type: average does not work with decoder_type: {DECODER}")
    if opt.dec_hid_size != opt.tgt_word_vec_size:
        raise UsageError(f"hidden_size {opt.dec_hid_size} is not word_vec_size {opt.tgt_word_vec_size}")
