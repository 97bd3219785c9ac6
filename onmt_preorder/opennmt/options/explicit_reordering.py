"""``explicit_reordering`` (Chen et al. 2020)."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import fields
from typing import Any

from onmt_preorder.opennmt.options.helpers import option_group
from onmt_preorder.opennmt.options.transformer import ENCODER
from onmt_preorder.papers.explicit_reordering import HELP, ExplicitConfig
from preorder.errors import UsageError

NONE, EXGRE, REFSR = "none", "exgre", "refsr"

_EXPLICIT = f"explicit_reordering: {EXGRE} or {REFSR}", lambda opt: opt.explicit_reordering != NONE
NEEDS = dict.fromkeys(HELP, _EXPLICIT)


def add_options(parser: Any) -> None:
    """Add the options to a parser of OpenNMT-py."""
    add = option_group(parser, "Model- explicit reordering")
    what = "Learn from the positions of the training source where each token should stand."
    add("explicit_reordering", default=NONE, choices=[NONE, EXGRE, REFSR], help=what)
    for field in fields(ExplicitConfig):
        if field.name in HELP:
            add(field.name, type=type(field.default), default=field.default, help=HELP[field.name])


def config_of(opt: Namespace) -> ExplicitConfig | None:
    """Return what the encoder's layers learn, None for nothing."""
    if opt.explicit_reordering == NONE:
        return None
    given = {name: getattr(opt, name) for name in HELP}
    return ExplicitConfig(**given, has_fusion=opt.explicit_reordering == REFSR)


def check(opt: Namespace) -> None:
    """Check what concerns explicit reordering."""
    if opt.explicit_reordering == NONE:
        return
    if opt.encoder_type != ENCODER:
        raise UsageError(f"explicit_reordering needs encoder_type: {ENCODER}, not {opt.encoder_type}")
    config = config_of(opt)  # which checks itself
    if config.reordering_loss_weight and getattr(opt, "n_src_feats", 0) != 1:
        raise UsageError("the reordering loss needs the positions as source feature: n_src_feats: 1")
