"""Pictures, drawn where the user asked for them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from preorder.analysis import PICTURES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE = ".html"


def add_pictures(parser: argparse.ArgumentParser, suffixes: Sequence[str] = PICTURES) -> None:
    """Add ``--out``, the paths for :func:`write_pictures`, or of pages; their names end in the suffixes."""
    what = "picture or a page" if PAGE in suffixes else "picture"
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
    """Write a picture to each path, and say so if it lacks letters.

    Raises:
        MissingExtraError: matplotlib is not installed.
        DataError: a file cannot be written.
    """
    from preorder.analysis.plots import write_picture

    for path in paths:
        write_picture(draw, title, path)
