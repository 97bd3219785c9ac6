"""Symmetrisation: one alignment made of those in both directions (Och and Ney 2003; Koehn et al. 2003)."""

from __future__ import annotations

from collections.abc import Callable, Set
from functools import partial

Link = tuple[int, int]
Links = Set[Link]
Final = Callable[[tuple[bool, bool]], bool]

NEIGHBOURS = tuple((di, dj) for di in (-1, 0, 1) for dj in (-1, 0, 1) if (di, dj) != (0, 0))


def grow_diag(forward: Links, reverse: Links, final: Final | None = None) -> frozenset[Link]:
    """Take the links of both directions, then some links of one direction.

    grow-diag: as long as there is one, take a link that is next to a taken link (diagonally too) and whose
    source or target word has no link yet. Then, with ``final``, take links of one direction whose source or
    target word (``any``), or both (``all``: final-and), have no link yet. Links are looked at in the order
    of their indices, so that equal input gives equal links.
    """
    union = forward | reverse
    links = set(forward & reverse)
    sources, targets = {i for i, _ in links}, {j for _, j in links}

    def take(link: Link) -> None:
        links.add(link)
        sources.add(link[0])
        targets.add(link[1])

    queue = sorted(links)
    for i, j in queue:  # grows while it is walked: each new link has its own neighbourhood visited
        for di, dj in NEIGHBOURS:
            near = (i + di, j + dj)
            if near in union and near not in links and (near[0] not in sources or near[1] not in targets):
                take(near)
                queue.append(near)
    for link in (*sorted(forward), *sorted(reverse)) if final else ():
        if final((link[0] not in sources, link[1] not in targets)):
            take(link)
    return frozenset(links)


SYMMETRIZATIONS: dict[str, Callable[[Links, Links], frozenset[Link]]] = {
    "intersect": lambda forward, reverse: frozenset(forward & reverse),
    "grow-diag": grow_diag,
    "grow-diag-final": partial(grow_diag, final=any),
    "grow-diag-final-and": partial(grow_diag, final=all),
    "union": lambda forward, reverse: frozenset(forward | reverse),
    "forward": lambda forward, _: frozenset(forward),
    "reverse": lambda _, reverse: frozenset(reverse),
}
"""Name → function of the forward and the reverse links, both as (source, target)."""
