"""Results of analyses, printed as tables or JSON and drawn where the user asked for it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from preorder.analysis.results import SCORE_FORMATS
from preorder.cli.pictures import write_pictures
from preorder.command_line import print_table, visible
from preorder.io import files

if TYPE_CHECKING:
    from preorder.analysis.comparisons import Example, Examples
    from preorder.analysis.results import Breakdown, Correlations, Curves, Table


def print_curves(curves: Curves, arguments: argparse.Namespace) -> None:
    """Print curves as tables or JSON, and draw them to each ``--out``."""
    from preorder.analysis.plots import curves_title, draw_curves
    from preorder.analysis.results import curve_tables

    write_pictures(partial(draw_curves, curves), curves_title(curves), arguments.out)
    _print(curves, curve_tables(curves), arguments)


def print_breakdown(breakdown: Breakdown, arguments: argparse.Namespace) -> None:
    """Print a breakdown as a table or JSON, and draw it to each ``--out``."""
    from preorder.analysis.plots import breakdown_title, draw_breakdown
    from preorder.analysis.results import breakdown_table

    write_pictures(partial(draw_breakdown, breakdown), breakdown_title(breakdown), arguments.out)
    _print(breakdown, [breakdown_table(breakdown)], arguments)


def print_correlations(found: Correlations, arguments: argparse.Namespace) -> None:
    """Print correlations as a table or JSON."""
    from preorder.analysis.results import correlation_table

    _print(found, [correlation_table(found)], arguments)


def print_examples(examples: Examples, arguments: argparse.Namespace) -> None:
    """Print examples one below the other, or as JSON."""
    if arguments.json:
        files.write_json(files.STANDARD, asdict(examples))
        return
    for title, chosen in (("better", examples.better), ("worse", examples.worse)):
        metric = SCORE_FORMATS[examples.measure].title
        print(visible(f"{examples.system} {title} than {examples.baseline}, by {metric}\n"))
        for example in chosen:
            print(visible("\n".join(_lines(example, examples.measure))), end="\n\n")


def _print(
    result: Curves | Breakdown | Correlations, tables: Sequence[Table], arguments: argparse.Namespace
) -> None:
    if arguments.json:
        files.write_json(files.STANDARD, asdict(result))
        return
    for table in tables:
        print_table(table.caption, table.columns, table.rows)
        if table.note:
            print(visible(table.note))


def _lines(example: Example, metric: str) -> list[str]:
    rows = example.rows(SCORE_FORMATS[metric].format)
    width = max(len(title) for title, _ in rows)
    return [f"line {example.line}", *(f"  {title:<{width}}  {text}" for title, text in rows)]
