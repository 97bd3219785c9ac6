"""Warnings about sources whose positions a model cannot use as they are."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from onmt_preorder.input.positions import NO_POSITION

PLAIN = (
    "{0}: a line without positions, and no preorderer: the model was trained with positions, but tokens of "
    "such lines keep their original ones; give token￨position, or preorder_model"
)
ODD = "the positions of {1:,} of {2:,} lines are no permutation, so that their tokens are ranked; first {0}"


class PositionCheck:
    """Sees the lines of a source; warns once of lines without positions, and once of odd ones.

    Args:
        lacks_positions: whether the model needs positions, and nothing gives them to a line without any.
        name: what to call the source, if not by its file.
    """

    def __init__(self, lacks_positions: bool, name: str | None = None) -> None:
        self._warns_of_plain = lacks_positions
        self._name = name
        self._lines = self._odd = 0
        self._first_odd = ""
        self._has_ended = False
        self.lines_before = 0
        """Lines of the source before those of the list that comes now."""

    def see(self, positions: Sequence[str], file: str, line: int) -> None:
        """Look at the positions of one line."""
        where = f"{self._name or file}:{self.lines_before + line}"
        self._lines += 1
        if all(number == NO_POSITION for number in positions):
            if self._warns_of_plain and len(positions) > 1:
                self._warns_of_plain = False
                _warn(PLAIN.format(where))
        elif not is_permutation(positions):
            self._odd += 1
            self._first_odd = self._first_odd or where

    def finish(self) -> None:
        """Warn of the lines with odd positions: at the end of the source, which a training reads again."""
        if self._odd and not self._has_ended:
            _warn(ODD.format(self._first_odd, self._odd, self._lines))
        self._has_ended = True


def is_permutation(positions: Sequence[str]) -> bool:
    """Return whether the positions of the words are 0 … n-1, each once; pieces of a word may share one.

    >>> is_permutation(["1", "1", "0", "_"]), is_permutation(["0", "7", "7"])
    (False, False)
    >>> is_permutation(["1", "1", "0", "2"]), is_permutation(["0", "0", "0"])
    (True, True)
    """
    known = [str(index) if number == NO_POSITION else number for index, number in enumerate(positions)]
    words = [number for number, before in zip(known, [None, *known], strict=False) if number != before]
    # Compared as text first: a number of 5,000 digits cannot be read as one.
    return len({*words}) == len(words) and all(len(w) < 10 and int(w) < len(words) for w in words)


def _warn(message: str) -> None:
    """Warn as OpenNMT-py does: in its log, or on standard error where there is none."""
    logging.getLogger("onmt").warning(message)
