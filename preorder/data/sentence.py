"""Source sentences with what is known of their tokens, alone and with their word alignments."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from preorder.data.alignment import Alignment
from preorder.data.trees import ConstituencyTree, DependencyTree, SyntaxTree
from preorder.errors import DataError


@dataclass(frozen=True, slots=True)  # there may be millions
class Sentence:
    """A tokenised source sentence with layers of annotation; a layer that is not known is None."""

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
        """The tree, if it is one of constituents."""
        return self.tree if isinstance(self.tree, ConstituencyTree) else None

    @property
    def dependency(self) -> DependencyTree | None:
        """The tree, if it is one of dependencies."""
        return self.tree if isinstance(self.tree, DependencyTree) else None

    def __len__(self) -> int:
        return len(self.words)

    def lowercased(self) -> Sentence:
        """Return the sentence with its words in lower case."""
        return replace(self, words=tuple(word.lower() for word in self.words))

    def interned(self) -> Sentence:
        """Return an equal sentence that shares equal tokens with other sentences: a quarter of the memory."""
        words, tags, classes = (
            layer and tuple(map(sys.intern, layer)) for layer in (self.words, self.tags, self.classes)
        )
        return replace(self, words=words, tags=tags, classes=classes)


@dataclass(frozen=True)
class Bitext:
    """What preorderers are trained on: source sentences and the alignment of each."""

    sentences: Sequence[Sentence]
    alignments: Sequence[Alignment]

    def __post_init__(self) -> None:
        if len(self.sentences) != len(self.alignments):
            raise DataError(f"{len(self.alignments)} alignments for {len(self.sentences)} sentences")

    def __len__(self) -> int:
        return len(self.sentences)

    def take(self, indices: Iterable[int]) -> Bitext:
        """Return the pairs at the given indices."""
        chosen = list(indices)
        return Bitext([self.sentences[i] for i in chosen], [self.alignments[i] for i in chosen])


NO_LINES = Bitext((), ())
