"""All options of our models in OpenNMT-py's configuration: names, defaults and checks.

They are model options: saved in the checkpoint, and taken from it at translation. So their
values are plain: numbers, strings, lists of them.

The options of the encoder and of each paper are defined in a module ``options`` of their own, with

- ``ENCODERS`` and ``DECODERS``: the values that it adds to ``encoder_type`` and ``decoder_type``,
  and the class of each as ``module:name``, which is imported when a model is built;
- ``add_options(parser)``: adds its options to a parser of OpenNMT-py;
- ``check(opt)``: raises a ``UsageError`` where its models cannot do what the options ask for,
  or where its options are given for other models.
"""

from __future__ import annotations

import difflib
from argparse import Namespace
from typing import Any

from onmt_preorder.papers.distortion import options as distortion
from onmt_preorder.papers.explicit_reordering import options as explicit
from onmt_preorder.papers.npmt import options as phrases
from onmt_preorder.papers.reordering_embedding import options as reordering
from onmt_preorder.transformer import options as encoding
from preorder.data.errors import UsageError

_PARTS = (encoding, reordering, explicit, distortion, phrases)

ENCODERS: dict[str, str] = {name: path for part in _PARTS for name, path in part.ENCODERS.items()}
DECODERS: dict[str, str] = {name: path for part in _PARTS for name, path in part.DECODERS.items()}


def is_ours(opt: Namespace) -> bool:
    """Return whether the options name an encoder or a decoder of ours."""
    return getattr(opt, "encoder_type", None) in ENCODERS or getattr(opt, "decoder_type", None) in DECODERS


def add_options(parser: Any) -> None:
    """Add all our options to a parser of OpenNMT-py."""
    for part in _PARTS:
        part.add_options(parser)


def check(opt: Namespace) -> None:
    """Check the options of a training or a checkpoint.

    Raises:
        UsageError: our models cannot do what the options ask for.
    """
    _check_name("encoder_type", opt.encoder_type, ENCODERS)
    _check_name("decoder_type", opt.decoder_type, DECODERS)
    for part in _PARTS:
        part.check(opt)


def _check_name(option: str, given: str, ours: dict[str, str]) -> None:
    near = [] if given in ours else difflib.get_close_matches(given, ours, n=1, cutoff=0.8)
    if near:
        raise UsageError(f"unknown {option} {given!r}: did you mean {near[0]!r}?")
