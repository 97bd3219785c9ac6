"""The table of a run's systems, for the terminal and as Markdown: ``results.json`` as people read it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from preorder.analysis.results import SCORE_FORMATS, TRANSLATION_SCORES, arrow, p_value
from preorder.command_line import print_table
from preorder.metrics.significance import SIGNIFICANCE_LEVEL, Comparison

COSTS: dict[str, tuple[str, Callable[[float], str]]] = {
    "tau": ("tau", SCORE_FORMATS["tau"].format),
    "parameters": ("parameters", "{:,.0f}".format),
    "seconds": ("training, s", "{:,.0f}".format),
    "words_per_second": ("words/s", "{:,.0f}".format),
}
"""What stands beside the scores: titles, and formats of numbers. There is no tau without links."""

LEAST_BLEU = 1
"""BLEU, 0 to 100, below which a system translates hardly a word as it should."""


Cell = tuple[str, str, str]
"""A figure as text: the mean with its marks; ``± …`` and ``p …``, or nothing."""


def print_leaderboard(results: dict[str, Any]) -> None:
    """Print the table, in two parts where the terminal is too narrow for one."""
    columns, rows = _table(results)
    table = [columns, *([name, *("\n".join(filter(None, cell)) for cell in cells)] for name, cells in rows)]
    scores = 1 + len(TRANSLATION_SCORES)
    parts: list[Sequence[int]] = [range(len(columns))]
    if sys.stdout.isatty() and _width(table) > shutil.get_terminal_size().columns:
        parts = [range(scores), [0, *range(scores, len(columns))]]
    for number, part in enumerate(parts):
        head, *body = ([row[i] for i in part] for row in table)
        print_table(title(results) if number == 0 else None, head, body, lines=True)
    print("\n".join(_notes(results)))


def markdown(results: dict[str, Any]) -> list[str]:
    """Return the lines of ``results.md``."""
    columns, rows = _table(results)
    body = [columns]
    for name, cells in rows:
        parts = ((mean, deviation, p_value and f"({p_value})") for mean, deviation, p_value in cells)
        body.append([name, *(" ".join(filter(None, cell)) for cell in parts)])
    signatures = [f"{SCORE_FORMATS[name].title} {text}" for name, text in results["signature"].items()]
    notes = (f"- {note.replace('*', chr(92) + '*')}" for note in (*_notes(results), *signatures))
    return [title(results), "", *markdown_rows(body), "", *notes]


def markdown_rows(table: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table whose first row has the titles of the columns."""
    rules = ["---", *("---:" for _ in table[0][1:])]
    return (f"| {' | '.join(row)} |" for row in (table[0], rules, *table[1:]))


def title(results: dict[str, Any]) -> str:
    """Return what was compared, in one line."""
    counts = sorted({len(system["seeds"]) for system in results["systems"].values()})
    number = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
    seeds = "one training" if counts == [1] else f"mean ± standard deviation of {number} trainings"
    return f"{results['source']} → {results['target']}, size {results['size']}, {seeds} per system"


def _table(results: dict[str, Any]) -> tuple[list[str], list[tuple[str, list[Cell]]]]:
    """Return the titles of the columns, and name and cells of each system."""
    scores = (SCORE_FORMATS[name].title for name in TRANSLATION_SCORES)
    costs, rows = {name: COSTS[name] for name in _costs(results)}, []
    for system, figures in results["systems"].items():
        cells = [_score(results, system, name) for name in TRANSLATION_SCORES]
        rows.append((system, cells + [_cell(figures[name], form) for name, (_, form) in costs.items()]))
    return ["system", *scores, *(name for name, _ in costs.values())], rows


def _costs(results: dict[str, Any]) -> list[str]:
    return [name for name in COSTS if all(name in system for system in results["systems"].values())]


def _score(results: dict[str, Any], system: str, name: str) -> Cell:
    mark, p_text = "*" if system in results["best"][name]["not_worse"] else "", ""
    if found := results["significance"].get(system):
        comparison = Comparison(**found[name])
        mark += arrow(name, comparison)
        p_text = f"p {p_value(comparison.p_value)}"
    return _cell(results["systems"][system][name], SCORE_FORMATS[name].format, mark, p_text)


def _cell(figures: dict[str, Any], form: Callable[[float], str], mark: str = "", p_value: str = "") -> Cell:
    """Return a mean and, unless it is 0 as that of parameters, its deviation as text."""
    deviation = f"± {form(figures['deviation'])}" if figures["deviation"] else ""
    return form(figures["mean"]) + mark, deviation, p_value


def _notes(results: dict[str, Any]) -> list[str]:
    lower = [
        SCORE_FORMATS[name].title for name in TRANSLATION_SCORES if not SCORE_FORMATS[name].higher_is_better
    ]
    has_seeds = any(len(one["seeds"]) > 1 for one in results["systems"].values())
    drawn = "sentences and trainings" if has_seeds else "sentences"
    tau = "; tau: of the order that a system reads, −1 to 1" if "tau" in _costs(results) else ""
    search = (f"{name.replace('_', ' ')} {value}" for name, value in results["search"].items() if value)
    notes = [
        f"↑ ↓ better, worse than {results['baseline']}, p < {SIGNIFICANCE_LEVEL}: "
        f"paired bootstrap over {drawn}",
        "* the best system, and those not significantly worse",
        f"less is better: {', '.join(lower)}" + tau,
        f"words/s: source words translated in a second, {', '.join(search)}, on {results['device']}; "
        "training, s: while other steps may run beside it",
    ]
    idle = [name for name, one in results["systems"].items() if one["bleu"]["mean"] < LEAST_BLEU]
    if idle:
        names = ", ".join(idle)
        notes.insert(0, f"BLEU below {LEAST_BLEU}: {names} learned next to nothing, and cannot be compared")
    if given := results.get("preorderer"):
        how = "trained further on this text" if given["adapted"] else "not trained on this text"
        notes.append(f"predicted orders: by the preorderer {Path(given['model']).name}, {how}")
    begun = ((name, one["begins_from"]) for name, one in results["systems"].items())
    return notes + [f"from the trained {base} goes on: {name}" for name, base in begun if base]


def _width(table: Sequence[Sequence[str]]) -> int:
    columns = zip(*table, strict=True)
    return 1 + sum(3 + max(len(line) for cell in column for line in cell.split("\n")) for column in columns)
