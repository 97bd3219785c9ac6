"""Tables and pictures that several commands write."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from preorder.analysis import PICTURES, TEXT
from preorder.command_line import print_table, visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from preorder.analysis.results import Table


def add_pictures(parser: argparse.ArgumentParser, suffixes: Sequence[str] = PICTURES) -> None:
    """Add ``--out``: paths of pictures, pages or texts with these suffixes."""

    def picture(path: str) -> str:
        if not path.endswith(tuple(suffixes)):
            raise argparse.ArgumentTypeError(f"a picture's name ends in {' or '.join(suffixes)}: {path!r}")
        return path

    what = "picture, a page or a text" if TEXT in suffixes else "picture"
    text = f"write a {what} (pictures need matplotlib, the extra plots); repeat it for several formats"
    metavar = "|".join(f"F{suffix}" for suffix in suffixes)
    parser.add_argument("--out", metavar=metavar, type=picture, action="append", default=[], help=text)


def write_pictures(draw: Callable[[], Figure], title: str, paths: Sequence[str]) -> None:
    """Write a picture to each path, in the format of its suffix."""
    from preorder.analysis.plots import write_picture

    for path in paths:
        write_picture(draw, title, path)


def print_tables(tables: Iterable[Table]) -> None:
    """Print tables on standard output."""
    for table in tables:
        print_table(table.caption, table.columns, table.rows)
        if table.note:
            print(visible(table.note))
