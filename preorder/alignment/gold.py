"""Gold positions: where an alignment says that each source token should stand.

They label the training data of the preorderers, give the upper bound of preordering
(Kawara et al. 2021, Table V), and are defined for every alignment, however odd.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean, median
from typing import Literal, get_args

from preorder.data.types import Alignment, Permutation

Unaligned = Literal["nearest", "left", "right", "keep"]
Statistic = Literal["mean", "min", "median"]

UNALIGNED: tuple[str, ...] = get_args(Unaligned)
STATISTICS: dict[str, Callable[[Sequence[int]], float]] = {"mean": fmean, "min": min, "median": median}


def gold_permutation(
    alignment: Alignment,
    source_length: int,
    unaligned: Unaligned = "nearest",
    statistic: Statistic = "mean",
) -> Permutation:
    """Return the reordering that sorts the source tokens by their target places.

    Aligned tokens are sorted by a statistic of their target indices, equal ones in
    source order. An unaligned token moves with an aligned neighbour: the nearest (of two
    equally near ones the left), the next on its left or on its right, or, where that side
    has none, the next on the other; ``keep`` leaves it in its own place. Only sure links
    count. O(n log n).

    Raises:
        DataError: a link is out of range.
    """
    alignment.check_within(source_length)
    value = STATISTICS[statistic]
    keys = [value(targets) if targets else None for targets in alignment.targets(source_length)]
    aligned = [i for i, key in enumerate(keys) if key is not None]
    if not aligned:
        return Permutation.identity(source_length)
    if unaligned == "keep":
        order = list(range(source_length))
        for place, token in zip(aligned, sorted(aligned, key=lambda i: (keys[i], i)), strict=True):
            order[place] = token
        return Permutation.from_order(order)
    anchors = _anchors(aligned, source_length, unaligned)
    return Permutation.from_order(sorted(range(source_length), key=lambda i: (keys[anchors[i]], i)))


def _anchors(aligned: Sequence[int], length: int, side: str) -> list[int]:
    """Return for each token the aligned token that it moves with (itself, if aligned)."""
    before: list[int | None] = [None] * length
    after: list[int | None] = [None] * length
    members = set(aligned)
    last = None
    for i in range(length):
        before[i] = last = i if i in members else last
    last = None
    for i in reversed(range(length)):
        after[i] = last = i if i in members else last
    return [_choose(i, left, right, side) for i, (left, right) in enumerate(zip(before, after, strict=True))]


def _choose(i: int, left: int | None, right: int | None, side: str) -> int:
    if left is None or right is None:
        return left if right is None else right  # type: ignore[return-value]
    if side == "nearest":
        return left if i - left <= right - i else right
    return left if side == "left" else right
