"""Source sentences with layers of annotation, and their word alignments with translations."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from preorder.data.trees import ConstituencyTree, DependencyTree, SyntaxTree
from preorder.errors import DataError

Link = tuple[int, int]
CERTAIN = 1.0  # confidence of a link without one


@dataclass(frozen=True, slots=True)
class Alignment:
    """Word alignment of a sentence pair: sure and possible links. Indices count from 0.

    ``doubtful`` has the sure links with a confidence below 1, the probability that the link is right, and
    that confidence. Other links have 1. Most methods ignore confidences.
    """

    links: frozenset[Link]
    possible: frozenset[Link] = frozenset()
    source_length: int | None = None
    target_length: int | None = None
    doubtful: frozenset[tuple[Link, float]] = field(default=frozenset(), kw_only=True)

    def __post_init__(self) -> None:
        self.check_within(self.source_length, self.target_length)

    @classmethod
    def weighted(cls, confidences: Mapping[Link, float]) -> Alignment:
        """Return the alignment of sure links with their confidences."""
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
        """Return the alignment with indices from 0, given indices from 1."""
        for i, j in self.links | self.possible:
            if min(i, j) < 1:
                raise DataError(f"link {i}-{j} does not count from 1")
        return self._renamed(lambda i, j: (i - 1, j - 1), self.source_length, self.target_length)

    def at_least(self, confidence: float) -> Alignment:
        """Return the alignment without sure links of a lower confidence, which is above 0 and at most 1."""
        lost = {link for link, c in self.doubtful if c < confidence}
        doubtful = frozenset(pair for pair in self.doubtful if pair[0] not in lost)
        return replace(self, links=self.links - lost, doubtful=doubtful)

    def reversed(self) -> Alignment:
        """Return the alignment of the target with the source."""
        return self._renamed(lambda i, j: (j, i), self.target_length, self.source_length)

    def _renamed(self, new: Callable[[int, int], Link], *lengths: int | None) -> Alignment:
        links, possible = (frozenset(new(*link) for link in each) for each in (self.links, self.possible))
        doubtful = frozenset((new(*link), confidence) for link, confidence in self.doubtful)
        return Alignment(links, possible, *lengths, doubtful=doubtful)

    def confidences(self) -> dict[Link, float]:
        """Return the confidence of each sure link."""
        return dict.fromkeys(self.links, CERTAIN) | dict(self.doubtful)

    def targets(self, source_length: int) -> tuple[tuple[int, ...], ...]:
        """Return for each source token the target indices of its sure links, ascending."""
        targets: list[list[int]] = [[] for _ in range(source_length)]
        for i, j in self.links:
            targets[i].append(j)
        return tuple(tuple(sorted(group)) for group in targets)


@dataclass(frozen=True, slots=True)  # there may be millions
class Sentence:
    """A tokenised source sentence with layers of annotation; an unknown layer is None."""

    words: tuple[str, ...]
    tags: tuple[str, ...] | None = None
    classes: tuple[str, ...] | None = None
    tree: SyntaxTree | None = None

    def __post_init__(self) -> None:
        layers = (("POS tags", self.tags), ("word classes", self.classes), ("leaves of a tree", self.tree))
        for name, layer in layers:
            if layer is not None and len(layer) != len(self.words):
                raise DataError(f"{len(layer)} {name} for {len(self.words)} words")

    @property
    def constituency(self) -> ConstituencyTree | None:
        """The tree, if it is a constituency tree."""
        return self.tree if isinstance(self.tree, ConstituencyTree) else None

    @property
    def dependency(self) -> DependencyTree | None:
        """The tree, if it is a dependency tree."""
        return self.tree if isinstance(self.tree, DependencyTree) else None

    @property
    def is_flat(self) -> bool:
        """Whether there is no tree, or a tree without a parse."""
        return self.tree is None or self.tree.is_flat

    def __len__(self) -> int:
        return len(self.words)

    def lowercased(self) -> Sentence:
        """Return the sentence with its words in lower case."""
        return replace(self, words=tuple(word.lower() for word in self.words))

    def interned(self) -> Sentence:
        """Return an equal sentence that shares equal tokens with others: a quarter of the memory."""
        tags, classes = (layer and tuple(map(sys.intern, layer)) for layer in (self.tags, self.classes))
        return Sentence(tuple(map(sys.intern, self.words)), tags, classes, self.tree)


@dataclass(frozen=True)
class Bitext:
    """Training data of preorderers: source sentences and their alignments.

    ``pairs`` has the number of each line's language pair, from 0; empty: there is one pair.
    """

    sentences: Sequence[Sentence]
    alignments: Sequence[Alignment]
    pairs: Sequence[int] = ()

    def __len__(self) -> int:
        return len(self.sentences)

    def take(self, indices: Iterable[int]) -> Bitext:
        """Return the pairs at the given indices."""
        chosen = list(indices)
        pairs = [self.pairs[i] for i in chosen] if self.pairs else ()
        return Bitext([self.sentences[i] for i in chosen], [self.alignments[i] for i in chosen], pairs)


NO_LINES = Bitext((), ())
