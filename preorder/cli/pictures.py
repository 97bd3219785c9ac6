"""Pictures, drawn where the user asked for them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from preorder.data import files
from preorder.progress import LOGGER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".svg", ".png")


def add_pictures(parser: argparse.ArgumentParser) -> None:
    """Add ``--out``, the paths for :func:`write_pictures`."""
    parser.add_argument(
        "--out",
        metavar="F.svg|F.png",
        type=_picture,
        action="append",
        default=[],
        help="write a picture (needs matplotlib, the extra plots); repeat it for both formats",
    )


def _picture(path: str) -> str:
    if not path.endswith(SUFFIXES):
        raise argparse.ArgumentTypeError(f"a picture's name ends in {' or '.join(SUFFIXES)}: {path!r}")
    return path


def write_pictures(draw: Callable[[], Figure], title: str, paths: Sequence[str]) -> None:
    """Write a picture to each path, and say so if it lacks letters.

    Raises:
        MissingExtraError: matplotlib is not installed.
        DataError: a file cannot be written.
    """
    from preorder.analysis.pictures.encode import encode

    for path in paths:
        picture = encode(draw, title, path)
        files.write_bytes(path, picture.data)
        if not picture.complete:
            reason = "no installed font has all its characters; an .svg keeps them"
            LOGGER.warning(f"{path}: {reason}")
