"""Symmetrisation: one alignment made of those in both directions (Och and Ney 2003; Koehn et al. 2003)."""

from __future__ import annotations

from collections.abc import Callable, Set

Link = tuple[int, int]
Links = Set[Link]

NEIGHBOURS = tuple((di, dj) for di in (-1, 0, 1) for dj in (-1, 0, 1) if (di, dj) != (0, 0))


def grow_diag_final_and(forward: Links, reverse: Links) -> frozenset[Link]:
    """Take the links of both directions, then some links of one direction.

    grow-diag: as long as there is one, take a link that is next to a taken link (diagonally too) and whose
    source or target word has no link yet. final-and: then take links whose words both have no link yet. Links
    are looked at in the order of their indices, so that equal input gives equal links.
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
    for directed in (forward, reverse):
        for link in sorted(directed):
            if link[0] not in sources and link[1] not in targets:
                take(link)
    return frozenset(links)


SYMMETRIZATIONS: dict[str, Callable[[Links, Links], frozenset[Link]]] = {
    "intersect": lambda forward, reverse: frozenset(forward & reverse),
    "grow-diag-final-and": grow_diag_final_and,
    "union": lambda forward, reverse: frozenset(forward | reverse),
    "forward": lambda forward, _: frozenset(forward),
    "reverse": lambda _, reverse: frozenset(reverse),
}
"""Name → function of the forward and the reverse links, both as (source, target)."""
