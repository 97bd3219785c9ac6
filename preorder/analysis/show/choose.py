"""Choosing a few sentences of many, in one pass over them."""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def draw(items: Iterable[T], count: int, seed: int) -> tuple[list[T], int]:
    """Return ``count`` items drawn at random, or all there are, in their order; and the number of all.

    Holds no more than it returns.
    """
    numbers = random.Random(seed)
    return _first(((numbers.random(), item) for item in items), count, in_order=True)


def greatest(items: Iterable[tuple[float, T]], count: int) -> tuple[list[T], int]:
    """Return the ``count`` items with the greatest numbers, the greatest first; and the number of all.

    Of equal numbers the earlier item is first.
    """
    return _first(((-number, item) for number, item in items), count, in_order=False)


def _first(items: Iterable[tuple[float, T]], count: int, in_order: bool) -> tuple[list[T], int]:
    total = 0

    def ranked() -> Iterator[tuple[float, int, T]]:
        nonlocal total
        for total, (number, item) in enumerate(items, 1):
            yield number, total, item

    chosen = heapq.nsmallest(count, ranked(), key=lambda row: row[:2])
    if in_order:
        chosen.sort(key=lambda row: row[1])
    return [item for _, _, item in chosen], total
