"""What the commands write: lines of orders and trees, n-best lists, a warning where tokens are escaped."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from preorder.analysis import PICTURES, TEXT
from preorder.command_line import print_table, visible
from preorder.data import Sentence, formats
from preorder.data.formats import FORMATTERS
from preorder.progress import LOGGER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from preorder.analysis.results import Table


def formatted(pairs: Iterable[tuple[Sentence, Any]], name: str, ranked: bool = False) -> Iterator[str]:
    """Yield a line for each sentence i, from 0, and its permutation, or tree; warn once of escaped tokens.

    ``ranked``: it has several, best first, with scores: they become lines of ``i ||| item ||| score``.
    """
    formatter, may_warn = FORMATTERS[name], name == "features"
    for number, (sentence, item) in enumerate(pairs):
        if may_warn and formats.needs_escape(sentence.words):
            warn_of_escapes(f"line {number + 1}", sentence.words)
            may_warn = False
        if not ranked:
            yield formatter(sentence, item)
            continue
        for score, one in item:
            yield f"{number} ||| {formatter(sentence, one)} ||| {score:.6f}"


def warn_of_escapes(where: str, words: Sequence[str]) -> None:
    """Show a token that features escape, of the words of a line."""
    token = next(word for word in words if formats.needs_escape((word,)))
    LOGGER.warning(
        f"{where}: token {token!r} is written as {formats.escape_token(token)!r}, "
        "and others like it: ￨, white space and the like would break the features",
        extra={"once": "escape"},
    )


def add_pictures(parser: argparse.ArgumentParser, suffixes: Sequence[str] = PICTURES) -> None:
    """Add ``--out``: paths of pictures, pages or texts, whose names end in the suffixes."""

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
