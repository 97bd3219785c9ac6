"""Symmetrise alignments of both directions (Och and Ney 2003; Koehn et al. 2003), or let samplers vote."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from preorder.data.sentence import Alignment, Link

LinkSet = Set[Link]
Final = Callable[[tuple[bool, bool]], bool]

NEIGHBOURS = tuple((di, dj) for di in (-1, 0, 1) for dj in (-1, 0, 1) if (di, dj) != (0, 0))


def grow_diag(forward: LinkSet, reverse: LinkSet, final: Final | None = None) -> frozenset[Link]:
    """Take the links of both directions, then some links of one direction.

    grow-diag: while there are any, take links next to a taken link (also diagonally) whose source or target
    word has no link yet. Then, with ``final``, take links of one direction whose source or target word
    (``any``), or both (``all``: final-and), have no link yet. Links are visited by their indices, which
    makes the result reproducible.
    """
    union = forward | reverse
    links = set(forward & reverse)
    sources, targets = {i for i, _ in links}, {j for _, j in links}

    def take(link: Link) -> None:
        links.add(link)
        sources.add(link[0])
        targets.add(link[1])

    queue = sorted(links)
    for i, j in queue:  # it grows in the loop: the neighbours of new links are visited, too
        for di, dj in NEIGHBOURS:
            near = (i + di, j + dj)
            if near in union and near not in links and (near[0] not in sources or near[1] not in targets):
                take(near)
                queue.append(near)
    if final is not None:
        for link in (*sorted(forward), *sorted(reverse)):
            if final((link[0] not in sources, link[1] not in targets)):
                take(link)
    return frozenset(links)


DEFAULT_SYMMETRIZATION = "intersect"

SYMMETRIZATIONS: dict[str, Callable[[LinkSet, LinkSet], frozenset[Link]]] = {
    "intersect": lambda forward, reverse: frozenset(forward & reverse),
    "grow-diag": grow_diag,
    "grow-diag-final": partial(grow_diag, final=any),
    "grow-diag-final-and": partial(grow_diag, final=all),
    "union": lambda forward, reverse: frozenset(forward | reverse),
    "forward": lambda forward, _: frozenset(forward),
    "reverse": lambda _, reverse: frozenset(reverse),
}
"""Name → function of the forward and the reverse links, both as (source, target)."""


@dataclass(frozen=True, slots=True)
class Links:
    """The links of all sentence pairs of a bitext, in flat arrays."""

    starts: np.ndarray  # (pairs + 1): pair n has the links from starts[n] to starts[n + 1]
    sources: np.ndarray  # (links), the indices of the linked tokens, from 0
    targets: np.ndarray

    def of(self, pair: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the source and target indices of the links of one sentence pair."""
        linked = slice(self.starts[pair], self.starts[pair + 1])
        return self.sources[linked], self.targets[linked]

    def as_set(self, pair: int) -> frozenset[Link]:
        """Return the links of one sentence pair."""
        sources, targets = self.of(pair)
        return frozenset(zip(sources.tolist(), targets.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class Samples:
    """The links of several samplers: forward (a source token for each target token) and reverse."""

    source_lengths: np.ndarray  # (pairs), in tokens; 0 where there are too many to align
    target_lengths: np.ndarray
    draws: Sequence[tuple[Links, ...]]

    def __len__(self) -> int:
        return len(self.source_lengths)

    def shares(self, pair: int) -> np.ndarray:
        """Return the share of samplers that drew each link: ``[forward or reverse, source, target]``."""
        found = np.zeros((2, self.source_lengths[pair], self.target_lengths[pair]), np.float32)
        for draw in self.draws:
            for direction, links in enumerate(draw):
                found[direction][links.of(pair)] += 1
        return found / len(self.draws)


def read_links(path: Path) -> Links:
    """Read a file of Pharaoh links that a program wrote. O(bytes), without a Python loop over the links."""
    data = np.frombuffer(path.read_bytes(), np.uint8)
    ends = np.flatnonzero(data == ord("\n"))
    counts = np.searchsorted(np.flatnonzero(data == ord("-")), ends)
    numbers = np.array(data.tobytes().replace(b"-", b" ").split(), dtype=np.int16).reshape(-1, 2)
    return Links(np.concatenate(([0], counts)), numbers[:, 0].copy(), numbers[:, 1].copy())


def confident(confidences: np.ndarray, least: float) -> Alignment:
    """Return links whose confidence ``[source, target]``, rounded to 3 places, is at least ``least``."""
    rounded = confidences.astype(float).round(3)
    sources, targets = np.nonzero((rounded >= round(least, 3)) & (rounded > 0))
    links = zip(sources.tolist(), targets.tolist(), strict=True)
    return Alignment.weighted(dict(zip(links, rounded[sources, targets].tolist(), strict=True)))


def agreement(samples: Samples, least: float) -> Iterator[Alignment]:
    """Yield the links on which samplers agree; the confidence is the share of samplers with the link."""
    return (confident(samples.shares(pair).mean(axis=0), least) for pair in range(len(samples)))
