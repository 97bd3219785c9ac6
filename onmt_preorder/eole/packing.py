"""Ids of a source in eole: each holds a word and its position."""

from __future__ import annotations

from torch import Tensor

SHIFT = 32
"""Bits of an id that hold the word; the others hold its position plus :data:`FIRST`."""

FIRST = 1  # 0: the line has not gone through our transforms


def pack(word: int, position: int) -> int:
    """Return the id of a word at a position, from 0."""
    return word | (FIRST + position) << SHIFT


def unpack(ids: Tensor) -> tuple[Tensor, Tensor]:
    """Return the words of ids, and their positions: -1 where there are none."""
    return ids & ((1 << SHIFT) - 1), (ids >> SHIFT) - FIRST
