"""Explicit reordering (Chen et al. 2020): the options of ExGRE and ReFSR."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from typing import Any

from onmt_preorder.option_helpers import Need, option_group
from onmt_preorder.transformer.options import ENCODER, SAME
from preorder.errors import UsageError

NONE, EXGRE, REFSR = "none", "exgre", "refsr"
TOKENS, SENTENCES = "tokens", "sentences"
WINDOW = 2.0  # all of the Gaussian that is not zero to .0003

_EXPLICIT = Need(
    f"explicit_reordering: {EXGRE} or {REFSR}", lambda opt: opt.explicit_reordering in (EXGRE, REFSR)
)
NEEDS = {
    **dict.fromkeys(("reordering_loss_weight", "reordering_distance"), _EXPLICIT),
    **dict.fromkeys(("reordering_window", "reordering_rank"), _EXPLICIT),
    "reordering_loss_average": Need(
        f"{_EXPLICIT.what}, and a reordering_loss_weight",
        lambda opt: _EXPLICIT.is_met(opt) and opt.reordering_loss_weight > 0,
    ),
}


@dataclass(frozen=True)
class ExplicitOptions:
    """How the encoder learns where each token should stand."""

    fusion: bool  # ReFSR, not ExGRE
    distance: float  # D; the Gaussian's σ is D/2
    window: float  # half the width of the window around a learned position
    rank: int  # of the matrix W; 0: full
    weight: float  # λ
    per_sentence: bool  # every sentence has the same weight in the loss, instead of every token

    @classmethod
    def from_opt(cls, opt: Namespace) -> ExplicitOptions | None:
        """Read the options of a training or a checkpoint; None: no explicit reordering."""
        if opt.explicit_reordering == NONE:
            return None
        distance, window = opt.reordering_distance, opt.reordering_window
        return cls(
            fusion=opt.explicit_reordering == REFSR,
            distance=distance,
            window=distance if window == SAME else window,
            rank=opt.reordering_rank,
            weight=opt.reordering_loss_weight,
            per_sentence=opt.reordering_loss_average == SENTENCES,
        )


def add_options(parser: Any) -> None:
    """Add the options to a parser of OpenNMT-py."""
    add = option_group(parser, "Model- explicit reordering")
    add(
        "explicit_reordering",
        default=NONE,
        choices=[NONE, EXGRE, REFSR],
        help="Learn from the positions of the training source where each token should stand.",
    )
    add("reordering_loss_weight", type=float, default=0.6, help="Weight of the reordering loss.")
    add(
        "reordering_loss_average",
        default=TOKENS,
        choices=[TOKENS, SENTENCES],
        help="What counts the same in the reordering loss: every token or every sentence.",
    )
    gaussian = "D: the Gaussian around a learned position has σ = D/2."
    add("reordering_distance", type=float, default=0.5, help=gaussian)
    add(
        "reordering_window",
        type=float,
        default=WINDOW,
        help=f"How far from a learned position encodings are summed (default: %(default)s; {SAME}: "
        "reordering_distance, at whose default the reordering loss has no gradient).",
    )
    add("reordering_rank", type=int, default=0, help="Rank of the matrix W of learned positions (0: full).")


def check(opt: Namespace) -> None:
    """Check what concerns explicit reordering; raise a ``UsageError`` where it cannot be."""
    options = ExplicitOptions.from_opt(opt)
    if options is None:
        return
    if opt.encoder_type != ENCODER:
        raise UsageError(f"explicit_reordering needs encoder_type: {ENCODER}, not {opt.encoder_type}")
    if options.distance <= 0:
        raise UsageError(f"reordering_distance {options.distance:g} is not positive")
    if options.window < 0.5:
        raise UsageError(
            f"reordering_window {options.window:g} is below 0.5: some positions would get no encoding"
        )
    if options.rank < 0 or options.rank > opt.enc_hid_size:
        raise UsageError(f"reordering_rank {options.rank} is not between 0 and hidden_size")
    if options.weight < 0:
        raise UsageError(f"reordering_loss_weight {options.weight:g} is negative")
    if options.weight and getattr(opt, "n_src_feats", 0) != 1:
        raise UsageError("the reordering loss needs the positions as source feature: n_src_feats: 1")
