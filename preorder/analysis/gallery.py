"""Several sentences that are shown together: how they are chosen, and how the links of all lie."""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from preorder.analysis.sentence_picture import draw_sentences
from preorder.analysis.sentence_view import MEASURE, SentenceView, crossings, summary, taus
from preorder.analysis.tables import SCORE_FORMATS, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


T = TypeVar("T")


def draw(items: Iterable[T], count: int, seed: int) -> tuple[list[T], int]:
    """Return ``count`` items drawn at random, or all there are, in their order; and the number of all.

    Holds no more than it returns.
    """
    numbers = random.Random(seed)
    return _first(((numbers.random(), item) for item in items), count, in_order=True)


def greatest(items: Iterable[tuple[float, T]], count: int) -> tuple[list[T], int]:
    """Return the ``count`` items with the greatest numbers, the greatest first; and the number of all.

    Of equal numbers the earlier item is first.
    """
    return _first(((-number, item) for number, item in items), count, in_order=False)


def _first(items: Iterable[tuple[float, T]], count: int, in_order: bool) -> tuple[list[T], int]:
    total = 0

    def ranked() -> Iterator[tuple[float, int, T]]:
        nonlocal total
        for total, (number, item) in enumerate(items, 1):
            yield number, total, item

    chosen = heapq.nsmallest(count, ranked(), key=lambda row: row[:2])
    if in_order:
        chosen.sort(key=lambda row: row[1])
    return [item for _, _, item in chosen], total


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
