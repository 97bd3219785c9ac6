"""Rows of weights under 64-bit keys, for compiled code.

Open addressing with linear probing; a slot of 64 bits holds the upper half of the key and
the number of its row, so that most look-ups touch one cache line, and two keys are taken for
one with a probability of about 2^-32. Row 0 is all zeros and stands for every absent key.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from preorder.btg.compiled import entry_point

LOAD = 0.5  # at most this share of the slots is filled


class Table(NamedTuple):
    """A table: ``slots`` uint64 ``[capacity]`` (a power of two), ``weights`` float32 ``[rows, width]``."""

    slots: np.ndarray
    weights: np.ndarray


def empty_table(rows: int, width: int) -> Table:
    """Return a table with room for ``rows`` keys, none yet there."""
    return Table(np.zeros(capacity(rows), np.uint64), np.zeros((rows + 1, width), np.float32))


def capacity(rows: int) -> int:
    """Return the number of slots for that many keys."""
    return 1 << int(np.ceil(np.log2(max(rows, 8) / LOAD)))


_UPPER = np.uint64(0xFFFFFFFF00000000)
_LOWER = np.uint64(0x00000000FFFFFFFF)
_EMPTY = np.uint64(0)


@numba.njit(inline="always")
def find(slots, key):
    """Return the row of a key, or 0."""
    mask = np.uint64(slots.size - 1)
    place = key & mask
    while True:
        slot = slots[place]
        if slot == _EMPTY:
            return 0
        if (slot ^ key) & _UPPER == _EMPTY:
            return np.int64(slot & _LOWER)
        place = (place + np.uint64(1)) & mask


@numba.njit
def insert(slots, key, row):
    """Give an absent key a row, from 1."""
    mask = np.uint64(slots.size - 1)
    place = key & mask
    while slots[place] != _EMPTY:
        place = (place + np.uint64(1)) & mask
    slots[place] = (key & _UPPER) | np.uint64(row)


@entry_point
def insert_all(slots, keys):
    """Give distinct keys the rows 1, 2, …"""
    for i in range(keys.size):
        insert(slots, keys[i], i + 1)
