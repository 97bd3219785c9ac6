"""Write a synthetic bitext: ``python -m recipes.synthetic.generate --out DIR``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from preorder.cli.options import positive, seed
from preorder.data import files
from preorder.data.atomic import atomic_directory
from preorder.data.errors import DataError, PreorderError
from preorder.data.formats import format_alignment, format_text
from preorder.data.types import Alignment
from recipes.synthetic.grammar import Piece, pairs

SOURCE, TARGET = "svo", "sov"
DESCRIPTION = f"""\
Write sentence pairs of an SVO language ({SOURCE}) and an SOV language ({TARGET}), with gold
alignments, and tags and trees of the source: train, dev and test. No source sentence occurs twice."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m recipes.synthetic.generate",
        description=DESCRIPTION,
        allow_abbrev=False,
    )
    parser.add_argument("--out", metavar="DIR", required=True, help="folder to write")
    parser.add_argument(
        "--pairs", metavar="N", type=positive, default=6000, help="training pairs (%(default)s)"
    )
    parser.add_argument(
        "--held", metavar="N", type=positive, default=500, help="dev and test pairs each (%(default)s)"
    )
    parser.add_argument("--seed", metavar="N", type=seed, default=1, help="(default: %(default)s)")
    arguments = parser.parse_args(argv)
    try:
        write_bitext(arguments.out, arguments.pairs, arguments.held, arguments.seed)
    except PreorderError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def write_bitext(folder: str, training: int, held: int, seed: int) -> None:
    """Write the three parts of a bitext into a folder, which appears once it is complete.

    Raises:
        DataError: the folder exists already, or cannot be written.
    """
    if Path(folder).exists():
        raise DataError("exists already", folder)
    stream = pairs(seed)
    with atomic_directory(folder) as fresh:
        for part, size in (("test", held), ("dev", held), ("train", training)):
            write_part(fresh / part, list(islice(stream, size)))


def write_part(path: Path, pieces: Sequence[Piece]) -> None:
    """Write one part's files, all named after ``path``."""
    contents = {
        SOURCE: (format_text(piece.words) for piece in pieces),
        TARGET: (format_text(piece.translation) for piece in pieces),
        f"{SOURCE}.pos": (format_text(piece.tags) for piece in pieces),
        f"{SOURCE}.trees": (piece.tree for piece in pieces),
        "align": (format_alignment(Alignment(piece.links)) for piece in pieces),
    }
    for suffix, lines in contents.items():
        files.write_lines(f"{path}.{suffix}", lines)


if __name__ == "__main__":
    sys.exit(main())
