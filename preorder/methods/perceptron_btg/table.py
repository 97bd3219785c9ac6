"""Rows of weights under 64-bit keys, for compiled code; tables that only look up, and tables that learn.

Open addressing with linear probing. The lower half of a key says where its slot lies, and a slot of 64 bits
holds the upper half and the number of the row; row 0, all zeros, stands for every absent key.
Keys that are looked up together lie together (:func:`key_near`); rows lie in the order of the slots.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from preorder.compiled import entry_point, inner

LOAD = 0.5  # at most this share of the slots is filled
MAX_SPREAD = 24  # as a power of two


class WeightTable(NamedTuple):
    """A table to look up in."""

    slots: np.ndarray  # uint64 [capacity], a power of two
    weights: np.ndarray  # float32 [rows, width]
    spread: np.ndarray  # uint8 [rows]: over how many slots, as a power of two, the keys near this one lie


class Tables(NamedTuple):
    """The weights of a model: its ``features.TABLES``, and the dense table, ``[SHAPES, LABELS]``."""

    token: WeightTable
    adjacent: WeightTable
    trigram: WeightTable
    pair: WeightTable
    triple: WeightTable
    quad: WeightTable
    shape: np.ndarray


def capacity(rows: int) -> int:
    """Return the number of slots for that many keys."""
    return 1 << int(np.ceil(np.log2(max(rows, 128) / LOAD)))


def spread_of(frequencies: np.ndarray) -> np.ndarray:
    """Return the spread of the keys near one that was seen so often: uint8."""
    return np.clip(np.ceil(np.log2(np.maximum(frequencies, 1))) + 5, 5, MAX_SPREAD).astype(np.uint8)


def by_slot(keys: np.ndarray, slots: int) -> np.ndarray:
    """Return the indices that sort keys by their slot in a table of so many."""
    return np.argsort((keys & np.uint64(slots - 1)).astype(np.uint32), kind="stable")


_UPPER = np.uint64(0xFFFFFFFF00000000)
_LOWER = np.uint64(0x00000000FFFFFFFF)
_EMPTY = np.uint64(0)
_LINE = ~np.uint64(7)  # slots of a cache line


@numba.njit(inline="always")
def key_near(key, home, spread):
    """Return the key with its slot moved near the home of all keys that are looked up together."""
    mask = (np.uint64(1) << np.uint64(spread)) - np.uint64(1)
    return (key & _UPPER) | (((home & _LINE) + (key & mask)) & _LOWER)


@numba.njit(inline="always")
def find(slots, key):
    """Return the row of a key, or 0."""
    mask = np.uint64(slots.size - 1)
    slot_index = key & mask
    while True:
        slot = slots[slot_index]
        if slot == _EMPTY:
            return 0
        if (slot ^ key) & _UPPER == _EMPTY:
            return np.int64(slot & _LOWER)
        slot_index = (slot_index + np.uint64(1)) & mask


@intrinsic
def prefetch(typing_context, array, index):  # noqa: ARG001
    """Start to bring an item of an array into the cache, without waiting for it."""

    def codegen(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte = ir.IntType(8).as_pointer()
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        flag = ir.IntType(32)
        function = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        )
        builder.call(function, [address, flag(0), flag(3), flag(1)])  # for reading, to keep, data
        return context.get_dummy_value()

    return types.void(array, index), codegen


LINE = 64 // 4  # weights of a cache line


@inner
def find_all(slots, weights, keys, count, rows):
    """Write the rows of the first ``count`` keys, 0 for absent ones, and fetch their weights.

    All slots are read before any is looked at, so that the waits for memory overlap: five times as fast.
    """
    mask = np.uint64(slots.size - 1)
    for i in range(count):
        rows[i] = slots[keys[i] & mask]
    for i in range(count):
        slot, key = rows[i], keys[i]
        slot_index = key & mask
        while slot != _EMPTY and (slot ^ key) & _UPPER != _EMPTY:
            slot_index = (slot_index + np.uint64(1)) & mask
            slot = slots[slot_index]
        row = slot & _LOWER
        rows[i] = row
        for column in range(0, weights.shape[1], LINE):
            prefetch(weights, np.int64(row) * weights.shape[1] + column)


@inner
def insert(slots, key, row):
    """Give an absent key a row, from 1."""
    mask = np.uint64(slots.size - 1)
    slot_index = key & mask
    while slots[slot_index] != _EMPTY:
        slot_index = (slot_index + np.uint64(1)) & mask
    slots[slot_index] = (key & _UPPER) | np.uint64(row)


@entry_point
def insert_all(slots, keys):
    """Give distinct keys the rows 1, 2, …"""
    for i in range(keys.size):
        insert(slots, keys[i], i + 1)


AVERAGE_EXPONENT = 4  # the average gives all weights up to time t a share of t to this power

BY_ROW = ("weights", "spread", "changes", "keys")


class Growing(NamedTuple):
    """A table that learns: weights, and their average over time, measured in passes over the corpus.

    It is ``weights - changes / time ** AVERAGE_EXPONENT``, where a change counts by that power of its time.
    Between iterations it stands in the place of the changes: see :meth:`set_averages`.
    """

    slots: np.ndarray  # this one and the next two: as in WeightTable
    weights: np.ndarray
    spread: np.ndarray
    changes: np.ndarray  # float32, of each weight the sum of its changes, as they count, or its average
    keys: np.ndarray  # uint64, the key of each row
    used: np.ndarray  # int64 [1], rows in use, row 0 included

    @classmethod
    def of(cls, rows: int, width: int, keys: np.ndarray, spread: np.ndarray) -> Growing:
        """Return a table with room for that many rows; the first are those of some keys, in their order."""
        table = cls(
            np.zeros(capacity(rows), np.uint64),
            np.zeros((rows, width), np.float32),
            np.zeros(rows, np.uint8),
            np.zeros((rows, width), np.float32),
            np.zeros(rows, np.uint64),
            np.array([keys.size + 1]),
        )
        table.keys[1 : keys.size + 1], table.spread[1 : keys.size + 1] = keys, spread
        insert_all(table.slots, keys)
        return table

    def set_averages(self, time: float) -> None:
        """Put the average over the time so far, above 0, in the place of the changes."""
        used = slice(int(self.used[0]))
        self.changes[used] /= -np.float32(time**AVERAGE_EXPONENT)
        self.changes[used] += self.weights[used]

    def set_changes(self, time: float) -> None:
        """Undo :meth:`set_averages`, but for rounding, to learn more."""
        used = slice(int(self.used[0]))
        self.changes[used] -= self.weights[used]
        self.changes[used] *= -np.float32(time**AVERAGE_EXPONENT)

    def saved(self) -> dict[str, np.ndarray]:
        """Return the arrays for :func:`restored`: views of the rows in use."""
        rows = {name: getattr(self, name)[: int(self.used[0])] for name in BY_ROW}
        return {**rows, "room": np.array([len(self.weights)])}


def with_room(table: Growing, more: int) -> Growing:
    """Return the table with room for more rows, in the order of their slots; arrays are freed once copied."""
    rows, width = table.weights.shape
    used = int(table.used[0])
    if used + more <= rows:
        return table
    _, weights, spread, changes, keys, _ = table
    del table
    room = max(2 * rows, used + more)
    order = by_slot(keys[1:used], capacity(room)) + 1
    bigger = Growing.of(room, width, keys[order], spread[order])
    # mode="raise" would copy all rows once more
    np.take(weights, order, 0, bigger.weights[1:used], mode="clip")
    del weights
    np.take(changes, order, 0, bigger.changes[1:used], mode="clip")
    return bigger


def restored(arrays: dict[str, np.ndarray]) -> Growing:
    """Return a table that was :meth:`Growing.saved`."""
    weights, spread, changes, keys = (arrays[name] for name in BY_ROW)
    table = Growing.of(int(arrays["room"][0]), weights.shape[1], keys[1:], spread[1:])
    table.weights[: len(weights)], table.changes[: len(weights)] = weights, changes
    return table
