"""``encoder_type: preorder_transformer`` (Kawara et al. 2021): how it tells its tokens where they stand."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from typing import Any

from onmt_preorder.refusal import refuse_in_model
from preorder.data.errors import UsageError

ENCODER = "preorder_transformer"
ENCODERS = {ENCODER: "onmt_preorder.models.encoder:PreorderTransformerEncoder"}
DECODERS: dict[str, str] = {}
ABSOLUTE, RELATIVE = "absolute", "relative"
PAPER_LIMIT = 4  # Kawara et al. 2021, §IV-B
SAME = -1

# What OpenNMT-py's own encoder can do and ours cannot, and the value that leaves it off.
_UNSUPPORTED: dict[str, Any] = {
    "multiquery": False,
    "num_kv": 0,
    "parallel_residual": False,
    "relative_positions_buckets": 0,
    "lora_layers": [],
    "lora_embedding": False,
    "quant_layers": [],
    "model_task": "seq2seq",
    "copy_attn": False,  # nor can OpenNMT-py 3.5 translate with it
}


@dataclass(frozen=True)
class Limits:
    """Clipping distances of one relative encoding, in tokens, for keys and for values."""

    keys: int
    values: int


@dataclass(frozen=True)
class EncodingOptions:
    """How the encoder tells its tokens where they stand.

    Attributes:
        absolute: add the sinusoidal encoding of the preordered place to the embedding.
        preordered: clipping distances of the preordered places, None where not used.
        original: clipping distances of the original places, None where not used.
    """

    absolute: bool
    preordered: Limits | None
    original: Limits | None

    @property
    def needs_positions(self) -> bool:
        """Whether the source needs its position feature."""
        return self.absolute or self.preordered is not None

    @classmethod
    def from_opt(cls, opt: Namespace) -> EncodingOptions:
        """Read the options of a training or a checkpoint."""
        preordered = _limits(opt.preorder_max_relative, opt.preorder_max_relative_values)
        original = _limits(opt.source_max_relative, opt.source_max_relative_values)
        return cls(
            absolute=ABSOLUTE in opt.preorder_encoding,
            preordered=preordered if RELATIVE in opt.preorder_encoding else None,
            original=original if opt.source_max_relative else None,
        )


def _limits(keys: int, values: int) -> Limits:
    return Limits(keys, keys if values == SAME else values)


def add_options(parser: Any) -> None:
    """Add the encoder's options to a parser of OpenNMT-py."""
    group = parser.add_argument_group(f"Model- encoder_type {ENCODER}")
    group.add(
        "--preorder_encoding",
        "-preorder_encoding",
        nargs="*",
        default=[],
        choices=[ABSOLUTE, RELATIVE],
        help="How to encode the preordered places that the source feature gives; nothing: not at all.",
    )
    for name, default, what in (
        ("preorder_max_relative", PAPER_LIMIT, "Clipping distance of the preordered places"),
        ("source_max_relative", PAPER_LIMIT, "Clipping distance of the original places (0: off)"),
    ):
        group.add(f"--{name}", f"-{name}", type=int, default=default, help=f"{what}.")
        group.add(
            f"--{name}_values",
            f"-{name}_values",
            type=int,
            default=SAME,
            help=f"{what} for attention's values, where it is not that of the keys ({SAME}: the same).",
        )


def check(opt: Namespace) -> None:
    """Check what concerns the encoder.

    Raises:
        UsageError: they ask for something that cannot be.
    """
    if opt.encoder_type != ENCODER:
        if opt.preorder_encoding:
            raise UsageError(f"preorder_encoding needs encoder_type: {ENCODER}, not {opt.encoder_type}")
        return
    refuse_in_model(opt, _UNSUPPORTED, f"encoder_type: {ENCODER}")
    if opt.enc_hid_size % opt.heads:
        raise UsageError(f"hidden_size {opt.enc_hid_size} is not a multiple of heads {opt.heads}")
    if opt.enc_hid_size != opt.src_word_vec_size:
        raise UsageError(f"hidden_size {opt.enc_hid_size} is not word_vec_size {opt.src_word_vec_size}")
    _check_encoding(opt)


def _check_encoding(opt: Namespace) -> None:
    encoding = EncodingOptions.from_opt(opt)
    for name, limits in (("preorder", encoding.preordered), ("source", encoding.original)):
        if limits and (limits.keys < 1 or limits.values < 1):
            raise UsageError(f"{name}_max_relative and {name}_max_relative_values count from 1")
    if encoding.absolute and opt.position_encoding_type != "SinusoidalInterleaved":
        raise UsageError("preorder_encoding: [absolute] needs position_encoding_type: SinusoidalInterleaved")
    features = getattr(opt, "n_src_feats", 0)
    if encoding.needs_positions and features != 1:
        raise UsageError(
            f"preorder_encoding needs the positions as source feature: n_src_feats: 1, not {features}"
        )
    if features > 1:
        raise UsageError(f"encoder_type: {ENCODER} reads one source feature, the position, not {features}")
