"""Runs, or a gallery of sentences, as one page of HTML that needs nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, partial
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup, escape

from preorder.analysis.plots import breakdown_title, curves_title, draw_breakdown, draw_curves, svg_element
from preorder.analysis.report.run import Chapter, Run
from preorder.analysis.results import SCORE_FORMATS, Breakdown, Curves, Table, breakdown_table, curve_tables
from preorder.analysis.sentence_picture import draw_sentence, sentence_title, sentence_width
from preorder.analysis.sentence_view import Gallery, SentenceView, gallery_table

CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""What a browser may load for the page: nothing."""

DRAWINGS = {
    Curves: (draw_curves, curves_title),
    Breakdown: (draw_breakdown, breakdown_title),
    SentenceView: (draw_sentence, sentence_title),
}
LEAST_SCALE = 0.75  # of the picture of a sentence: its letters are 13 pixels high


def page(title: str, runs: Sequence[Run] = (), gallery: Gallery | None = None) -> str:
    """Return the page of a set of runs, or of one gallery."""
    sections = []
    for number, run in enumerate(runs, 1):
        chapters = enumerate((Chapter("Scores", run.scores), *run.chapters), 1)
        parts = [(f"run{number}-{k}", one.heading, one.content) for k, one in chapters]
        sections.append((f"run{number}", run, parts))
    if gallery is not None:
        headings = [(f"gallery-line-{one.line}", one.title) for one in gallery.sentences]
    else:
        headings = [(name, run.title) for name, run, _ in sections] if len(runs) > 1 else []
    values = {"headings": headings, "sections": sections, "summary": _summary(runs), "gallery": gallery}
    return _template().render(title=title, **values).strip() + "\n"


@cache
def _template() -> Template:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, cache_size=0
    )
    environment.globals |= {
        "policy": CONTENT_POLICY,
        "style": Markup(_resource("report.css")),
        "script": Markup(_resource("report.js")),
        "formats": SCORE_FORMATS,
        "gallery_table": gallery_table,
        "least_width": lambda one: f"{LEAST_SCALE * sentence_width(one.view) / 100:.2f}in",
    }
    environment.filters |= {
        "breakable": lambda text: Markup(escape(text).replace("_", Markup("_<wbr>"))),
        "kind": lambda content: type(content).__name__,
        "picture": _picture,
        "tables": lambda one: curve_tables(one) if isinstance(one, Curves) else [breakdown_table(one)],
    }
    return environment.from_string(_resource("page.html"))


def _summary(runs: Sequence[Run]) -> Table | None:
    if len(runs) < 2:
        return None
    columns = dict.fromkeys(column for run in runs for column in run.scores.columns)
    rows = tuple(
        (run.title, *(dict(zip(run.scores.columns, row, strict=True)).get(column, "–") for column in columns))
        for run in runs
        for row in run.scores.rows
    )
    return Table("Scores of all runs", ("run", *columns), rows)


def _picture(shown: Curves | Breakdown | SentenceView, name: str) -> Markup:
    """Return a picture; the name goes before the ids inside it, since a page holds several pictures."""
    draw, title = DRAWINGS[type(shown)]
    picture = svg_element(partial(draw, shown), title(shown), transparent=True)
    return Markup(re.sub(r'(\bid="|xlink:href="#|url\(#)', rf"\g<1>{name}-", picture))


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
