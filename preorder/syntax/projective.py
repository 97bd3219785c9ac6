"""Dependency trees without crossing arcs: tokens are lifted (Nivre and Nilsson 2005)."""

from __future__ import annotations

from preorder.compiled import entry_point


@entry_point
def lift(heads):
    """Give tokens the head of their head, in ``heads`` itself, until every subtree is contiguous.

    An arc is lifted if it spans a token that is not below the head of the arc; the shortest arc first, and of
    several the leftmost. One pass over the arcs finds it, and costs at worst the sum of their lengths times
    the depth of the tree.

    Args:
        heads: int64, the index of each token's head; below 0 where the head is the root.
    """
    while True:
        chosen, shortest = -1, heads.size
        for token in range(heads.size):
            head = heads[token]
            first, last = min(token, head), max(token, head)
            if head < 0 or last - first >= shortest:
                continue
            for between in range(first + 1, last):
                above = between
                while above >= 0 and above != head:
                    above = heads[above]
                if above < 0:
                    chosen, shortest = token, last - first
                    break
        if chosen < 0:
            return
        heads[chosen] = heads[heads[chosen]]
