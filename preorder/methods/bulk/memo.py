"""Numbers of tokens, remembered by their bytes, for compiled code: hashes, and those of their classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from preorder.compiled import entry_point, inner
from preorder.methods.bulk.blake2b import blake2b

TOKENS, BYTES = 1 << 16, 1 << 20
"""How much a memo of a text holds: then it is emptied, so that a stream's memory stays bounded."""

LOAD = 2  # slots a token, at least

MAX_LENGTH = 256  # bytes of a token that is remembered

ABSENT = -1


class Memo(NamedTuple):
    """A table from tokens to numbers; open addressing with linear probing.

    Attributes:
        slots: int32, a power of two: the index of an entry, or ``ABSENT``.
        prints: uint64 ``[entries]``, a quick hash of each token, which is compared first.
        bounds: int32 ``[entries + 1]``, where each token's bytes begin.
        content: uint8, the tokens' bytes.
        values: uint64 ``[entries]``.
        count: int64 ``[1]``, the number of entries.
    """

    slots: np.ndarray
    prints: np.ndarray
    bounds: np.ndarray
    content: np.ndarray
    values: np.ndarray
    count: np.ndarray


def empty_memo(tokens: int = TOKENS, size: int = BYTES) -> Memo:
    """Return a memo for so many tokens with so many bytes."""
    slots = 1 << (max(tokens, 1) * LOAD - 1).bit_length()
    return Memo(
        np.full(slots, ABSENT, np.int32),
        np.empty(tokens, np.uint64),
        np.zeros(tokens + 1, np.int32),
        np.empty(size, np.uint8),
        np.empty(tokens, np.uint64),
        np.zeros(1, np.int64),
    )


def memo_of(tokens: Sequence[bytes], values: np.ndarray) -> Memo:
    """Return a memo of given distinct tokens and their values, uint64."""
    content = np.frombuffer(b"".join(tokens), np.uint8)
    bounds = np.zeros(len(tokens) + 1, np.int32)
    np.cumsum(list(map(len, tokens)), out=bounds[1:])
    memo = empty_memo(len(tokens), content.size)
    _insert_all(content, bounds, values, memo)
    return memo


@entry_point
def _insert_all(content, bounds, values, memo):
    for i in range(values.size):
        quick = _quick_hash(content, bounds[i], bounds[i + 1])
        slot = _find(content, bounds[i], bounds[i + 1], quick, memo)
        _insert(content, bounds[i], bounds[i + 1], quick, values[i], slot, memo)


@entry_point
def look_up(text, begins, ends, starts, memo, otherwise, out):
    """Write the number that a memo has for each token, and ``otherwise`` for the others.

    Args:
        text: uint8.
        begins, ends, starts: of a column of its :class:`preorder.methods.bulk.split.Tokens`.
        memo: a Memo.
        otherwise: uint64.
        out: uint64 ``[tokens + lines + 1]``, in which no number stands for what is between lines: see
            :class:`preorder.learning.encode.Batch`.
    """
    for line in range(starts.size - 1):
        for token in range(starts[line], starts[line + 1]):
            quick = _quick_hash(text, begins[token], ends[token])
            entry = memo.slots[_find(text, begins[token], ends[token], quick, memo)]
            out[token + line + 1] = otherwise if entry == ABSENT else memo.values[entry]


@entry_point
def hash_tokens(text, begins, ends, starts, memo, initial, out):
    """Write the hash of each token, as :func:`look_up` does, by a memo of those that were seen.

    ``initial`` is the :func:`preorder.methods.bulk.blake2b.initial_state` of the layer.
    """
    state = np.empty(40, np.uint64)
    for line in range(starts.size - 1):
        for token in range(starts[line], starts[line + 1]):
            begin, end = begins[token], ends[token]
            quick = _quick_hash(text, begin, end)
            slot = _find(text, begin, end, quick, memo)
            entry = memo.slots[slot]
            if entry == ABSENT:
                value = blake2b(text, begin, end, initial, state)
                if end - begin <= MAX_LENGTH:
                    _insert(text, begin, end, quick, value, slot, memo)
            else:
                value = memo.values[entry]
            out[token + line + 1] = value


@inner
def _quick_hash(text, begin, end):
    """Return a hash of some bytes (FNV-1a, its bits mixed once more)."""
    value = np.uint64(0xCBF29CE484222325)
    for i in range(begin, end):
        value = (value ^ np.uint64(text[i])) * np.uint64(0x100000001B3)
    return value ^ (value >> np.uint64(32))


@inner
def _find(text, begin, end, quick, memo):
    """Return the slot of a token, or that where it would be."""
    mask = np.uint64(memo.slots.size - 1)
    slot = quick & mask
    while True:
        entry = memo.slots[slot]
        if entry == ABSENT:
            return slot
        if memo.prints[entry] == quick and _is_equal(text, begin, end, memo.content, memo.bounds, entry):
            return slot
        slot = (slot + np.uint64(1)) & mask


@inner
def _is_equal(text, begin, end, content, bounds, entry):
    first = bounds[entry]
    if bounds[entry + 1] - first != end - begin:
        return False
    for i in range(end - begin):  # noqa: SIM110  # quicker compiled
        if content[first + i] != text[begin + i]:
            return False
    return True


@inner
def _insert(text, begin, end, quick, value, slot, memo):
    """Remember a token, in its slot; a memo that is full is emptied first."""
    entry = memo.count[0]
    if entry == memo.prints.size or memo.bounds[entry] + end - begin > memo.content.size:
        memo.slots[:] = ABSENT
        entry = 0
        slot = quick & np.uint64(memo.slots.size - 1)
    first = memo.bounds[entry]
    for i in range(end - begin):
        memo.content[first + i] = text[begin + i]
    memo.bounds[entry + 1] = first + end - begin
    memo.prints[entry], memo.values[entry], memo.slots[slot] = quick, value, entry
    memo.count[0] = entry + 1
