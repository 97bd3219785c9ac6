"""Positions of words: given to their pieces, checked as they are read, ranked for the encoder.

The position feature reaches the encoder as vocabulary ids. Its vocabulary is fixed, so that a position never
seen in training is not an unknown word: ``<unk> <blank> <s> </s> _ 0 1 2 …``. A feature that is not a number,
such as ``_``, means "no position is known": the token keeps its original position.

The encoder sees the rank of a feature in its sentence; of equal numbers the earlier token comes first. So the
pieces of a word, which share its number, get consecutive positions, and gaps of truncation are closed.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence

import torch
from torch import Tensor

from preorder.alignment.tokens import words_of_pieces
from preorder.data.formats import (
    DIGITS,
    FEATURE_SEPARATOR,
    NUMBER,
    escape_tokens,
    parse_tokens,
    unescape_token,
)
from preorder.errors import DataError, UsageError

NO_POSITION = "_"
MAX_POSITIONS = 5000  # OpenNMT-py's sinusoidal encodings end there too

_PLAIN = (
    "{}: a line without positions, and no preorderer: the model was trained with positions, but tokens of "
    "such lines keep their original ones; give token￨position, or preorder_model"
)
_ODD = "the positions of {:,} of {:,} lines are no permutation, so that their tokens are ranked; first {}"

_NUMBERED = re.compile(f".+{FEATURE_SEPARATOR}{DIGITS}")
_POSITION = re.compile(f"{DIGITS}|{NO_POSITION}")
_FEATURED = re.compile(f".+{FEATURE_SEPARATOR}.+")


def feature_vocabulary() -> list[str]:
    """Return the tokens of the feature's vocabulary that follow the special ones."""
    return [NO_POSITION, *map(str, range(MAX_POSITIONS))]


_IN_VOCABULARY = frozenset(feature_vocabulary())


def without_unknown(positions: Sequence[str]) -> list[str]:
    """Return positions, with ``_`` for those that the feature's vocabulary lacks."""
    return [number if number in _IN_VOCABULARY else NO_POSITION for number in positions]


def rank_positions(numbers: Tensor, padding: Tensor) -> Tensor:
    """Rank the tokens of each sentence by their features, without waiting for a GPU.

    From ``numbers [b, n]``, negative where not known, and ``padding [b, n]``, True after a sentence's end, to
    ``[b, n]`` positions: a permutation of 0 … n-1, in which padding comes last.
    """
    original = torch.arange(numbers.size(1), device=numbers.device).expand_as(numbers)
    keys = torch.where(numbers < 0, original, numbers)
    order = keys.masked_fill(padding, torch.iinfo(keys.dtype).max).argsort(dim=1, stable=True)
    return torch.empty_like(order).scatter_(1, order, original)


class ReadsPositions:
    """What an encoder that reads the position feature has: its vocabulary, and the ranks in each sentence."""

    # Not a buffer of the module: OpenNMT-py can neither average nor reload one of integers.
    _numbers: Tensor | None = None

    def read_positions_with(self, vocabulary: Sequence[str]) -> None:
        """Take the vocabulary of the position feature: entry i is the token of id i."""
        # The number that each token stands for, -1 for none.
        self._numbers = torch.tensor([int(t) if NUMBER.fullmatch(t) else -1 for t in vocabulary])

    def has_positions(self, src: Tensor) -> bool:
        """Return whether there is a position feature in ``(batch, length, 1 or 2)`` ids."""
        return self._numbers is not None and src.size(2) > 1

    def positions(self, src: Tensor, padding: Tensor) -> Tensor:
        """Return each token's position by the position feature of ``src``: ``(batch, length)``."""
        numbers = self._numbers
        if numbers is None or not self.has_positions(src):
            raise UsageError("the model needs source positions: token￨position, n_src_feats: 1")
        self._numbers = numbers = numbers.to(src.device)
        return rank_positions(numbers[src[:, :, 1]], padding)


def parse_source(line: str, has_positions: bool) -> tuple[list[str], list[str]]:
    """Split a source line into words, escaped as in features, and their positions, ``_`` where there is none.

    A line is one of features if a token has a position, where there are any, or if all look as if they had
    some feature. Of any other line ``￨`` is part of the text.
    """
    tokens = parse_tokens(line)
    if FEATURE_SEPARATOR not in line or not (
        (has_positions and any(map(_NUMBERED.fullmatch, tokens))) or all(map(_FEATURED.fullmatch, tokens))
    ):
        return escape_tokens(tokens), [NO_POSITION] * len(tokens)
    words, positions = [], []
    for token in tokens:
        word, separator, number = token.rpartition(FEATURE_SEPARATOR)
        if not separator:
            word, number = token, NO_POSITION
        elif not has_positions:
            raise DataError(f"token with a feature, but n_src_feats is 0: {token!r}")
        elif not word or not _POSITION.fullmatch(number):
            raise DataError(f"not a token with its position: {token!r}")
        words.append(word)
        positions.append(number)
    if "&#" in line:
        words = list(map(unescape_token, words))
    return escape_tokens(words), positions


def positions_of_pieces(pieces: Sequence[str], words: Sequence[str], positions: Sequence[str]) -> list[str]:
    """Return the position of the first word that each piece stems from, or of the next word if it has none.

    >>> positions_of_pieces(["<de>", "un@@", "seen", "cat@@", "s"], ["unseen", "cats"], ["1", "_"])
    ['1', '1', '1', '1', '1']
    """
    known = _known(positions)
    return [known[min(stem.start, len(known) - 1)] for stem in words_of_pieces(pieces, words)]


def is_permutation(positions: Sequence[str]) -> bool:
    """Return whether the positions of the words are 0 … n-1, each once; pieces of a word may share one."""
    known = _known(positions)
    words = [number for number, before in zip(known, [None, *known], strict=False) if number != before]
    # Compared as text first: a number of 5,000 digits cannot be read as one.
    return len({*words}) == len(words) and all(len(w) < 10 and int(w) < len(words) for w in words)


def _known(positions: Sequence[str]) -> list[str]:
    """Give words without a position their original one."""
    return [str(index) if number == NO_POSITION else number for index, number in enumerate(positions)]


class PositionCheck:
    """Sees the lines of a source; warns once of lines without positions, and once of odd ones.

    ``lacks_positions``: the model needs positions, and nothing gives them to a line without any. ``name`` is
    what to call the source, if not by its file.
    """

    def __init__(self, lacks_positions: bool, name: str | None = None) -> None:
        self._warns_of_plain = lacks_positions
        self._name = name
        self._lines = self._odd = 0
        self._first_odd = ""
        self._has_warned = False
        self.lines_before = 0
        """Lines of the source before those of the list that comes now."""

    def see(self, positions: Sequence[str], file: str, line: int) -> None:
        """Look at the positions of one line."""
        where = f"{self._name or file}:{self.lines_before + line}"
        self._lines += 1
        if all(number == NO_POSITION for number in positions):
            if self._warns_of_plain and len(positions) > 1:
                self._warns_of_plain = False
                _warn(_PLAIN.format(where))
        elif not is_permutation(positions):
            self._odd += 1
            self._first_odd = self._first_odd or where

    def finish(self) -> None:
        """Warn of the lines with odd positions so far, once."""
        if self._odd and not self._has_warned:
            self._has_warned = True
            _warn(_ODD.format(self._odd, self._lines, self._first_odd))


def _warn(message: str) -> None:
    logging.getLogger("onmt").warning(message)
