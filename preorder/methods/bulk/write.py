"""Lines of every format of orders and trees, as bytes: what :mod:`preorder.data.formats` writes, compiled."""

from __future__ import annotations

import numpy as np

from preorder.btg.grammar import INVERTED
from preorder.compiled import entry_point, inner
from preorder.data.formats import FEATURE_SEPARATOR
from preorder.methods.bulk.split import NEWLINE, SPACE, Tokens

FORMATS = ("features", "positions", "order", "text", "tree")
FEATURES, POSITIONS, ORDER, TEXT, TREE = range(len(FORMATS))

_SEPARATOR = np.frombuffer(FEATURE_SEPARATOR.encode(), np.uint8)
_BRACKETS = np.frombuffer(b"[]<>", np.uint8)
_ZERO, _BACKSLASH = ord("0"), ord("\\")


def write(
    text: np.ndarray, tokens: Tokens, nodes: np.ndarray, positions: np.ndarray, name: str
) -> tuple[np.ndarray, np.ndarray]:
    """Format all sentences of a block; those with an ``odd`` token, as features, are left empty.

    Args:
        text: uint8.
        tokens: its tokens; the words are the first column.
        nodes, positions: as :class:`preorder.btg.results.TreePreorderer` gives them.
        name: of ``FORMATS``.

    Returns:
        The lines, uint8, and where each ends.
    """
    lengths = np.diff(tokens.starts)
    digits = len(str(lengths.max(initial=0)))
    most = 2 * text.size + positions.size * (digits + len(_SEPARATOR) + 3) + lengths.size
    out, line_ends = np.empty(most, np.uint8), np.empty(lengths.size, np.int64)
    kind = FORMATS.index(name)
    words = tokens.begins[0], tokens.ends[0]
    size = _write(kind, text, *words, tokens.starts, tokens.odd, nodes, positions, out, line_ends)
    return out[:size], line_ends


@entry_point
def _write(kind, text, begins, ends, starts, odd, nodes, positions, out, line_ends):
    longest = 0
    for line in range(line_ends.size):
        longest = max(longest, starts[line + 1] - starts[line])
    order = np.empty(longest, np.int64)
    links = np.empty((4, longest + 1), np.int64)
    at = 0
    for line in range(line_ends.size):
        first, last = starts[line], starts[line + 1]
        words = begins[first:last], ends[first:last]
        if kind == TREE:
            at = _write_tree(text, words, nodes[first:last], links, out, at)
        elif kind == FEATURES:
            if not odd[line]:
                at = _write_features(text, words, positions[first:last], out, at)
        elif kind == POSITIONS:
            at = _write_numbers(positions[first:last], out, at)
        else:
            for i in range(last - first):
                order[positions[first + i]] = i
            if kind == ORDER:
                at = _write_numbers(order[: last - first], out, at)
            else:
                at = _write_words(text, words, order[: last - first], out, at)
        out[at] = NEWLINE
        at += 1
        line_ends[line] = at
    return at


@inner
def _write_features(text, words, positions, out, at):
    for i in range(positions.size):
        at = _put_token(text, words[0][i], words[1][i], out, _parted(i, out, at))
        at = _put_number(positions[i], out, _put_token(_SEPARATOR, 0, _SEPARATOR.size, out, at))
    return at


@inner
def _write_numbers(numbers, out, at):
    for i in range(numbers.size):
        at = _put_number(numbers[i], out, _parted(i, out, at))
    return at


@inner
def _write_words(text, words, order, out, at):
    for r in range(order.size):
        at = _put_token(text, words[0][order[r]], words[1][order[r]], out, _parted(r, out, at))
    return at


@inner
def _write_tree(text, words, nodes, links, out, at):
    """Write the brackets of all nodes that begin at a token, parents first, and of those that end there."""
    n = nodes.shape[0]
    opening, next_opening, closing, next_closing = links[0], links[1], links[2], links[3]
    opening[:n], closing[:n] = -1, -1
    for k in range(n - 1):
        end = nodes[k, 2] - 1
        closing[end], next_closing[k] = k, closing[end]
        later = n - 2 - k
        begin = nodes[later, 0]
        opening[begin], next_opening[later] = later, opening[begin]
    for i in range(n):
        at = _parted(i, out, at)
        k = opening[i]
        while k >= 0:
            out[at] = _BRACKETS[2 * (nodes[k, 3] == INVERTED)]
            at += 1
            k = next_opening[k]
        for j in range(words[0][i], words[1][i]):
            if _is_special(text[j]):
                out[at] = _BACKSLASH
                at += 1
            out[at] = text[j]
            at += 1
        k = closing[i]
        while k >= 0:
            out[at] = _BRACKETS[2 * (nodes[k, 3] == INVERTED) + 1]
            at += 1
            k = next_closing[k]
    return at


@inner
def _is_special(byte):
    for bracket in _BRACKETS:
        if byte == bracket:
            return True
    return byte == _BACKSLASH


@inner
def _parted(i, out, at):
    """Put a space before all tokens but the first."""
    if i == 0:
        return at
    out[at] = SPACE
    return at + 1


@inner
def _put_token(text, begin, end, out, at):
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
