"""Tables for people."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

FILE_WIDTH = 200  # characters: in a file or a pipe nothing is cut to a terminal's width


def print_table(title: str | None, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table on standard output; all columns but the first are set right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title and Text(title), title_justify="left")
    for index, column in enumerate(columns):
        table.add_column(Text(column), justify="right" if index else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))  # Text: brackets in a name are no markup
    Console(width=None if sys.stdout.isatty() else FILE_WIDTH).print(table)
