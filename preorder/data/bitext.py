"""What preorderers are trained on: source sentences and their word alignments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from preorder.data.alignment import Alignment
from preorder.data.sentence import Sentence
from preorder.errors import DataError


@dataclass(frozen=True)
class Bitext:
    """Source sentences and the alignment of each.

    Raises:
        DataError: there are not as many alignments as sentences.
    """

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
