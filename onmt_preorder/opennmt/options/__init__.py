"""All options of our models in OpenNMT-py's configuration: names, defaults and checks.

They are saved in the checkpoint, and taken from it at translation: their values are plain. Those of the
Transformer and of the papers are in modules with a table ``OPTIONS``, and with ``check(opt)``, which refuses
what the models cannot do. Layers never see them: they get frozen configurations, which check themselves.
"""

from __future__ import annotations

import difflib
from argparse import Namespace
from typing import Any

from onmt_preorder.opennmt.options import distortion, npmt, reordering, transformer
from onmt_preorder.opennmt.options.helpers import Option, add_group, refuse
from preorder.errors import UsageError

_PARTS = (transformer, reordering, distortion, npmt)
_PRECISION = {
    "bfloat16": Option(
        False, "In training, compute products of matrices in bfloat16; parameters and sums stay float32."
    )
}
# Values added to ``encoder_type`` and ``decoder_type``, each with what makes it, imported when it is used.
ENCODERS = {
    transformer.ENCODER: "onmt_preorder.opennmt.encoders:PreorderTransformerEncoder",
    distortion.ENCODER: "onmt_preorder.opennmt.encoders:gru_encoder",
}
DECODERS = {
    transformer.DECODER: "onmt_preorder.opennmt.decoders:PreorderTransformerDecoder",
    distortion.DECODER: "onmt_preorder.opennmt.decoders:distortion_decoder",
    npmt.DECODER: "onmt_preorder.opennmt.decoders:swan_decoder",
}
_TYPES = {"encoder_type": ENCODERS, "decoder_type": DECODERS}


def is_ours(opt: Namespace) -> bool:
    """Return whether the options name an encoder or a decoder of ours."""
    return any(getattr(opt, option, None) in ours for option, ours in _TYPES.items())


def uses_positions(opt: Namespace, trains: bool = False) -> bool:
    """Return whether positions make a difference to a model whose source may hold them."""
    learns = trains and opt.explicit_reordering != reordering.NONE
    needs = opt.encoder_type != transformer.ENCODER or bool(opt.preorder_encoding)
    return opt.n_src_feats > 0 and (learns or needs)


def add_options(parser: Any) -> None:
    """Add all our options to a parser of OpenNMT-py."""
    for part in _PARTS:
        add_group(parser, f"Model- {part.TITLE}", part.OPTIONS)
    add_group(parser, "Model- precision", _PRECISION)


def check(opt: Namespace) -> None:
    """Refuse what our models cannot do, in a training or a checkpoint."""
    for option, ours in _TYPES.items():
        given = getattr(opt, option)
        near = [] if given in ours else difflib.get_close_matches(given, ours, n=1, cutoff=0.8)
        if near:
            raise UsageError(f"unknown {option} {given!r}: did you mean {near[0]!r}?")
    for part in _PARTS:
        part.check(opt)
    if opt.optim == "sparseadam":  # two optimisers in one
        refuse(opt, "distortion_rate_factor local_reordering_rate_factor", "optim: sparseadam")
    if opt.bfloat16 and getattr(opt, "model_dtype", "fp32") != "fp32":
        raise UsageError("bfloat16 needs model_dtype: fp32, the type of the parameters")


def check_training(opt: Namespace) -> None:
    """Refuse, in a new training, options of ours that it would ignore, and cuts of targets."""
    # With any decoder, OpenNMT-py leaves a word out at each cut.
    given = ((option, getattr(opt, option)) for option in _TYPES)
    whose = [f"{option}: {kind}" for option, kind in given if kind in _TYPES[option]]
    for each in [*whose, *["local_reordering_window"] * bool(opt.local_reordering_window)]:
        refuse(opt, "truncated_decoder use_ckpting", each)
    for name, option in (item for part in _PARTS for item in part.OPTIONS.items()):
        if option.need and getattr(opt, name) != option.default and not option.need[1](opt):
            raise UsageError(f"{name} has no effect without {option.need[0]}")
    if opt.decoder_type == npmt.DECODER:
        opt.early_stopping_criteria = opt.early_stopping_criteria or ["ppl"]
        if "accuracy" in opt.early_stopping_criteria:
            raise UsageError(f"early_stopping_criteria: {npmt.DECODER} knows no accuracy, take ppl")
    if opt.preorder_stanza_dir and not opt.preorder_model:
        raise UsageError("preorder_stanza_dir has no effect without preorder_model")
