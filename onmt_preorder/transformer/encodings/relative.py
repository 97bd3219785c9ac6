"""Relative encodings: attention learns a vector for each clipped distance (Shaw et al. 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from onmt_preorder.transformer.attention import Positions, RelativePart
from onmt_preorder.transformer.encodings import Encoding

PAPER_LIMIT = 4  # Kawara et al. 2021, §V-C and Table I


class RelativeTables(nn.Module):
    """One order's tables of keys and values: a vector for each clipped distance, ``(2 limit + 1, size)``.

    They are weights of linear layers, which OpenNMT-py initialises.
    """

    def __init__(self, limit: int, size: int) -> None:
        super().__init__()
        self.keys, self.values = (nn.Linear(size, 2 * limit + 1, bias=False) for _ in range(2))


@dataclass(frozen=True)
class Relative(Encoding):
    """Vectors of keys and values by distance; distances beyond ``limit`` tokens count as this one."""

    has_parts: ClassVar[bool] = True

    limit: int = PAPER_LIMIT

    def tables(self, size: int) -> RelativeTables:
        """Make the tables of a layer."""
        return RelativeTables(self.limit, size)

    def parts(self, tables: RelativeTables, positions: Positions) -> tuple[RelativePart, ...]:
        """Return the tables with the positions that they are for."""
        return (RelativePart(positions, tables.keys.weight, tables.values.weight),)
