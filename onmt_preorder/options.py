"""All options of our models in OpenNMT-py's configuration: names, defaults and checks.

They are model options: saved in the checkpoint, and taken from it at translation. So their values are
plain: numbers, strings, lists of them. Those of the Transformer and of each paper are in a module
``options`` of their own, with two functions for a parser of OpenNMT-py and for what it has read:
``add_options(parser)``, and ``check(opt)``, which raises a ``UsageError`` where the models cannot do
what the options ask for, or where they are given for other models; and with ``NEEDS``: the options that a
model may have without heeding them, and what each of them has an effect with.
"""

from __future__ import annotations

import difflib
from argparse import Namespace
from typing import Any

from onmt_preorder import precision
from onmt_preorder.option_helpers import Need, refuse, refuse_unused
from onmt_preorder.papers.distortion import options as distortion
from onmt_preorder.papers.explicit_reordering import options as explicit
from onmt_preorder.papers.npmt import options as phrases
from onmt_preorder.papers.reordering_embedding import options as reordering
from onmt_preorder.transformer import options as transformer
from preorder.errors import UsageError

_PARTS = (transformer, reordering, explicit, distortion, phrases, precision)
# Options of the transform that preorders on the fly, with their defaults.
_OF_PREORDERING = {"preorder_stanza_dir": ""}
# Values added to ``encoder_type`` and ``decoder_type``, each with its class, imported when a model is built.
ENCODERS = {
    transformer.ENCODER: "onmt_preorder.models.encoder:PreorderTransformerEncoder",
    distortion.ENCODER: "onmt_preorder.papers.distortion.rnnsearch:BidirectionalGRUEncoder",
}
DECODERS = {
    transformer.DECODER: "onmt_preorder.models.decoder:PreorderTransformerDecoder",
    distortion.DECODER: "onmt_preorder.papers.distortion.rnnsearch:DistortionRNNDecoder",
    phrases.DECODER: "onmt_preorder.papers.npmt.decoder:SwanDecoder",
}


def is_ours(opt: Namespace) -> bool:
    """Return whether the options name an encoder or a decoder of ours."""
    return getattr(opt, "encoder_type", None) in ENCODERS or getattr(opt, "decoder_type", None) in DECODERS


def uses_positions(opt: Namespace, trains: bool = False) -> bool:
    """Return whether positions make a difference to a model whose source may hold them."""
    learns = trains and opt.explicit_reordering != explicit.NONE
    needs = (
        opt.encoder_type != transformer.ENCODER or transformer.EncodingOptions.from_opt(opt).needs_positions
    )
    return opt.n_src_feats > 0 and (learns or needs)


def add_options(parser: Any) -> None:
    """Add all our options to a parser of OpenNMT-py."""
    for part in _PARTS:
        part.add_options(parser)


def check(opt: Namespace) -> None:
    """Check the options of a training or a checkpoint.

    Raises:
        UsageError: our models cannot do what the options ask for.
    """
    for option, ours in (("encoder_type", ENCODERS), ("decoder_type", DECODERS)):
        given = getattr(opt, option)
        near = [] if given in ours else difflib.get_close_matches(given, ours, n=1, cutoff=0.8)
        if near:
            raise UsageError(f"unknown {option} {given!r}: did you mean {near[0]!r}?")
    for part in _PARTS:
        part.check(opt)


def check_training(opt: Namespace) -> None:
    """Check what concerns a new training alone: checkpoints may hold other options.

    Raises:
        UsageError: an option of ours would be ignored, or words of the target left out.
    """
    from onmt.utils.parse import ArgumentParser

    _refuse_cuts(opt)
    needs = {name: need for part in _PARTS for name, need in part.NEEDS.items()}
    needs |= dict.fromkeys(_OF_PREORDERING, Need("preorder_model", lambda opt: bool(opt.preorder_model)))
    refuse_unused(opt, vars(ArgumentParser.defaults(add_options)) | _OF_PREORDERING, needs)


def _refuse_cuts(opt: Namespace) -> None:
    """Refuse to cut targets: with any decoder, OpenNMT-py leaves a word out at each cut."""
    for option, ours in (("encoder_type", ENCODERS), ("decoder_type", DECODERS)):
        if getattr(opt, option) in ours:
            refuse(opt, {"truncated_decoder": 0}, f"{option}: {getattr(opt, option)}")
    if opt.local_reordering_window:
        refuse(opt, {"truncated_decoder": 0}, "local_reordering_window")
