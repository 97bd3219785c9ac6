"""Word alignment of a source sentence with its translation."""

from __future__ import annotations

from dataclasses import dataclass

from preorder.data.errors import DataError


@dataclass(frozen=True, slots=True)
class Alignment:
    """Word alignment of a sentence pair. Indices count from 0.

    Attributes:
        links: ``(source index, target index)`` pairs: the sure links.
        possible: the links that are only possible (``i?j``).
        source_length, target_length: numbers of tokens, or None where they are not known.

    Raises:
        DataError: a link lies outside a known length.
    """

    links: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]] = frozenset()
    source_length: int | None = None
    target_length: int | None = None

    def __post_init__(self) -> None:
        self.check_within(self.source_length, self.target_length)

    def check_within(self, source_length: int | None, target_length: int | None = None) -> None:
        """Check that every link lies within the given lengths (None: not known).

        Raises:
            DataError: a link lies outside, or the alignment states another length.
        """
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
                    raise DataError(
                        f"link {link[0]}-{link[1]} is out of range: the {side} has {length} tokens"
                    )

    def targets(self, source_length: int) -> tuple[tuple[int, ...], ...]:
        """Return for each source token the target indices of its sure links, ascending."""
        targets: list[list[int]] = [[] for _ in range(source_length)]
        for i, j in self.links:
            targets[i].append(j)
        return tuple(tuple(sorted(group)) for group in targets)
