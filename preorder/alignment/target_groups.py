"""The order that an alignment asks of the source tokens, up to ties.

One definition serves the training of BTG models and the evaluation of orders, as in
Google's topdown-btg-preordering; the relation is that of Neubig et al. 2012.
"""

from __future__ import annotations

from preorder.data.types import Alignment

UNALIGNED = -1


def target_groups(alignment: Alignment, source_length: int) -> tuple[int, ...] | None:
    """Rank the source tokens by the target tokens they are linked to.

    Token a comes before b when both its first and its last target token do so, or
    are the same; two tokens with the same first and last share a group.

        links 0-0 1-5 1-6 3-2 4-3 5-7, six tokens  ->  0 3 -1 1 2 4

    Returns:
        For each token its group, 0 … number of groups - 1, or ``UNALIGNED``; None
        where some pair of tokens is in neither order (one's targets enclose the other's).
        Only sure links count. O(n log n).

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
