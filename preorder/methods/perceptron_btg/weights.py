"""What a BTG model has learned, and how it is packed into a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from preorder.btg.grammar import LABELS
from preorder.errors import DataError, NotFiniteError
from preorder.learning.checkpoint import Arrays, checked
from preorder.methods.perceptron_btg.features import SHAPES, TABLE_NAMES, WIDTHS
from preorder.methods.perceptron_btg.table import (
    MAX_SPREAD,
    Tables,
    WeightTable,
    by_slot,
    capacity,
    insert_all,
)
from preorder.methods.registry import PerceptronOptions

NEGLIGIBLE = 2e-3  # weights below this share of a violation's cost are dropped, at no loss of tau

SPREADING = ("token", "adjacent")  # tables whose rows store how far the keys near them are spread
LARGEST = float(np.finfo(np.float16).max)  # so that the sum of all that a tree scores is finite
SIZES = 127  # of rounded weights, evenly spaced in their logarithms: with the sign, one byte

KIND = "a BTG model"
LOWER_HALF = np.uint64(0xFFFFFFFF)
SLOT_BLOCK = 256  # slots of a block; a file stores how many keys each block has


@dataclass(frozen=True)
class Weights:
    """A model's weights, table by table in the order of ``features.TABLE_NAMES``."""

    keys: tuple[np.ndarray, ...]  # uint64 [rows] each, in the order of their slots
    rows: tuple[np.ndarray, ...]  # float32 [rows, width] each
    spread: tuple[np.ndarray, ...]  # uint8 [rows] each, as in WeightTable
    shape: np.ndarray  # float32 [SHAPES, LABELS], the dense table

    def tables(self) -> Tables:
        """Return the tables to look up in."""
        tables = []
        for keys, rows, spread in zip(self.keys, self.rows, self.spread, strict=True):
            slots = np.zeros(capacity(keys.size), np.uint64)
            insert_all(slots, keys)
            rows = np.concatenate((np.zeros((1, rows.shape[1]), np.float32), rows))
            tables.append(WeightTable(slots, rows, np.concatenate((np.zeros(1, np.uint8), spread))))
        return Tables._make((*tables, self.shape))

    @classmethod
    def of(cls, tables: Iterable[tuple[np.ndarray, ...]], shape: np.ndarray) -> Weights:
        """Return weights in tables (keys, rows, spread) just large enough, in the order of their slots."""
        orders = ((by_slot(table[0], capacity(table[0].size)), table) for table in tables)
        keys, rows, spread = zip(*([part[order] for part in table] for order, table in orders), strict=True)
        return cls(keys, rows, spread, shape)

    @classmethod
    def mean(cls, members: Sequence[Weights]) -> Weights:
        """Return the mean of compact weights, with as many as the member that has most.

        The members have learned from the same lines, so the keys near one are spread alike in all of them.
        """
        tables = []
        for parts in zip(*(zip(one.keys, one.rows, one.spread, strict=True) for one in members), strict=True):
            every, rows, spread = map(np.concatenate, zip(*parts, strict=True))
            keys, first, places = np.unique(every, return_index=True, return_inverse=True)
            sums = np.zeros((keys.size, rows.shape[1]), np.float32)
            np.add.at(sums, places, rows)
            tables.append((keys, sums / len(members), spread[first]))
        mean = cls.of(tables, np.mean([one.shape for one in members], 0))
        return mean.compact(0, most=max(sum(map(np.count_nonzero, one.rows)) for one in members))

    def compact(
        self, negligible: float, initial: Weights | None = None, most: int = PerceptronOptions.weights
    ) -> Weights:
        """Keep the ``most`` largest weights from ``negligible`` on, rounded, and all rows of ``initial``."""
        if not all((np.abs(rows) <= LARGEST).all() for rows in (*self.rows, self.shape)):
            raise NotFiniteError("the weights")
        known = [np.zeros(keys.size, np.bool_) for keys in self.keys]
        if initial is not None:
            known = [np.isin(*keys) for keys in zip(self.keys, initial.keys, strict=True)]
        new = (np.abs(rows[~k]) for rows, k in zip(self.rows, known, strict=True))
        free = np.concatenate([sizes[sizes >= negligible] for sizes in new])
        least = np.partition(free, -most - 1)[-most - 1] if free.size > most else np.float32(0)
        tables = []
        for keys, rows, spread, k in zip(self.keys, self.rows, self.spread, known, strict=True):
            sizes = np.abs(rows)
            rows = _rounded(np.where((sizes >= negligible) & ((sizes > least) | k[:, None]), rows, 0))
            kept = rows.any(axis=1) | k
            tables.append((keys[kept], rows[kept], spread[kept]))
        return Weights.of(tables, self.shape)

    def pack(self) -> Arrays:
        """Return arrays for a file; exact for compact weights.

        A table compares the upper half of a key (``tags``) and its slot, which follows from the slot's last
        byte (``places``) and the number of keys in each block of 256 slots (``blocks``). A larger table, for
        more training, needs the other bits of the lower half, too (``rest``). Bits mark the weights that are
        not zero (``present``). Each of these is a byte (``values``), an index of a weight (``levels``).
        """
        arrays = {"shape": self.shape}
        for name, keys, rows, spread in zip(TABLE_NAMES, self.keys, self.rows, self.spread, strict=True):
            slots = capacity(keys.size)
            levels, indices = np.unique(rows[rows != 0], return_inverse=True)
            block, place = np.divmod(keys & np.uint64(slots - 1), np.uint64(SLOT_BLOCK))
            arrays |= {
                f"{name}.tags": (keys >> np.uint64(32)).astype(np.uint32),
                f"{name}.places": place.astype(np.uint8),
                f"{name}.blocks": np.bincount(block, minlength=slots // SLOT_BLOCK).astype(np.uint16),
                f"{name}.present": np.packbits(rows != 0),
                f"{name}.levels": levels,
                f"{name}.values": indices.astype(np.uint8),
            }
            if name in SPREADING:
                arrays[f"{name}.spread"] = spread
            bits, kind = _rest(slots)
            arrays[f"{name}.rest"] = ((keys & LOWER_HALF) >> bits).astype(kind)
        return arrays


def unpack(arrays: Arrays) -> Weights:
    """Return what was packed; a DataError says that the arrays are not the weights of a BTG model."""
    tables = [_unpack_table(arrays, *table) for table in zip(TABLE_NAMES, WIDTHS, strict=True)]
    shape = checked(arrays, "shape", np.float32, (SHAPES, LABELS), KIND)
    if np.abs(shape).max() > LARGEST:
        raise DataError(f"not the weights of {KIND}: the shape's are too large")
    keys, rows, spread = zip(*tables, strict=True)
    return Weights(keys, rows, spread, shape)


def _unpack_table(arrays: Arrays, name: str, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    def part(what: str, dtype: type, size: int | None) -> np.ndarray:
        return checked(arrays, f"{name}.{what}", dtype, (size,), KIND)

    tags, blocks = part("tags", np.uint32, None), part("blocks", np.uint16, None)
    places = part("places", np.uint8, tags.size)
    present = part("present", np.uint8, -(-tags.size * width // 8))
    is_weight = np.unpackbits(present, count=tags.size * width).astype(np.bool_)
    levels, indices = part("levels", np.float32, None), part("values", np.uint8, int(is_weight.sum()))
    if indices.max(initial=0) >= max(levels.size, 1) or np.abs(levels).max(initial=0) > LARGEST:
        raise DataError(f"not the weights of {KIND}: the levels of {name}")
    spread = part("spread", np.uint8, tags.size) if name in SPREADING else np.zeros(tags.size, np.uint8)
    slots = blocks.size * SLOT_BLOCK
    if slots != capacity(tags.size):
        raise DataError(f"not the weights of {KIND}: {name} has {tags.size} keys in {slots} slots")
    if blocks.sum() != tags.size or spread.max(initial=0) > MAX_SPREAD:
        raise DataError(f"not the weights of {KIND}: the keys of {name}")
    first_slots = np.repeat(np.arange(blocks.size, dtype=np.uint64) * np.uint64(SLOT_BLOCK), blocks)
    bits, kind = _rest(slots)
    rest = part("rest", kind, tags.size).astype(np.uint64) << bits
    if rest.max(initial=0) > LOWER_HALF:
        raise DataError(f"not the weights of {KIND}: the rest of the keys of {name}")
    keys = tags.astype(np.uint64) << np.uint64(32) | (first_slots + places) | rest
    rows = np.zeros((tags.size, width), np.float32)
    rows.reshape(-1)[is_weight] = levels[indices]
    return keys, rows, spread


def _rounded(rows: np.ndarray) -> np.ndarray:
    is_weight = rows != 0
    logs = np.log(np.abs(rows[is_weight]))
    if not logs.size:
        return rows
    sizes = np.linspace(float(logs.min()), float(logs.max()), SIZES)
    step = max(sizes[1] - sizes[0], np.finfo(np.float32).tiny)
    nearest = np.exp(sizes).astype(np.float32)[np.rint((logs - sizes[0]) / step).astype(np.uint8)]
    result = np.zeros_like(rows)
    result[is_weight] = np.copysign(nearest, rows[is_weight])
    return result


def _rest(slots: int) -> tuple[np.uint64, type]:
    """Return how many bits of a key say which slot it has, and the type of the rest of its lower half."""
    bits = slots.bit_length() - 1
    return np.uint64(bits), np.uint16 if bits >= 16 else np.uint32
