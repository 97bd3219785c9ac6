"""Results as HTML: tables, pictures, examples, galleries."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from preorder.analysis.examples import Example, Examples
from preorder.analysis.page.gallery_table import gallery_table
from preorder.analysis.page.html import Markup, element, join
from preorder.analysis.pictures.draw import breakdown_title, curves_title, draw_breakdown, draw_curves
from preorder.analysis.pictures.encode import svg_element
from preorder.analysis.results import Breakdown, Curves
from preorder.analysis.score_formats import SCORE_FORMATS
from preorder.analysis.show.gallery import Gallery, Numbered
from preorder.analysis.show.picture import draw_sentence, sentence_title, sentence_width
from preorder.analysis.tables import Table, breakdown_table, curve_tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAST_SCALE = 0.75  # of the picture of a sentence: its letters are 13 pixels high
Content = Table | Curves | Breakdown | Examples | Gallery


def content(result: Content, name: str) -> Markup:
    """Return a result as HTML; ``name`` begins the ids in it.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    if isinstance(result, Table):
        return table(result)
    if isinstance(result, Examples):
        return _examples(result)
    if isinstance(result, Gallery):
        return _gallery(result, name)
    if isinstance(result, Curves):
        draw, title, tables = draw_curves, curves_title(result), curve_tables(result)
    else:
        draw, title, tables = draw_breakdown, breakdown_title(result), [breakdown_table(result)]
    return join(element("figure", _picture(partial(draw, result), title, name)), *map(table, tables))


def _picture(draw: Callable[[], Figure], title: str, name: str) -> Markup:
    """Return a picture; the name goes before the ids inside it, since a page holds several pictures."""
    picture = svg_element(draw, title, transparent=True)
    return Markup(re.sub(r'(\bid="|xlink:href="#|url\(#)', rf"\g<1>{name}-", picture))


def table(one: Table) -> Markup:
    """Return a table, its note below it."""
    head = element("tr", *(element("th", column, scope="col") for column in one.columns))
    rows = (
        element("tr", element("th", row[0], scope="row"), *(element("td", *_cell(cell)) for cell in row[1:]))
        for row in one.rows
    )
    caption = element("caption", element("span", one.caption))
    made = element("table", caption, element("thead", head), element("tbody", *rows))
    box = element("div", made, class_="scroll", tabindex="0", role="region", aria_label=one.caption)
    return join(box, element("p", one.note, class_="note") if one.note else "")


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


def _gallery(gallery: Gallery, name: str) -> Markup:
    overview = gallery_table(gallery)
    figures = (_sentence(one, anchor(name, one)) for one in gallery.drawn)
    shown = element("details", element("summary", gallery.chosen), *figures, open=True)
    return join(table(overview) if overview else "", shown)


def anchor(name: str, numbered: Numbered) -> str:
    """Return the id of a sentence's picture, in the gallery whose ids begin with ``name``."""
    return f"{name}-line-{numbered.line}"


def _sentence(numbered: Numbered, name: str) -> Markup:
    """Return a sentence's picture, which shrinks to the page's width, but no further than can be read."""
    picture = _picture(partial(draw_sentence, numbered.view), sentence_title(numbered.view), name)
    return element(
        "figure",
        element("figcaption", numbered.title),
        picture,
        id=name,
        class_="sentence",
        style=f"--least: {LEAST_SCALE * sentence_width(numbered.view):.2f}in",
        tabindex="0",
        aria_label=numbered.title,
    )
