"""Results of analyses, printed as tables or JSON and drawn where the user asked for it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from preorder.analysis.measures import MEASURES
from preorder.cli.table import print_table
from preorder.data import files

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from preorder.analysis.examples import Example, Examples
    from preorder.analysis.pictures.encode import Picture
    from preorder.analysis.results import Curves, Figures
    from preorder.analysis.tables import Table

SUFFIXES = (".svg", ".png")


def add_pictures(parser: argparse.ArgumentParser) -> None:
    """Add ``--out``, which :func:`show_curves` and :func:`show_figures` heed."""
    parser.add_argument(
        "--out",
        metavar="F.svg|F.png",
        type=_picture,
        action="append",
        default=[],
        help="draw it there; repeat it for both",
    )


def _picture(path: str) -> str:
    if not path.endswith(SUFFIXES):
        raise argparse.ArgumentTypeError(f"a picture's name ends in {' or '.join(SUFFIXES)}: {path!r}")
    return path


def _draw(draw: Callable[[], Figure], title: str, paths: Sequence[str]) -> None:
    from preorder.analysis.pictures.encode import encode

    for path in paths:
        write_picture(path, encode(draw, title, path))


def write_picture(path: str, picture: Picture) -> None:
    """Write a picture, and say so if it lacks letters."""
    files.write_bytes(path, picture.data)
    if not picture.complete:
        print(f"{path}: no installed font has all its characters; an .svg keeps them", file=sys.stderr)


def show_curves(curves: Curves, arguments: argparse.Namespace) -> None:
    """Print curves, and draw them to each ``--out``."""
    from preorder.analysis.pictures.draw import curves_title, draw_curves
    from preorder.analysis.tables import curve_tables

    _draw(partial(draw_curves, curves), curves_title(curves), arguments.out)
    if arguments.json:
        files.write_json(files.STANDARD, asdict(curves))
    else:
        for table in curve_tables(curves):
            _print(table)


def show_figures(figures: Figures, arguments: argparse.Namespace) -> None:
    """Print a table of figures, and draw it to each ``--out``."""
    from preorder.analysis.pictures.draw import draw_figures, figures_title
    from preorder.analysis.tables import figure_table

    _draw(partial(draw_figures, figures), figures_title(figures), arguments.out)
    if arguments.json:
        files.write_json(files.STANDARD, asdict(figures))
    else:
        _print(figure_table(figures))


def _print(table: Table) -> None:
    print_table(table.caption, table.columns, table.rows)
    if table.note:
        print(table.note)


def show_examples(examples: Examples, arguments: argparse.Namespace) -> None:
    """Print examples, one below the other."""
    if arguments.json:
        files.write_json(files.STANDARD, asdict(examples))
        return
    for title, chosen in (("better", examples.better), ("worse", examples.worse)):
        print(f"{examples.system} {title} than {examples.baseline}, by {MEASURES[examples.measure].title}\n")
        for example in chosen:
            print("\n".join(_lines(example, examples.measure)), end="\n\n")


def _lines(example: Example, measure: str) -> list[str]:
    rows = example.rows(MEASURES[measure].format)
    width = max(len(title) for title, _ in rows)
    return [f"line {example.line}", *(f"  {title:<{width}}  {text}" for title, text in rows)]
