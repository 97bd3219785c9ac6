"""Results of analyses, printed as tables or JSON."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from preorder import corpus
from preorder.analyse.measures import MEASURES
from preorder.cli.table import print_table

if TYPE_CHECKING:
    from preorder.analyse.examples import Example, Examples
    from preorder.analyse.results import Curves, Figures


def show_curves(curves: Curves, arguments: argparse.Namespace) -> None:
    """Print curves."""
    from preorder.analyse.tables import curve_tables

    if arguments.json:
        corpus.write_json(corpus.STANDARD, asdict(curves))
    else:
        for table in curve_tables(curves):
            print_table(table.caption, table.columns, table.rows)


def show_figures(figures: Figures, arguments: argparse.Namespace) -> None:
    """Print a table of figures."""
    from preorder.analyse.tables import figure_table

    if arguments.json:
        corpus.write_json(corpus.STANDARD, asdict(figures))
    else:
        table = figure_table(figures)
        print_table(table.caption, table.columns, table.rows)


def show_examples(examples: Examples, arguments: argparse.Namespace) -> None:
    """Print examples, one below the other."""
    if arguments.json:
        corpus.write_json(corpus.STANDARD, asdict(examples))
        return
    for title, chosen in (("better", examples.better), ("worse", examples.worse)):
        print(f"{examples.system} {title} than {examples.baseline}, by {MEASURES[examples.measure].title}\n")
        for example in chosen:
            print("\n".join(_lines(example, examples.measure)), end="\n\n")


def _lines(example: Example, measure: str) -> list[str]:
    rows = [("source", example.source)]
    rows += [(f"in the order {name}", text) for name, text in example.reordered.items()]
    rows += [("reference", text) for text in example.references]
    rows += [
        (f"{name} {MEASURES[measure].format(example.scores[name])}", text)
        for name, text in example.systems.items()
    ]
    width = max(len(title) for title, _ in rows)
    return [f"line {example.line}", *(f"  {title:<{width}}  {text}" for title, text in rows)]
