"""Several sentences that are shown together, and how the links of all lie."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from preorder.analysis.score_formats import SCORE_FORMATS
from preorder.analysis.show.picture import draw_sentences
from preorder.analysis.show.scores import MEASURE, taus
from preorder.analysis.show.sentence import SentenceView, crossings
from preorder.analysis.show.summary import summary
from preorder.analysis.tables import Table

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


def gallery_table(gallery: Gallery) -> Table | None:
    """Return how the links of each sentence lie in both orders; None if no sentence has an alignment."""
    measured = [taus(one.view) for one in gallery.sentences]
    known = [both for both in measured if both is not None]
    if not known:
        return None
    columns = ("line", "tokens", "crossings before", "crossings after", "tau before", "tau after", "gain")
    rows = tuple(_row(*row) for row in zip(gallery.sentences, measured, strict=True))
    caption = f"{SCORE_FORMATS[MEASURE].label} and crossings of links, before and after preordering"
    means = map(SCORE_FORMATS[MEASURE].format, map(fmean, zip(*known, strict=True)))
    note = "Means of tau: {} before, {} after.".format(*means)
    return Table(caption, columns, rows, note)


def _row(numbered: Numbered, found: tuple[float, float] | None) -> tuple[str, ...]:
    line, view = numbered
    crossed = ["–"] * 2
    if view.alignment is not None:
        crossed = [str(crossings(one.links)) for one in (view, view.reordered())]
    tau = ["–"] * 3
    if found is not None:
        form = SCORE_FORMATS[MEASURE]
        tau = [*map(form.format, found), form.format_difference(found[1] - found[0])]
    return (str(line), str(len(view.words)), *crossed, *tau)
