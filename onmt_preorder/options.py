"""Our options in OpenNMT-py's configuration: names, defaults and checks, their only home.

They are model options: saved in the checkpoint, restored from it at translation. So their
values are plain: numbers, strings, lists of them.

A family is a module of this package for one paper's models. It holds

- ``ENCODERS`` and ``DECODERS``: what ``encoder_type`` and ``decoder_type`` may name, and the
  class of each as ``module:name``, imported when one is built;
- ``add_options(parser)``: adds the family's options to a parser of OpenNMT-py;
- ``check(opt)``: raises a ``UsageError`` where the options ask for something that cannot be,
  be it of this family's models or of others by this family's options.
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

_FAMILIES = (encoding, reordering, explicit, distortion, phrases)

ENCODERS: dict[str, str] = {name: path for family in _FAMILIES for name, path in family.ENCODERS.items()}
DECODERS: dict[str, str] = {name: path for family in _FAMILIES for name, path in family.DECODERS.items()}


def is_ours(opt: Namespace) -> bool:
    """Whether the options ask for an encoder or a decoder of ours."""
    return getattr(opt, "encoder_type", None) in ENCODERS or getattr(opt, "decoder_type", None) in DECODERS


def add_options(parser: Any) -> None:
    """Add all families' options to a parser of OpenNMT-py."""
    for family in _FAMILIES:
        family.add_options(parser)


def check(opt: Namespace) -> None:
    """Check a training's or a checkpoint's options.

    Raises:
        UsageError: they ask for something that cannot be.
    """
    _check_name("encoder_type", opt.encoder_type, ENCODERS)
    _check_name("decoder_type", opt.decoder_type, DECODERS)
    for family in _FAMILIES:
        family.check(opt)


def _check_name(option: str, given: str, ours: dict[str, str]) -> None:
    near = [] if given in ours else difflib.get_close_matches(given, ours, n=1, cutoff=0.8)
    if near:
        raise UsageError(f"unknown {option} {given!r}: did you mean {near[0]!r}?")
