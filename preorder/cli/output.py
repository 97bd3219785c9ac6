"""What the commands write: lines of orders and trees, n-best lists, a warning where tokens are escaped."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from preorder.analysis import PICTURES, TEXT
from preorder.command_line import print_table, visible
from preorder.data import Sentence, formats
from preorder.data.formats import FORMATTERS
from preorder.progress import LOGGER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from preorder.analysis.results import Table


def formatted(pairs: Iterable[tuple[Sentence, Any]], name: str) -> Iterator[str]:
    """Yield a line for each sentence and its permutation, or tree."""
    formatter = FORMATTERS[name]
    return (formatter(sentence, item) for sentence, item in _warned(pairs, name))


def formatted_nbest(ranked: Iterable[tuple[Sentence, list[tuple[float, Any]]]], name: str) -> Iterator[str]:
    """Yield ``i ||| item ||| score`` for the k best permutations, or trees, of each sentence i, from 0."""
    formatter = FORMATTERS[name]
    for number, (sentence, items) in enumerate(_warned(ranked, name)):
        for score, item in items:
            yield f"{number} ||| {formatter(sentence, item)} ||| {score:.6f}"


def _warned(pairs: Iterable[tuple[Sentence, Any]], name: str) -> Iterator[tuple[Sentence, Any]]:
    """Yield the pairs; say once if tokens have to be escaped in features."""
    is_needed = name == "features"
    for number, (sentence, item) in enumerate(pairs, 1):
        if is_needed and formats.needs_escape(sentence.words):
            warn_of_escapes(f"line {number}", sentence.words)
            is_needed = False
        yield sentence, item


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
    what = "picture, a page or a text" if TEXT in suffixes else "picture"
    parser.add_argument(
        "--out",
        metavar="|".join(f"F{suffix}" for suffix in suffixes),
        type=partial(_picture, suffixes),
        action="append",
        default=[],
        help=f"write a {what} (needs matplotlib, the extra plots); repeat it for several formats",
    )


def _picture(suffixes: Sequence[str], path: str) -> str:
    if not path.endswith(tuple(suffixes)):
        raise argparse.ArgumentTypeError(f"a picture's name ends in {' or '.join(suffixes)}: {path!r}")
    return path


def write_pictures(draw: Callable[[], Figure], title: str, paths: Sequence[str]) -> None:
    from preorder.analysis.plots import write_picture

    for path in paths:
        write_picture(draw, title, path)


def print_tables(tables: Iterable[Table]) -> None:
    for table in tables:
        print_table(table.caption, table.columns, table.rows)
        if table.note:
            print(visible(table.note))
