"""The order of the source tokens that an alignment asks for: a permutation, or groups with ties.

The gold order shows the upper bound of preordering (Kawara et al. 2021, Table V); every alignment has one.
BTG models are trained and orders are evaluated by target groups, as in Google's topdown-btg-preordering; the
relation between tokens is that of Neubig et al. (2012).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from statistics import fmean, median
from typing import Literal, get_args

from preorder.data.permutation import Permutation
from preorder.data.sentence import CERTAIN, Alignment

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

    Tokens are sorted by a statistic of their sure links' targets; ties keep the source order. An unaligned
    token moves with its ``nearest`` aligned token (of two the left), or with the next one on its ``left`` or
    ``right`` (or else on the other side), or it ``keep``s its position. O(n log n).
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
    place = bisect_left(aligned, token)
    near = aligned[max(place - 1, 0) : place + 1]  # on the left; itself, or on the right
    if side == "nearest":
        return min(near, key=lambda other: abs(other - token))
    return near[0] if side == "left" and near[-1] != token else near[-1]


UNALIGNED = -1  # target group of an unaligned token


def target_groups(alignment: Alignment, source_length: int) -> tuple[int, ...] | None:
    """Rank the source tokens by their target tokens, from 0; ``UNALIGNED``: it has none.

    Token a comes before token b if a's first and last target tokens are not after those of b. None: two
    tokens have no order. Only sure links count. O(n log n).

        links 0-0 1-5 1-6 3-2 4-3 5-7, six tokens  ->  0 3 -1 1 2 4
    """
    alignment.check_within(source_length)
    return _ranks([(each[0], each[-1]) if each else None for each in alignment.targets(source_length)])


def trusted_groups(
    alignment: Alignment, source_length: int
) -> tuple[tuple[int, ...], tuple[float, ...]] | None:
    """Rank the source tokens as :func:`target_groups`, and return the confidence of each, too.

    A token's confidence is the highest confidence among its links. Only the links with that confidence count;
    an unaligned token has 1. Of two tokens without an order, the less confident one, or else the right one,
    counts as unaligned. None: two certain tokens have no order. O(n²) at worst.
    """
    if not alignment.doubtful:
        groups = target_groups(alignment, source_length)
        return None if groups is None else (groups, (CERTAIN,) * source_length)
    alignment.check_within(source_length)
    best: list[tuple[float, list[int]]] = [(0.0, [])] * source_length
    for (i, j), confidence in sorted(alignment.confidences().items()):
        if confidence > best[i][0]:
            best[i] = confidence, [j]
        elif confidence == best[i][0]:
            best[i][1].append(j)
    extents = [(targets[0], targets[-1]) if targets else None for _, targets in best]
    confidences = [confidence or CERTAIN for confidence, _ in best]
    if not _fit(extents, confidences) or (groups := _ranks(extents)) is None:
        return None
    return groups, tuple(confidences)


def _fit(extents: list[tuple[int, int] | None], confidences: list[float]) -> bool:
    """Remove extents that have no order with others; return whether the certain tokens have one."""
    chain: list[tuple[int, int]] = []
    for i in sorted(range(len(extents)), key=lambda i: (-confidences[i], i)):
        extent = extents[i]
        if extent is None:
            continue
        place = bisect_left(chain, extent)
        before, after = chain[max(place - 1, 0) : place], chain[place : place + 1]
        if all(last <= extent[1] for _, last in before) and all(last >= extent[1] for _, last in after):
            if after != [extent]:
                chain.insert(place, extent)
        elif confidences[i] == CERTAIN:
            return False
        else:
            extents[i], confidences[i] = None, CERTAIN
    return True


def _ranks(extents: Sequence[tuple[int, int] | None]) -> tuple[int, ...] | None:
    chain = sorted({extent for extent in extents if extent is not None})
    lasts = [last for _, last in chain]
    if lasts != sorted(lasts):
        return None
    rank: dict[tuple[int, int] | None, int] = {extent: group for group, extent in enumerate(chain)}
    rank[None] = UNALIGNED
    return tuple(rank[extent] for extent in extents)
