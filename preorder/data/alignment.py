"""Word alignment of a source sentence with its translation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from preorder.errors import DataError

Link = tuple[int, int]
CERTAIN = 1.0  # the confidence of a link that states none


@dataclass(frozen=True, slots=True)
class Alignment:
    """Word alignment of a sentence pair: sure and possible links. Indices count from 0.

    ``doubtful``: the sure links with a confidence below 1, each with it: how probable it is that the link is
    right. Others have 1. What does not ask for confidences takes all links alike.
    """

    links: frozenset[Link]
    possible: frozenset[Link] = frozenset()
    source_length: int | None = None
    target_length: int | None = None
    doubtful: frozenset[tuple[Link, float]] = field(default=frozenset(), kw_only=True)

    def __post_init__(self) -> None:
        self.check_within(self.source_length, self.target_length)
        for (i, j), confidence in self.doubtful:
            if (i, j) not in self.links or not 0 < confidence < CERTAIN:
                raise DataError(f"link {i}-{j} is none, or its confidence is not above 0 and at most 1")

    @classmethod
    def weighted(cls, confidences: Mapping[Link, float]) -> Alignment:
        """Return the alignment of sure links with a confidence each, 1 for those that are certain."""
        doubtful = frozenset((link, c) for link, c in confidences.items() if c != CERTAIN)
        return cls(frozenset(confidences), doubtful=doubtful)

    def check_within(self, source_length: int | None, target_length: int | None = None) -> None:
        """Check that every link lies within the given lengths (None: not known)."""
        sides = (
            ("source", 0, source_length, self.source_length),
            ("target", 1, target_length, self.target_length),
        )
        for side, index, length, stated in sides:
            if length is None:
                continue
            if stated is not None and stated != length:
                raise DataError(f"the alignment is of {stated} {side} tokens, the sentence has {length}")
            for link in self.links | self.possible:
                if not 0 <= link[index] < length:
                    where = f"link {link[0]}-{link[1]} is out of range: the {side} has {length} tokens"
                    raise DataError(where + self._guess(source_length, target_length))

    def _guess(self, *lengths: int | None) -> str:
        links = self.links | self.possible

        def fit(first: int, sides: tuple[int, ...]) -> bool:
            known = [(i, n + first) for i, n in zip(sides, lengths, strict=True) if n is not None]
            return all(first <= link[i] < most for i, most in known for link in links)

        if not any(0 in link for link in links) and fit(1, (0, 1)):
            return "; do they count from 1? (preorder map --first-index 1)"
        if lengths[0] is not None and fit(0, (1, 0)):
            return "; are they target-source? (preorder map --reverse)"
        return ""

    def from_one(self) -> Alignment:
        """Return the alignment of indices that count from 1 as one of indices that count from 0."""
        links, possible = (frozenset((i - 1, j - 1) for i, j in each) for each in (self.links, self.possible))
        for i, j in links | possible:
            if min(i, j) < 0:
                raise DataError(f"link {i + 1}-{j + 1} does not count from 1")
        doubtful = frozenset(((i - 1, j - 1), confidence) for (i, j), confidence in self.doubtful)
        return replace(self, links=links, possible=possible, doubtful=doubtful)

    def at_least(self, confidence: float) -> Alignment:
        """Return the alignment without the sure links of less confidence, above 0 and at most 1."""
        lost = {link for link, c in self.doubtful if c < confidence}
        doubtful = frozenset(pair for pair in self.doubtful if pair[0] not in lost)
        return replace(self, links=self.links - lost, doubtful=doubtful)

    def reversed(self) -> Alignment:
        """Return the alignment of the target with the source."""
        links, possible = (frozenset((j, i) for i, j in each) for each in (self.links, self.possible))
        doubtful = frozenset(((j, i), confidence) for (i, j), confidence in self.doubtful)
        return Alignment(links, possible, self.target_length, self.source_length, doubtful=doubtful)

    def confidences(self) -> dict[Link, float]:
        """Return the confidence of each sure link."""
        return dict.fromkeys(self.links, CERTAIN) | dict(self.doubtful)

    def targets(self, source_length: int) -> tuple[tuple[int, ...], ...]:
        """Return for each source token the target indices of its sure links, ascending."""
        targets: list[list[int]] = [[] for _ in range(source_length)]
        for i, j in self.links:
            targets[i].append(j)
        return tuple(tuple(sorted(group)) for group in targets)
