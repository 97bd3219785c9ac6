"""Orders of the tokens of a sentence. Indices and positions count from 0.

Worked example, English preordered for Japanese (Kawara et al. 2021, Figure 6)::

    I like the pen that my father bought yesterday
    positions  0 8 6 7 5 1 2 4 3    where each source token goes
    order      0 5 6 8 7 4 2 3 1    which source token stands at each position
    text       I my father yesterday bought that the pen like
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from preorder.errors import DataError, cut

T = TypeVar("T")


@dataclass(frozen=True)
class Permutation:
    """A reordering of n tokens, held as positions: token i goes to ``positions[i]``."""

    positions: tuple[int, ...]

    def __post_init__(self) -> None:
        if sorted(self.positions) != list(range(len(self.positions))):
            text = cut(" ".join(map(str, self.positions)))
            raise DataError(f"not a permutation of 0 … {len(self.positions) - 1}: {text}")

    @classmethod
    def identity(cls, length: int) -> Permutation:
        """Return the permutation that keeps every token at its position."""
        return cls(tuple(range(length)))

    @classmethod
    def from_order(cls, order: Sequence[int]) -> Permutation:
        """Build from an order: ``order[r]`` is the index of the token that goes to position r."""
        return cls(cls(tuple(order)).order)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """``order[r]``: the index of the token that goes to position r."""
        order = [0] * len(self.positions)
        for index, position in enumerate(self.positions):
            order[position] = index
        return tuple(order)

    def apply(self, tokens: Sequence[T]) -> tuple[T, ...]:
        """Return the tokens in their new order."""
        return tuple(tokens[i] for i in self.order)

    def __len__(self) -> int:
        return len(self.positions)
