"""The page of a paper's tables: our figures, and the paper's beside them."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from preorder.analysis.analyses import (
    EvaluationData,
    Precisions,
    by_fitting_length,
    length_curves,
    system_examples,
)
from preorder.analysis.results import BLEU_SCORES, SCORE_FORMATS, Curves, parse_curves
from preorder.errors import UsageError
from preorder.io import files
from preorder.metrics import METRICS
from preorder.metrics.scoring import Scoring, measure, score_systems
from preorder_recipes.archives import read_translations, score_cell
from preorder_recipes.configuration import read_system
from preorder_recipes.paper_tables import (
    BY_LENGTH,
    SWAPPED,
    Experiment,
    NoCorpusError,
    Paper,
    PaperTable,
    Row,
    kept_curves,
    parsed_options,
)
from preorder_recipes.pipeline.leaderboard import COSTS, markdown_rows
from preorder_recipes.pipeline.runner import environment, processors, program_path
from preorder_recipes.pipeline.score import RESULTS, ROBUSTNESS

NUMBERS = {"aer": "AER"}  # titles of those that commands print, where they are not their names
UNKNOWN = "–"
CURVE_SCORES = (*BLEU_SCORES, "ribes", "tau")  # of tables by length and by the share of words swapped


def tables_of(paper: Paper) -> Iterator[str]:
    """Yield the lines of a paper's tables, as Markdown, and of what is not trained."""
    missing, unread = [], {}
    for table in paper.tables:
        try:
            lines = "\n".join(_body(table)).rstrip()
        except NoCorpusError:
            unread[table.name] = table.rows[0].experiment.data
            continue
        if lines:
            note = ("", *table.note.strip().split("\n")) if table.note else ()
            heading = f"### {table.name}: {table.title}"
            yield from (heading, "", _command(paper.name, table), "", *lines.split("\n"), *note, "")
        else:
            missing.append(table.name)
    if missing:
        yield from (f"Not trained yet: {'; '.join(missing)}.", "")
    if unread:
        given = " ".join(f"{name}=DIR" for name in dict.fromkeys(unread.values()))
        yield from (f"Not printed without --data {given}: {'; '.join(unread)}.", "")


def _command(paper: str, table: PaperTable) -> str:
    """Return the command that makes a table, and how long it trains where nothing is kept."""
    experiments = [one for one, _ in {(row.experiment, row.system): None for row in table.rows}]
    minutes = sum(one.minutes * len(parsed_options(one).seeds) for one in experiments)
    line = f"python -m preorder_recipes.papers {paper} --table {shlex.quote(table.name)}"
    line += f" --data {experiments[0].data}=DIR --run DIR"
    return f"`{line}`: {minutes / 60:.1f} core hours."


def _body(table: PaperTable) -> Iterator[str]:
    """Yield the lines below the title, none where fewer than two systems are trained."""
    if table.commands:
        yield from _of_commands(table)
    elif table.analysis == SWAPPED:
        yield from _robustness(table)
    else:
        found = {row.label: row for row in table.rows if row.translations()}
        if len(found) > 1:
            yield from _FROM_TRANSLATIONS[table.analysis](table, _translations(table, list(found.values())))
            if missing := _missing(table, found):
                yield from ("", missing)


def _translations(table: PaperTable, rows: Sequence[Row]) -> EvaluationData:
    """Read the translations of rows, and where a table shows it, their orders."""
    experiment = table.rows[0].experiment
    source, target = map(experiment.test_set, (experiment.source, experiment.target))
    shows_orders = table.analysis == BY_LENGTH or "tau" in table.measures
    links, orders = _links_and_orders(rows) if shows_orders else (None, {})
    systems = {row.label: row.translations() for row in rows}
    return read_translations(target, systems, source, links, orders)


def _of_commands(table: PaperTable) -> Iterator[str]:
    printed = _printed(table)
    if printed and table.measures:
        yield from (*_numbers(table, printed), "")
    else:
        for label, text in printed.items():
            yield from (f"{label}:", "", "```", *text.rstrip().split("\n"), "```", "")
    if printed and (missing := _missing(table, printed)):
        yield missing


def _by_length(_: PaperTable, data: EvaluationData) -> Iterator[str]:
    groups = by_fitting_length(list(map(len, data.source)))
    return _curves(length_curves(data, METRICS[:1], groups, CURVE_SCORES))


def _examples(_: PaperTable, data: EvaluationData) -> Iterator[str]:
    names = list(data.systems)
    found = system_examples(data, "ribes", names[0], names[-1], 1)
    if not (found.better or found.worse):
        yield "No sentence gains or loses."
    for example in (*found.better, *found.worse):
        yield from (f"- {name}: {text}" for name, text in example.rows("{:.3f}".format))
        yield ""


def _missing(table: PaperTable, found: Mapping[str, Any]) -> str:
    """Return a sentence that names the rows of which nothing is found, or nothing."""
    labels = [row.label for row in table.rows if row.label not in found]
    return f"Not trained yet: {'; '.join(labels)}." if labels else ""


def _printed(table: PaperTable) -> dict[str, str]:
    """Return what the last command prints for the first model of each row, or has printed of it earlier."""
    found = {}
    for row in table.rows:
        if models := row.made("model.pt"):
            *_, last = (run_in(row.experiment, command, models[0]) for command in table.commands)
            found[row.label] = last
        elif kept := row.kept_output(table.name):
            found[row.label] = kept[0].read_text(encoding="utf-8")
    return found


def _numbers(table: PaperTable, printed: Mapping[str, str]) -> Iterator[str]:
    """Yield a table of the numbers in what commands have printed as JSON, with the paper's beside them."""
    found = [(row, json.loads(printed[row.label])) for row in table.rows if row.label in printed]
    columns = [["system", *(row.label for row, _ in found)]]
    for name in table.measures:
        columns.append([NUMBERS.get(name, name), *(f"{numbers[name]:.3f}" for _, numbers in found)])
        if any(name in row.paper for row, _ in found):
            columns.append(_of_paper([row for row, _ in found], name, "{:.3f}".format))
    return markdown_rows(list(zip(*columns, strict=True)))


def _of_paper(rows: Iterable[Row], name: str, form: Callable[[float], str]) -> list[str]:
    """Return the column of the paper's figures."""
    return ["paper", *(form(row.paper[name]) if name in row.paper else "" for row in rows)]


def _links_and_orders(rows: Sequence[Row]) -> tuple[str | None, dict[str, str]]:
    """Return the links of the test set and the positions that systems read, or nothing if one is missing."""
    links, found = rows[0].experiment.made_of_test_set("align"), {}
    for row in rows:
        if order := read_system(row.base, None).order:
            path = row.experiment.made_of_test_set(f"{row.experiment.source}.{order}.positions")
            if not path:
                return None, {}
            found[row.label] = path
    return (links, found) if links else (None, {})


def _robustness(table: PaperTable) -> Iterator[str]:
    experiment = table.rows[0].experiment
    made = experiment.folder / ROBUSTNESS
    names = {row.base: row.label for row in table.rows}
    for path in [made] if made.exists() else kept_curves(experiment)[:1]:
        yield from _curves(parse_curves(files.read_json(str(path))), names)


def _curves(curves: Curves, names: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield a table of systems down, all or those with names, and groups across."""
    rows = []
    for name in filter(curves.measures.__contains__, CURVE_SCORES):
        form = SCORE_FORMATS[name]
        for system, line in curves.measures[name].items():
            if names is None or system in names:
                scores = (UNKNOWN if one is None else form.format(one.score) for one in line)
                rows.append((f"{names[system] if names else system}, {form.title}", *scores))
    return markdown_rows([(curves.axis, *(group.label for group in curves.groups)), *rows])


def _scores(table: PaperTable, data: EvaluationData) -> Iterator[str]:
    """Yield a table of our figures and the paper's; p is against the first row.

    Precision and brevity penalty stand beside BLEU.
    """
    names = [name for name in METRICS if any(one.partition("_")[0] == name for one in table.measures)]
    measured = data.measure(names) + data.measure_orders()
    if any(name.startswith("precision_") for name in table.measures):
        measured += measure([Precisions(data.references, data.options)], data.systems)
    found = score_systems(measured, next(iter(data.systems)), data.seed)
    costs = {row: _costs(row) for row in table.rows if row.label in data.systems}
    columns = [["system", *(row.label for row in costs)]]
    parts = ((name, *BLEU_SCORES[1:]) if name == "bleu" else (name,) for name in table.measures)
    for name in chain.from_iterable(parts):
        title, form = COSTS.get(name) or (SCORE_FORMATS[name].title, SCORE_FORMATS[name].format)
        cells = [_cell(found, row.label, name, known.get(name), form) for row, known in costs.items()]
        if set(cells) == {UNKNOWN}:
            continue
        columns.append([title, *cells])
        if any(name in row.paper for row in costs):
            columns.append(_of_paper(costs, name, form))
    return markdown_rows(list(zip(*columns, strict=True)))


_FROM_TRANSLATIONS = {None: _scores, BY_LENGTH: _by_length, "examples": _examples}
"""Analysis of a table → the lines that it makes of the translations."""


def _cell(found: Scoring, label: str, name: str, cost: float | None, form: Any) -> str:
    if name in found.runs.get(label, {}):
        return score_cell(found, label, name, form)
    return UNKNOWN if cost is None else form(cost)


def _costs(row: Row) -> dict[str, float]:
    """Return what ``results.json`` of the run says beside the scores; not the speed of another search."""
    path = row.experiment.folder / RESULTS
    system = files.read_json(str(path))["systems"].get(row.system, {}) if path.exists() else {}
    others = ("words_per_second",) if row.translate else ()
    return {name: system[name]["mean"] for name in COSTS if name in system and name not in others}


def run_in(experiment: Experiment, command: str, model: Path) -> str:
    """Run a command in the folder of a run; return what it prints."""
    corpus = experiment.data_folder().absolute() if "{corpus}" in command else None
    names = {"model": model.relative_to(experiment.folder), "corpus": corpus}
    program, *words = (word.format_map(names) for word in command.split())
    line = [program_path(program), *words]
    variables = environment(processors())
    ended = subprocess.run(
        line, capture_output=True, check=False, cwd=experiment.folder, env=variables, encoding="utf-8"
    )
    if ended.returncode:
        raise UsageError(f"{command}: {ended.stderr.strip()}")
    return ended.stdout
