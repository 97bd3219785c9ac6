"""Tables for people."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

FILE_WIDTH = 200  # characters, in a file or a pipe
MOST = 10_000  # characters that the widest table may need


def visible(text: str) -> str:
    """Return a text with its control characters written out, so that no name can steer the terminal."""
    return "".join(c if c == "\n" or unicodedata.category(c) != "Cc" else repr(c)[1:-1] for c in text)


def print_table(
    title: str | None, columns: Sequence[str], rows: Iterable[Sequence[str | Text]], lines: bool = False
) -> None:
    """Print a table on standard output; all columns but the first are aligned right.

    ``lines`` separates the rows by lines, for cells of several lines.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    class Output(Console):
        def on_broken_pipe(self) -> None:  # rich would end the process with status 1
            raise BrokenPipeError

    table = Table(title=title and Text(visible(title)), title_justify="left", show_lines=lines)
    for index, column in enumerate(columns):
        justify = "right" if index else "left"
        table.add_column(Text(visible(column)), justify=justify, overflow="fold", no_wrap=index == 0)
    for row in rows:
        # as Text, brackets in a name are no markup
        table.add_row(*(Text(visible(cell)) if isinstance(cell, str) else cell for cell in row))
    output = Output(width=None if sys.stdout.isatty() else FILE_WIDTH)
    unbounded = output.options.update(max_width=MOST)
    output.width = max(output.width, output.measure(table, options=unbounded).minimum)  # no name is cut
    output.print(table)
