"""The encodings of an encoder by the names that options give them."""

from __future__ import annotations

from collections.abc import Sequence

from onmt_preorder.transformer.encodings import ORIGINAL, PREORDERED, Encoding
from onmt_preorder.transformer.encodings.absolute import Absolute
from onmt_preorder.transformer.encodings.relative import PAPER_LIMIT, Relative
from onmt_preorder.transformer.encodings.rotary import Rotary

ABSOLUTE, RELATIVE, ROTARY = "absolute", "relative", "rotary"
HELP = {
    "preorder_encoding": "How to encode the preordered positions that the source gives; nothing: not at all.",
    "preorder_max_relative": "Clipping distance of the preordered positions.",
    "source_max_relative": "Clipping distance of the original positions (0: off).",
    "source_rotary": "Encode original positions by rotation (Su et al. 2021); needs source_max_relative: 0.",
}
"""What the parameters of :func:`encodings` are."""


def encodings(
    preorder_encoding: Sequence[str] = (),
    preorder_max_relative: int = PAPER_LIMIT,
    source_max_relative: int = PAPER_LIMIT,
    source_rotary: bool = False,
) -> tuple[Encoding, ...]:
    """Return the position encodings that options name, but for the host's own of original positions."""
    chosen = {kind: kind in preorder_encoding for kind in (ABSOLUTE, RELATIVE, ROTARY)}
    return (
        *[Absolute(PREORDERED)] * chosen[ABSOLUTE],
        *[Relative(ORIGINAL, source_max_relative)] * (source_max_relative > 0),
        *[Relative(PREORDERED, preorder_max_relative)] * chosen[RELATIVE],
        *[Rotary(ORIGINAL)] * source_rotary,
        *[Rotary(PREORDERED)] * chosen[ROTARY],
    )
