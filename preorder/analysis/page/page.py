"""The page of a set of runs, from their results."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path

from preorder.analysis.examples import Example, Examples
from preorder.analysis.page.html import Markup, element, escape, join
from preorder.analysis.pictures.draw import breakdown_title, curves_title, draw_breakdown, draw_curves
from preorder.analysis.pictures.encode import svg_element
from preorder.analysis.results import Breakdown, Curves
from preorder.analysis.score_formats import SCORE_FORMATS
from preorder.analysis.tables import Table, breakdown_table, curve_tables

CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""What a browser may load for the page: nothing."""

DOCTYPE = "<!doctype html>"


@dataclass(frozen=True)
class Chapter:
    """A part of a run's section: a heading, and a result or a table."""

    heading: str
    content: Table | Curves | Breakdown | Examples


@dataclass(frozen=True)
class Run:
    """A run's title, how many sentences it was measured on, each metric's signature, scores, and chapters."""

    title: str
    sentences: int
    signature: dict[str, str]
    scores: Table
    chapters: tuple[Chapter, ...]


def page(title: str, runs: Sequence[Run]) -> str:
    """Return the whole page.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=CONTENT_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", _resource("report.css")),
    )
    headed = len(runs) > 1 or runs[0].title != title
    named = [(f"run{number}", run) for number, run in enumerate(runs, 1)]
    contents = _links("Runs", {name: run.title for name, run in named}) if len(runs) > 1 else ""
    body = element(
        "body",
        element("header", element("h1", title), contents),
        element("main", _summary(runs), *(_run(name, run, headed) for name, run in named)),
        element("script", _resource("report.js")),
    )
    return f"{DOCTYPE}\n{element('html', head, body, lang='en')}\n"


def is_page(path: Path) -> bool:
    """Say whether a file begins as a page does."""
    with path.open("rb") as stream:
        beginning = stream.read(500).decode(errors="replace")
    return beginning.startswith(DOCTYPE) and str(escape(CONTENT_POLICY)) in beginning


def _summary(runs: Sequence[Run]) -> Markup:
    """Return one table of the scores of all runs; nothing for a single run."""
    if len(runs) == 1:
        return Markup()
    columns = dict.fromkeys(column for run in runs for column in run.scores.columns)
    rows = tuple(
        (run.title, *(dict(zip(run.scores.columns, row, strict=True)).get(column, "–") for column in columns))
        for run in runs
        for row in run.scores.rows
    )
    return _table(Table("Scores of all runs", ("run", *columns), rows))


def _resource(name: str) -> Markup:
    return Markup(files(__package__).joinpath(name).read_text(encoding="utf-8"))


def _run(name: str, run: Run, headed: bool) -> Markup:
    """Return a run's section, with an id of this name, and a heading of its own if ``headed``."""
    numbered = enumerate((Chapter("Scores", run.scores), *run.chapters), 1)
    chapters = [(f"{name}-{number}", chapter) for number, chapter in numbered]
    signatures = (element("li", f"{metric}  {signature}") for metric, signature in run.signature.items())
    return element(
        "section",
        element("h2", run.title) if headed else "",
        element("p", f"{run.sentences} sentences", class_="note"),
        _links(f"In {run.title}", {anchor: chapter.heading for anchor, chapter in chapters}),
        *(
            join(element("h3", one.heading, id=anchor), _content(one.content, anchor))
            for anchor, one in chapters
        ),
        element("details", element("summary", "Signatures"), element("ul", *signatures)),
        id=name,
        aria_label=run.title,
    )


def _links(label: str, headings: Mapping[str, str]) -> Markup:
    """Return a list of links to headings, given by their ids."""
    links = (element("li", element("a", heading, href=f"#{name}")) for name, heading in headings.items())
    return element("nav", element("ul", *links), aria_label=label)


def _content(content: Table | Curves | Breakdown | Examples, name: str) -> Markup:
    if isinstance(content, Table):
        return _table(content)
    if isinstance(content, Examples):
        return _examples(content)
    if isinstance(content, Curves):
        draw, title, tables = draw_curves, curves_title(content), curve_tables(content)
    else:
        draw, title, tables = draw_breakdown, breakdown_title(content), [breakdown_table(content)]
    picture = svg_element(partial(draw, content), title, transparent=True)
    # This name goes before the ids inside a picture, since a page holds several pictures.
    picture = re.sub(r'(\bid="|xlink:href="#|url\(#)', rf"\g<1>{name}-", picture)
    return join(element("figure", Markup(picture)), *map(_table, tables))


def _table(table: Table) -> Markup:
    head = element("tr", *(element("th", column, scope="col") for column in table.columns))
    rows = (
        element("tr", element("th", row[0], scope="row"), *(element("td", *_cell(cell)) for cell in row[1:]))
        for row in table.rows
    )
    caption = element("caption", element("span", table.caption))
    made = element("table", caption, element("thead", head), element("tbody", *rows))
    box = element("div", made, class_="scroll", tabindex="0", role="region", aria_label=table.caption)
    return join(box, element("p", table.note, class_="note") if table.note else "")


def _cell(text: str) -> list[str]:
    """Return a cell's content; an interval stands below its score."""
    score, bracket, rest = text.partition(" [")
    return [score, element("small", f" [{rest}")] if bracket else [text]


def _examples(examples: Examples) -> Markup:
    return join(
        *(
            element(
                "details",
                element("summary", f"{examples.system} {what} than {examples.baseline}: {len(chosen)}"),
                *(_example(example, examples.measure) for example in chosen),
                open=what == "better",
            )
            for what, chosen in (("better", examples.better), ("worse", examples.worse))
        )
    )


def _example(example: Example, measure: str) -> Markup:
    form = SCORE_FORMATS[measure].format
    title = f"line {example.line}, {SCORE_FORMATS[measure].title} {form(example.difference)} apart"
    rows = (join(element("dt", name), element("dd", text)) for name, text in example.rows(form))
    return element("div", element("h4", title), element("dl", *rows), class_="example")
