"""Expected positions, ``bought￨4.73``: real numbers, from a line of the source to the encoder.

A word's expected position is the number of words that are expected to stand before it; a line that gives one
number with a point gives expected positions, and none of its words is ranked.

**Pieces.** A piece's position is the number of pieces that are expected to stand before it: for the first of
a word's pieces the words before it, ``x_w``, and for each further piece of another word the probability that
this word stands before w. That probability is judged by how far apart the two words are expected to be:

    x_w + Σ_{v ≠ w} (c_v - 1) min(1, max(0, (1 + x_w - x_v) / 2)),   c_v: the number of v's pieces

The word's next piece stands one further on, and so forth. So without subwords positions stay as they are;
whole numbers give what ranking gives; two words by themselves get exactly what is expected of them; the
middles of words keep the order of their positions; and all positions are from 0 to n-1, n the number of
pieces. Pieces that transforms have dropped count as ``c_v = 0``.

**Numbers.** OpenNMT-py turns features into ids by a vocabulary. An expected position has no entry there: its
id is negative, ``-1 - STEPS x``.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from torch import Tensor

from onmt_preorder.input.pieces import words_of_pieces
from onmt_preorder.input.positions import NO_POSITION
from preorder.data.errors import DataError
from preorder.data.formats import FEATURE_SEPARATOR

STEPS = 1 << 16
"""Parts of a place that ids tell apart; a power of two, so that whole numbers stay whole."""

EXAMPLE_KEY = "has_expected_positions"
"""In an example of OpenNMT-py's: whether the features of its source are expected positions."""

_POINT = "."
_EXPECTED = re.compile(r"[0-9]+\.[0-9]+")
_MARK = re.compile(r"｟mrk_\w+｠")


def is_position(number: str) -> bool:
    """Return whether a feature is a position: a whole number, an expected position, or none (``_``)."""
    return number.isdecimal() or number == NO_POSITION or _EXPECTED.fullmatch(number) is not None


def has_expected(positions: Sequence[str]) -> bool:
    """Return whether the positions of a line are expected ones: whether any of them has a point."""
    return any(_POINT in position for position in positions)


def check(words: Sequence[str], positions: Sequence[str], are_read: bool) -> None:
    """Check a line of expected positions.

    Raises:
        DataError: expected positions are not read, ``preorder_expected`` being off; one is not in the line.
    """
    for word, position in zip(words, positions, strict=True):
        token, last = f"{word}{FEATURE_SEPARATOR}{position}", len(words) - 1
        if _POINT in position and not are_read:
            raise DataError(f"an expected position needs preorder_expected: true: {token!r}")
        if position != NO_POSITION and float(position) > last:
            raise DataError(f"the position is not from 0 to {last}: {token!r}")


def expected_positions_of_pieces(
    pieces: Sequence[str], words: Sequence[str], positions: Sequence[str]
) -> list[str]:
    """Return the expected position of each piece, by those of the words; the module says how.

    A word without a position (``_``) has its original one. Neighbours that share a position and have the
    marks of subword tokenisers are pieces of one word already.

    >>> expected_positions_of_pieces(["a", "b@@", "c@@", "d"], ["a", "bcd"], ["0.75", "0.25"])
    ['2.2500', '0.2500', '1.2500', '2.2500']
    """
    whole = _whole_words(words, positions)
    if len(pieces) == whole[-1] + 1 and pieces == words:
        return [str(word) if given == NO_POSITION else given for word, given in enumerate(positions)]
    places = np.empty(whole[-1] + 1)
    for word, position in zip(whole, positions, strict=True):
        places[word] = word if position == NO_POSITION else float(position)
    owners = np.array(whole)[words_of_pieces(pieces, words)]
    counts = np.bincount(owners, minlength=len(places))
    before = np.clip((1 + places[:, None] - places) / 2, 0, 1)
    np.fill_diagonal(before, 0)
    first = np.clip(places + before @ (counts - 1), 0, len(pieces) - counts)
    begins = np.cumsum(counts) - counts
    found = (first - begins)[owners] + np.arange(len(pieces))
    return [f"{position:.4f}" for position in found.tolist()]


def _whole_words(words: Sequence[str], positions: Sequence[str]) -> list[int]:
    """Return which whole word each word belongs to, where the text is split already."""
    if all(map(operator.ne, positions, positions[1:])):
        return list(range(len(words)))
    spaced = any(word.startswith("▁") for word in words)
    joins = [
        before == after and _are_joined(left, right, spaced)
        for (left, right), (before, after) in zip(pairwise(words), pairwise(positions), strict=True)
    ]
    return np.cumsum([0, *(not join for join in joins)]).tolist()


def _are_joined(left: str, right: str, spaced: bool) -> bool:
    """Return whether two neighbours are pieces of one word, by their marks."""
    if spaced:
        return not right.startswith("▁")
    marked = left.endswith(("@@", "￭")) or right.startswith("￭")
    return marked or bool(_MARK.fullmatch(left) or _MARK.fullmatch(right))


def id_of(position: str) -> int:
    """Return the id of an expected position."""
    return -1 - round(float(position) * STEPS)


def numbers_of(ids: Tensor) -> Tensor:
    """Return the expected positions of ids as whole numbers of :data:`STEPS`, -1 for other features' ids."""
    return (-1 - ids).clamp(min=-1)
