"""Features and numbers as bytes: what :mod:`preorder.data.formats` writes, compiled."""

from __future__ import annotations

import numpy as np

from preorder.compiled import entry_point, inner
from preorder.data.formats import FEATURE_SEPARATOR
from preorder.methods.bulk.split import NEWLINE, SPACE, Tokens

_SEPARATOR = np.frombuffer(FEATURE_SEPARATOR.encode(), np.uint8)
_ZERO = ord("0")


def write(
    text: np.ndarray, tokens: Tokens, numbers: np.ndarray, features: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Format all sentences of a block; those with an ``odd`` token, as features, are left empty.

    Args:
        text: uint8.
        tokens: its tokens; the words are the first column.
        numbers: one for each word, from 0 to the length of its sentence.
        features: write ``token￨number``; else the numbers alone.

    Returns:
        The lines, uint8, and where each ends.
    """
    lengths = np.diff(tokens.starts)
    digits = len(str(lengths.max(initial=0)))
    most = text.size + numbers.size * (digits + len(_SEPARATOR) + 3) + lengths.size
    out, line_ends = np.empty(most, np.uint8), np.empty(lengths.size, np.int64)
    words = tokens.begins[0], tokens.ends[0]
    size = _write(features, text, *words, tokens.starts, tokens.odd, numbers, out, line_ends)
    return out[:size], line_ends


@entry_point
def _write(features, text, begins, ends, starts, odd, numbers, out, line_ends):
    at = 0
    for line in range(line_ends.size):
        for token in range(starts[line], starts[line + 1]):
            if features and odd[line]:
                break
            if token > starts[line]:
                out[at] = SPACE
                at += 1
            if features:
                at = _put(text, begins[token], ends[token], out, at)
                at = _put(_SEPARATOR, 0, _SEPARATOR.size, out, at)
            at = _put_number(numbers[token], out, at)
        out[at] = NEWLINE
        at += 1
        line_ends[line] = at
    return at


@inner
def _put(text, begin, end, out, at):
    for i in range(begin, end):
        out[at] = text[i]
        at += 1
    return at


@inner
def _put_number(number, out, at):
    size, rest = 1, number // 10
    while rest > 0:
        size, rest = size + 1, rest // 10
    for i in range(at + size - 1, at - 1, -1):
        out[i] = _ZERO + number % 10
        number //= 10
    return at + size
