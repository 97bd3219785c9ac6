"""Where the tokens of a block of lines lie, in one pass over its bytes.

A block is UTF-8, and each of its lines ends in ``\\n``. What parts tokens is what
:func:`preorder.data.formats.parse_tokens` has: ASCII spaces, tabs and carriage returns alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from preorder.compiled import entry_point, inner

SPACE, TAB, NEWLINE, RETURN = 32, 9, 10, 13

PLAIN, PARTING, ODD = 0, 1, 2


class Tokens(NamedTuple):
    """The tokens of some columns of a block's lines; every column of a line has as many.

    Attributes:
        begins, ends: int32 ``[columns, tokens]``: token t is ``text[begins[t] : ends[t]]``.
        starts: int64 ``[lines + 1]``: line s has the tokens from ``starts[s]`` to ``starts[s + 1]``.
        odd: bool ``[lines]``: whether a token may be one that
            :func:`preorder.data.formats.escape_token` changes.
    """

    begins: np.ndarray
    ends: np.ndarray
    starts: np.ndarray
    odd: np.ndarray


def split(text: np.ndarray, lines: int, columns: int) -> Tokens | None:
    """Find the tokens of a block; None: a line has not so many columns, or as many tokens in each.

    Args:
        text: uint8; None is returned for more than 2 GiB, too: a line of that length.
        lines: how many there are.
        columns: of a line, parted by tabs; where there is one, tabs part tokens, as spaces do.
    """
    if text.size > np.iinfo(np.int32).max:
        return None
    most = text.size // 2 + 1
    begins, ends = np.empty((2, columns, most), np.int32)
    starts, odd = np.zeros(lines + 1, np.int64), np.zeros(lines, np.bool_)
    if not _split(text, KINDS, begins, ends, starts, odd):
        return None
    tokens = int(starts[-1])
    return Tokens(begins[:, :tokens], ends[:, :tokens], starts, odd)


def _kinds() -> np.ndarray:
    kinds = np.full(256, PLAIN, np.uint8)
    kinds[[SPACE, TAB, NEWLINE, RETURN]] = PARTING
    kinds[[0x00, 0x0B, 0x0C, 0x1C, 0x1D, 0x1E, 0x1F, ord("&"), 0xC2, 0xE1, 0xE2, 0xE3, 0xEF]] = ODD
    return kinds


KINDS = _kinds()
"""Of each byte, whether it is part of a token, parts tokens, or may begin something odd."""


@entry_point
def _split(text, kinds, begins, ends, starts, odd):
    """Fill all but ``text`` and ``kinds``; say whether every line has all columns, equally long."""
    columns = begins.shape[0]
    counts = np.zeros(columns, np.int64)
    column, line, begin, line_begin = 0, 0, -1, 0
    for i in range(text.size):
        byte = text[i]
        kind = kinds[byte]
        if kind != PARTING:
            if begin < 0:
                begin = i
            if kind == ODD and _is_odd(text, i):
                odd[line] = True
            continue
        if begin >= 0:
            begins[column, counts[column]], ends[column, counts[column]] = begin, i
            counts[column] += 1
        begin = -1
        if byte == TAB and columns > 1:
            column += 1
            if column == columns:
                return False
        elif byte == NEWLINE:
            is_empty = i == line_begin or (i == line_begin + 1 and text[line_begin] == RETURN)
            if column != columns - 1 and not is_empty:
                return False
            for other in range(1, columns):
                if counts[other] != counts[0]:
                    return False
            line += 1
            starts[line] = counts[0]
            column, line_begin = 0, i + 1
    return True


@inner
def _is_odd(text, i):
    """Say whether what is escaped, or ``&#``, begins at a byte of the kind ODD."""
    byte, second = text[i], text[i + 1]  # a newline follows, at least
    third = text[i + 2] if i + 2 < text.size else np.uint8(NEWLINE)
    if byte == ord("&"):
        return second == ord("#")
    if byte < SPACE:
        return True
    if byte == 0xC2:  # U+85, U+A0
        return second == 0x85 or second == 0xA0
    if byte == 0xE1:  # U+1680
        return second == 0x9A and third == 0x80
    if byte == 0xE2:  # U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F
        of_2000 = third <= 0x8A or third == 0xA8 or third == 0xA9 or third == 0xAF
        return (second == 0x80 and of_2000) or (second == 0x81 and third == 0x9F)
    if byte == 0xE3:  # U+3000
        return second == 0x80 and third == 0x80
    return (second == 0xBF and third == 0xA8) or (second == 0xBB and third == 0xBF)  # ￨, U+FEFF
