"""``reordering_embedding`` and its control (Chen et al. 2019), ``explicit_reordering`` (Chen et al. 2020)."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import fields

from torch import nn

from onmt_preorder.opennmt.options.helpers import Option
from onmt_preorder.opennmt.options.transformer import ENCODER
from onmt_preorder.papers.explicit_reordering import EXGRE, HELP, NONE, REFSR, ExplicitConfig, named
from onmt_preorder.papers.reordering_embedding import AdditionalEncoding, ReorderingEmbedding
from onmt_preorder.transformer.config import LayerConfig
from preorder.errors import UsageError

SIDES = ("encoder", "decoder")
EMBEDDING, ADDITIONAL = "reordering_embedding", "additional_position_encoding"

_EXPLICIT = f"explicit_reordering: {EXGRE} or {REFSR}", lambda opt: opt.explicit_reordering != NONE
_DEFAULTS = {field.name: field.default for field in fields(ExplicitConfig)}

TITLE = "reordering embeddings, explicit reordering"
OPTIONS = {
    EMBEDDING: Option([], "Sides whose layers learn reordering embeddings.", choices=SIDES),
    ADDITIONAL: Option(
        [], "Sides whose layers add the positions' encodings unchanged: a control.", choices=SIDES
    ),
    "explicit_reordering": Option(
        NONE,
        "Learn from the positions of the training source where each token should stand.",
        choices=(NONE, EXGRE, REFSR),
    ),
    **{name: Option(_DEFAULTS[name], what, _EXPLICIT) for name, what in HELP.items()},
}


def block_of(side: str, opt: Namespace, config: LayerConfig) -> nn.Module | None:
    """Make what a layer of a side, ``encoder`` or ``decoder``, has after self-attention; None: nothing."""
    if side in getattr(opt, EMBEDDING):
        return ReorderingEmbedding(config)
    return AdditionalEncoding(config) if side in getattr(opt, ADDITIONAL) else None


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
    explicit = named(opt.explicit_reordering, opt)  # which checks itself
    if explicit is None:
        return
    if opt.encoder_type != ENCODER:
        raise UsageError(f"explicit_reordering needs encoder_type: {ENCODER}, not {opt.encoder_type}")
    if explicit.reordering_loss_weight and getattr(opt, "n_src_feats", 0) != 1:
        raise UsageError("the reordering loss needs the positions as source feature: n_src_feats: 1")
