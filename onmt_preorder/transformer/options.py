"""``encoder_type`` and ``decoder_type: preorder_transformer``: the options of our Transformer itself.

The options of the preordering encodings (Kawara et al. 2021) are here too and not with the papers: the
layers' attention reads them, together with those of the original positions.
"""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onmt_preorder.option_helpers import option_group, refuse
from preorder.errors import UsageError

if TYPE_CHECKING:
    from torch import nn

ENCODER = DECODER = "preorder_transformer"
ABSOLUTE, RELATIVE, RECURRENT = "absolute", "relative", "recurrent"
READERS = {ENCODER: (ABSOLUTE, RELATIVE), "bidirectional_gru": (ABSOLUTE, RECURRENT)}
"""The encoders that read preordered positions, and how they can."""
PRE, POST = "pre", "post"
PAPER_LIMIT = 4  # Kawara et al. 2021, §V-C and Table I

# What OpenNMT-py's own encoder and decoder can do and ours cannot; nor can it translate with copy_attn.
_UNSUPPORTED_ENCODER = (
    "multiquery num_kv parallel_residual relative_positions_buckets lora_layers lora_embedding quant_layers "
    "model_task copy_attn parallel_mode"
)
_UNSUPPORTED_DECODER = "parallel_residual shared_layer_norm num_experts model_task copy_attn parallel_mode"

_RELATIVE = f"preorder_encoding: [{RELATIVE}]", lambda opt: RELATIVE in opt.preorder_encoding
_OURS = f"encoder_type: {ENCODER}", lambda opt: opt.encoder_type == ENCODER or not opt.source_max_relative
_EITHER = (
    f"encoder_type or decoder_type: {ENCODER}",
    lambda opt: ENCODER in (opt.encoder_type, opt.decoder_type),
)
NEEDS = {
    "preorder_max_relative": _RELATIVE,
    "source_max_relative": _OURS,
    "norm_placement": _EITHER,
    "scale_embeddings": ("position_encoding: false", lambda opt: not opt.position_encoding),
}


@dataclass(frozen=True)
class EncodingOptions:
    """How the encoder tells its tokens where they stand.

    All distances beyond a clipping distance, in tokens, count as this one; 0: not by these positions.
    """

    absolute: bool  # add the sinusoidal encoding of the preordered position to the embedding
    preordered: int  # clipping distance of the preordered positions
    original: int  # clipping distance of the original positions
    recurrent: bool = False  # read the words in preordered order, too

    @property
    def needs_positions(self) -> bool:
        """Whether the source needs its position feature."""
        return self.absolute or self.preordered > 0 or self.recurrent

    @classmethod
    def from_opt(cls, opt: Namespace) -> EncodingOptions:
        """Read the options of a training or a checkpoint."""
        return cls(
            absolute=ABSOLUTE in opt.preorder_encoding,
            preordered=opt.preorder_max_relative if RELATIVE in opt.preorder_encoding else 0,
            original=opt.source_max_relative,
            recurrent=RECURRENT in opt.preorder_encoding,
        )


def first_rate(rates: float | list[float]) -> float:
    """Return the dropout rate that training begins with; OpenNMT-py changes it later by ``dropout_steps``."""
    return rates[0] if isinstance(rates, list) else rates


def make_norm(opt: Namespace) -> nn.Module:
    """Make a normalisation of the kind and size that layers have."""
    from onmt.modules.rmsnorm import RMSNorm  # not before a model is built, as all of onmt
    from torch.nn import LayerNorm

    return {"standard": LayerNorm, "rms": RMSNorm}[opt.layer_norm](opt.enc_hid_size, eps=opt.norm_eps)


def add_options(parser: Any) -> None:
    """Add the options of encoder and decoder to a parser of OpenNMT-py."""
    add = option_group(parser, f"Model- encoder_type, decoder_type {ENCODER}")
    what = "How to encode the preordered positions that the source feature gives; nothing: not at all."
    add("preorder_encoding", nargs="*", default=[], choices=[ABSOLUTE, RELATIVE, RECURRENT], help=what)
    for name, default, what in (
        ("preorder_max_relative", PAPER_LIMIT, "preordered positions"),
        ("source_max_relative", PAPER_LIMIT, "original positions (0: off)"),
        ("target_max_relative", 0, "target's positions in the decoder (0: off)"),
    ):
        add(name, type=int, default=default, help=f"Clipping distance of the {what}.")
    what = "Where layers normalise: before each sub-layer, as OpenNMT-py, or after its residual."
    add("norm_placement", default=PRE, choices=[PRE, POST], help=what)
    what = "Multiply word embeddings by the root of their size, as position_encoding does, with any model."
    add("scale_embeddings", action="store_true", help=what)


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
    if opt.enc_hid_size % opt.heads:
        raise UsageError(f"hidden_size {opt.enc_hid_size} is not a multiple of heads {opt.heads}")
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
