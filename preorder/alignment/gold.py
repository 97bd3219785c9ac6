"""The gold order: the order of the source tokens that an alignment asks for.

It labels the training data of preorderers, and a translation model that is told it shows the upper bound of
preordering (Kawara et al. 2021, Table V). Every alignment has one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean, median
from typing import Literal, get_args

from preorder.data.alignment import Alignment
from preorder.data.permutation import Permutation

UnalignedRule = Literal["nearest", "left", "right", "keep"]
Statistic = Literal["mean", "min", "median"]

UNALIGNED_RULES: tuple[str, ...] = get_args(UnalignedRule)
STATISTICS: dict[str, Callable[[Sequence[int]], float]] = {"mean": fmean, "min": min, "median": median}


def gold_permutation(
    alignment: Alignment,
    source_length: int,
    unaligned: UnalignedRule = "nearest",
    statistic: Statistic = "mean",
) -> Permutation:
    """Return the reordering that sorts the source tokens by the target tokens that they are linked to.

    Only sure links count. Where no token has one, nothing moves. O(n log n).

    Args:
        alignment: of the sentence.
        source_length: number of its tokens.
        unaligned: what an unaligned token does. It moves with its ``nearest`` aligned token (of two equally
            near tokens the left), or with the next aligned token on its ``left`` or ``right`` (where that
            side has none, on the other); or it ``keep``s its original position.
        statistic: the number by which an aligned token is sorted: the mean, minimum or median of its target
            indices. Tokens with equal numbers stay in source order.

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
        for position, token in zip(aligned, sorted(aligned, key=lambda i: (keys[i], i)), strict=True):
            order[position] = token
        return Permutation.from_order(order)
    anchors = _anchors(aligned, source_length, unaligned)
    return Permutation.from_order(sorted(range(source_length), key=lambda i: (keys[anchors[i]], i)))


def _anchors(aligned: Sequence[int], length: int, side: str) -> list[int]:
    """Return for each token the aligned token that it moves with: itself, if it is aligned."""
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
