"""Dependencies without crossing arcs, by lifting (Nivre and Nilsson 2005)."""

from __future__ import annotations

from preorder.compiled import entry_point


@entry_point
def lift(heads):
    """Hang each token on the next token above its head, in place, until every subtree is contiguous.

    Of the arcs over a token that is not below their head the shortest, of these the first, is lifted
    first. A pass over the arcs takes the sum of their lengths times the tree's depth at worst; each arc
    that is lifted costs a pass.

    Args:
        heads: int64, a head below 0 is the root of all.
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
