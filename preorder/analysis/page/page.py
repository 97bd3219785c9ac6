"""The page of a set of runs, from their results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from preorder.analysis.page.content import Content, content, table
from preorder.analysis.page.document import document, links
from preorder.analysis.page.html import Markup, element, join
from preorder.analysis.tables import Table


@dataclass(frozen=True)
class Chapter:
    """A part of a run's section: a heading, and a result."""

    heading: str
    content: Content


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
    headed = len(runs) > 1 or runs[0].title != title
    named = [(f"run{number}", run) for number, run in enumerate(runs, 1)]
    contents = links("Runs", {name: run.title for name, run in named}) if len(runs) > 1 else ""
    sections = (_run(name, run, headed) for name, run in named)
    return document(title, contents, _summary(runs), *sections)


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
    return table(Table("Scores of all runs", ("run", *columns), rows))


def _run(name: str, run: Run, headed: bool) -> Markup:
    """Return a run's section, with an id of this name, and a heading of its own if ``headed``."""
    numbered = enumerate((Chapter("Scores", run.scores), *run.chapters), 1)
    chapters = [(f"{name}-{number}", chapter) for number, chapter in numbered]
    signatures = (element("li", f"{metric}  {signature}") for metric, signature in run.signature.items())
    return element(
        "section",
        element("h2", run.title) if headed else "",
        element("p", f"{run.sentences} sentences", class_="note"),
        links(f"In {run.title}", {anchor: chapter.heading for anchor, chapter in chapters}),
        *(
            join(element("h3", one.heading, id=anchor), content(one.content, anchor))
            for anchor, one in chapters
        ),
        element("details", element("summary", "Signatures"), element("ul", *signatures)),
        id=name,
        aria_label=run.title,
    )
