"""The page of a set of runs, from their results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files

from preorder.analysis.examples import Example, Examples
from preorder.analysis.measures import MEASURES
from preorder.analysis.page.html import Markup, element, join
from preorder.analysis.pictures.draw import curves_title, draw_curves, draw_figures, figures_title
from preorder.analysis.pictures.encode import svg_element
from preorder.analysis.results import Curves, Figures
from preorder.analysis.tables import Table, curve_tables, figure_table

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""What a browser may load for the page: nothing."""


@dataclass(frozen=True)
class Chapter:
    """What is told about a run under a heading: a result, or a table."""

    heading: str
    content: Table | Curves | Figures | Examples


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
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", _resource("report.css")),
    )
    headed = len(runs) > 1 or runs[0].title != title
    places = [(f"run{number}", run) for number, run in enumerate(runs, 1)]
    links = (element("li", element("a", run.title, href=f"#{place}")) for place, run in places)
    contents = element("nav", element("ul", *links), aria_label="Runs") if len(runs) > 1 else ""
    body = element(
        "body",
        element("header", element("h1", title), contents),
        element("main", _summary(runs), *(_run(place, run, headed) for place, run in places)),
        element("script", _resource("report.js")),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _summary(runs: Sequence[Run]) -> Markup:
    """Return one table of the scores of all runs; nothing if there is but one."""
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


def _run(place: str, run: Run, headed: bool) -> Markup:
    """Return a run's section; a run whose title the whole page has needs no heading."""
    chapters = [
        (f"{place}-{number}", chapter)
        for number, chapter in enumerate((Chapter("Scores", run.scores), *run.chapters), 1)
    ]
    links = (element("li", element("a", chapter.heading, href=f"#{name}")) for name, chapter in chapters)
    return element(
        "section",
        element("h2", run.title) if headed else "",
        element("p", f"{run.sentences} sentences", class_="note"),
        element("nav", element("ul", *links), aria_label=f"In {run.title}"),
        *(join(element("h3", one.heading, id=name), _content(one.content, name)) for name, one in chapters),
        element(
            "details",
            element("summary", "Signatures"),
            element("ul", *map(_signature, run.signature.items())),
        ),
        id=place,
        aria_label=run.title,
    )


def _signature(item: tuple[str, str]) -> Markup:
    return element("li", f"{item[0]}  {item[1]}")


def _content(content: Table | Curves | Figures | Examples, place: str) -> Markup:
    if isinstance(content, Table):
        return _table(content)
    if isinstance(content, Examples):
        return _examples(content)
    if isinstance(content, Curves):
        picture = svg_element(partial(draw_curves, content), curves_title(content), transparent=True)
        tables = curve_tables(content)
    else:
        picture = svg_element(partial(draw_figures, content), figures_title(content), transparent=True)
        tables = [figure_table(content)]
    return join(element("figure", _scoped(picture, place)), *map(_table, tables))


def _scoped(svg: str, place: str) -> Markup:
    """Put a prefix before the names inside a picture: pages hold several."""
    return Markup(re.sub(r'(\bid="|xlink:href="#|url\(#)', rf"\g<1>{place}-", svg))


def _table(table: Table) -> Markup:
    head = element("tr", *(element("th", column, scope="col") for column in table.columns))
    rows = (
        element("tr", element("th", row[0], scope="row"), *(element("td", *_cell(cell)) for cell in row[1:]))
        for row in table.rows
    )
    made = element(
        "table",
        element("caption", element("span", table.caption)),
        element("thead", head),
        element("tbody", *rows),
    )
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
    form = MEASURES[measure].format
    title = f"line {example.line}, {MEASURES[measure].title} {form(example.difference)} apart"
    rows = (join(element("dt", name), element("dd", text)) for name, text in example.rows(form))
    return element("div", element("h4", title), element("dl", *rows), class_="example")
