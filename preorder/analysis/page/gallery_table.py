"""How the links of a gallery's sentences lie before and after preordering, as a table."""

from __future__ import annotations

from statistics import fmean

from preorder.analysis.score_formats import SCORE_FORMATS
from preorder.analysis.show.gallery import Gallery, Numbered
from preorder.analysis.show.scores import MEASURE, taus
from preorder.analysis.show.sentence import crossings
from preorder.analysis.tables import Table


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
