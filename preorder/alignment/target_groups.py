"""Target groups: the order of the source tokens that an alignment asks for, with ties.

BTG models are trained and orders are evaluated by them, as in Google's topdown-btg-preordering. The relation
between tokens is that of Neubig et al. (2012).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from preorder.data.alignment import CERTAIN, Alignment

UNALIGNED = -1
"""Stands for the target group of an unaligned token."""


def target_groups(alignment: Alignment, source_length: int) -> tuple[int, ...] | None:
    """Rank the source tokens by the target tokens they are linked to.

    Token a comes before token b if its first target token is not after b's first, and its last not after b's
    last. Tokens whose first and last target tokens are the same share a group. Only sure links count.
    O(n log n).

        links 0-0 1-5 1-6 3-2 4-3 5-7, six tokens  ->  0 3 -1 1 2 4

    Returns:
        The group of each token, numbered from 0, or ``UNALIGNED``. None if two tokens have no order: the
        target tokens of the one enclose those of the other.

    Raises:
        DataError: a link is out of range.
    """
    alignment.check_within(source_length)
    return _ranks([_extent(targets) for targets in alignment.targets(source_length)])


def trusted_groups(
    alignment: Alignment, source_length: int
) -> tuple[tuple[int, ...], tuple[float, ...]] | None:
    """Rank the source tokens as :func:`target_groups`, and heed the confidences of links.

    Of a token's links those of the greatest confidence count, and it is the token's. The tokens that are
    certain are ranked; each of the others, the more confident first, then from left to right, is ranked among
    them where it has an order with all that are, and else counts as unaligned. O(n²) at worst.

    Returns:
        The group and the confidence of each token, 1 for an unaligned one. None if two tokens that are
        certain have no order.

    Raises:
        DataError: a link is out of range.
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
    extents = [_extent(targets) for _, targets in best]
    confidences = [confidence or CERTAIN for confidence, _ in best]
    if not _fit(extents, confidences):
        return None
    return _ranks(extents), tuple(confidences)


def _fit(extents: list[tuple[int, int] | None], confidences: list[float]) -> bool:
    """Take the extents of tokens without an order from them; say whether the certain tokens have one."""
    chain: list[tuple[int, int]] = []
    for i in sorted(range(len(extents)), key=lambda i: (-confidences[i], i)):
        extent = extents[i]
        if extent is None or _insert(chain, extent):
            continue
        if confidences[i] == CERTAIN:
            return False
        extents[i], confidences[i] = None, CERTAIN
    return True


def _insert(chain: list[tuple[int, int]], extent: tuple[int, int]) -> bool:
    """Put an extent in its place in a chain, unless one encloses the other; say whether it has one."""
    place = bisect_left(chain, extent)
    before, after = chain[max(place - 1, 0) : place], chain[place : place + 1]
    if any(last > extent[1] for _, last in before) or any(last < extent[1] for _, last in after):
        return False
    if after != [extent]:
        chain.insert(place, extent)
    return True


def _extent(targets: Sequence[int]) -> tuple[int, int] | None:
    """Return the first and the last of a token's target tokens, which are ascending."""
    return (targets[0], targets[-1]) if targets else None


def _ranks(extents: Sequence[tuple[int, int] | None]) -> tuple[int, ...] | None:
    """Return the rank of each token's extent; None if one encloses another."""
    chain = sorted({extent for extent in extents if extent is not None})
    lasts = [last for _, last in chain]
    if lasts != sorted(lasts):
        return None
    rank: dict[tuple[int, int] | None, int] = {extent: group for group, extent in enumerate(chain)}
    rank[None] = UNALIGNED
    return tuple(rank[extent] for extent in extents)
