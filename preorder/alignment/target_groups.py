"""Target groups: the order of the source tokens that an alignment asks for, with ties.

BTG models are trained and orders are evaluated by them, as in Google's topdown-btg-preordering. The relation
between tokens is that of Neubig et al. (2012).
"""

from __future__ import annotations

from preorder.data.alignment import Alignment

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
    extents = [(group[0], group[-1]) if group else None for group in alignment.targets(source_length)]
    chain = sorted({extent for extent in extents if extent is not None})
    lasts = [last for _, last in chain]
    if lasts != sorted(lasts):
        return None
    rank: dict[tuple[int, int] | None, int] = {extent: group for group, extent in enumerate(chain)}
    rank[None] = UNALIGNED
    return tuple(rank[extent] for extent in extents)
