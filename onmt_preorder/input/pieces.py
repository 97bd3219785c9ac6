"""The position of each piece (subword) of a sentence, from the positions of its words."""

from __future__ import annotations

from collections.abc import Sequence

from onmt_preorder.input.positions import NO_POSITION
from preorder.alignment.tokens import words_of_pieces


def positions_of_pieces(pieces: Sequence[str], words: Sequence[str], positions: Sequence[str]) -> list[str]:
    """Return the position of the first word that each piece stems from, or of the next word if it has none.

    A word without a position keeps its original one.

    >>> positions_of_pieces(["<de>", "un@@", "seen", "cat@@", "s"], ["unseen", "cats"], ["1", "_"])
    ['1', '1', '1', '1', '1']
    """
    known = [str(index) if number == NO_POSITION else number for index, number in enumerate(positions)]
    return [known[min(stem.start, len(known) - 1)] for stem in words_of_pieces(pieces, words)]
