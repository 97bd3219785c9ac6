"""The gold order: the order of the source tokens that an alignment asks for.

It labels the training data of preorderers, and a translation model that is told it shows the upper bound of
preordering (Kawara et al. 2021, Table V). Every alignment has one.
"""

from __future__ import annotations

from bisect import bisect_left
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
        alignment, source_length: of the sentence.
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
    anchors = [_anchor(aligned, i, unaligned) for i in range(source_length)]
    return Permutation.from_order(sorted(range(source_length), key=lambda i: (keys[anchors[i]], i)))


def _anchor(aligned: Sequence[int], token: int, side: str) -> int:
    """Return the aligned token that a token moves with: itself, if it is aligned."""
    following = bisect_left(aligned, token)
    if following == len(aligned):
        return aligned[-1]
    right = aligned[following]
    if right == token or following == 0:
        return right
    left = aligned[following - 1]
    if side == "nearest":
        return left if token - left <= right - token else right
    return left if side == "left" else right
