"""A sentence with what is to be shown of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from preorder.data.errors import DataError
from preorder.data.formats import Matrix
from preorder.data.types import Alignment, BinaryTree, Permutation


@dataclass(frozen=True)
class SentenceView:
    """A source sentence in its own order and in another, with what else is known of it.

    Attributes:
        words: the source.
        permutation: the other order.
        tree: of straight and inverted nodes, or None.
        target: the translation, or None.
        alignment: the links of source and target, or None.
        attention: for each target token the weight of each source token, or None.

    Raises:
        DataError: the parts do not fit together.
    """

    words: tuple[str, ...]
    permutation: Permutation
    tree: BinaryTree | None = None
    target: tuple[str, ...] | None = None
    alignment: Alignment | None = None
    attention: Matrix | None = None

    def __post_init__(self) -> None:
        if len(self.permutation) != len(self.words):
            raise DataError(f"positions of {len(self.permutation)} tokens for {len(self.words)} words")
        if self.alignment is not None:
            if self.target is None:
                raise DataError("an alignment links the source to a target, and none is given")
            self.alignment.check_within(len(self.words), len(self.target))
        if self.attention is not None:
            self._check_attention(self.attention)

    def _check_attention(self, attention: Matrix) -> None:
        if self.target is None:
            raise DataError("attention is of target tokens, and no target is given")
        if len(attention) != len(self.target):
            raise DataError(f"attention of {len(attention)} target tokens, the target has {len(self.target)}")
        for row in attention:
            if len(row) != len(self.words):
                raise DataError(f"attention to {len(row)} source tokens, the source has {len(self.words)}")

    @property
    def links(self) -> list[tuple[int, int]]:
        """The links, possible ones too, sorted."""
        if self.alignment is None:
            return []
        return sorted(self.alignment.links | self.alignment.possible)

    def reordered(self) -> SentenceView:
        """Return the sentence in the other order, without tree and attention."""
        positions = self.permutation.positions
        alignment = None
        if self.alignment is not None:
            both = self.alignment.links, self.alignment.possible
            alignment = Alignment(*(frozenset((positions[i], j) for i, j in links) for links in both))
        words = self.permutation.apply(self.words)
        return SentenceView(words, Permutation.identity(len(words)), None, self.target, alignment)


def crossings(links: Iterable[tuple[int, int]]) -> int:
    """Count the pairs of links that cross. O(links²)."""
    return sum((i - k) * (j - m) < 0 for (i, j), (k, m) in combinations(links, 2))


def hard_attention(alignment: Alignment, source_length: int, target_length: int) -> Matrix:
    """Return links as attention: weight 1 for a sure link, 0.5 for a possible one.

    Raises:
        DataError: a link is out of range.
    """
    alignment.check_within(source_length, target_length)
    weights = dict.fromkeys(alignment.links, 1.0) | dict.fromkeys(alignment.possible, 0.5)
    return tuple(tuple(weights.get((i, j), 0.0) for i in range(source_length)) for j in range(target_length))
