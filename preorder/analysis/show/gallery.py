"""Several sentences that are shown together, and what is told of all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from preorder.analysis.show.picture import draw_sentences
from preorder.analysis.show.sentence import SentenceView
from preorder.analysis.show.summary import summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Numbered(NamedTuple):
    """A sentence and its line number, from 1."""

    line: int
    view: SentenceView

    @property
    def title(self) -> str:
        """What stands above the sentence."""
        return f"line {self.line}"


@dataclass(frozen=True)
class Gallery:
    """Sentences, and how they were chosen, in words."""

    chosen: str
    sentences: tuple[Numbered, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object."""
        sentences = [{"line": one.line} | summary(one.view) for one in self.sentences]
        return {"kind": "gallery", "chosen": self.chosen, "sentences": sentences}

    def draw(self) -> Figure:
        """Draw all sentences, one below the other.

        Raises:
            MissingExtraError: matplotlib is not installed.
        """
        return draw_sentences((one.title, one.view) for one in self.drawn)

    @property
    def drawn(self) -> list[Numbered]:
        """The sentences as pictures show them: of several, those with links have no tree."""
        if len(self.sentences) == 1:
            return list(self.sentences)
        return [
            one._replace(view=replace(one.view, tree=None)) if one.view.links else one
            for one in self.sentences
        ]
