"""What a BTG model has learned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from preorder.btg.scores import Tables
from preorder.btg.table import Table, by_place, capacity, insert_all


@dataclass(frozen=True)
class Weights:
    """A model's weights, table by table in the order of ``features.TABLE_NAMES``.

    Attributes:
        keys: uint64 ``[rows]`` each.
        rows: float32 ``[rows, width]`` each.
        spread: uint8 ``[rows]`` each; see :class:`preorder.btg.table.Table`.
        shape: float32 ``[SHAPES, LABELS]``, the dense table.
    """

    keys: tuple[np.ndarray, ...]
    rows: tuple[np.ndarray, ...]
    spread: tuple[np.ndarray, ...]
    shape: np.ndarray

    def tables(self) -> Tables:
        """Return them as the compiled code reads them."""
        return Tables(*map(_table, self.keys, self.rows, self.spread), self.shape)


def _table(keys: np.ndarray, rows: np.ndarray, spread: np.ndarray) -> Table:
    slots = np.zeros(capacity(keys.size), np.uint64)
    order = by_place(keys)
    insert_all(slots, keys[order])
    weights = np.zeros((len(rows) + 1, rows.shape[1]), np.float32)
    weights[1:] = rows[order]
    spreads = np.zeros(len(rows) + 1, np.uint8)
    spreads[1:] = spread[order]
    return Table(slots, weights, spreads)
