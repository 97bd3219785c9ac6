"""Write a synthetic bitext: ``python -m recipes.synthetic.generate --out DIR``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from preorder.command_line import Parser, execute, options
from preorder.data import Alignment
from preorder.data.formats import format_alignment
from preorder.errors import DataError
from preorder.io import files
from preorder.io.atomic import atomic_directory
from recipes.synthetic.grammar import Piece, pairs

SOURCE, TARGET = "svo", "sov"
DESCRIPTION = f"""\
Write sentence pairs of an SVO language ({SOURCE}) and an SOV language ({TARGET}), with gold
alignments, and tags and trees of the source: train, dev and test. No source sentence occurs twice."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = Parser(prog="python -m recipes.synthetic.generate", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--out", metavar="DIR", required=True, help="folder to write")
    options.add_number(parser, "--pairs", options.sentence_pairs, 6000, "training pairs")
    options.add_number(parser, "--held", options.sentence_pairs, 500, "dev and test pairs each")
    options.add_seed(parser)
    parser.set_defaults(run=_write_bitext)
    return execute(parser, argv)


def _write_bitext(arguments: argparse.Namespace) -> None:
    """Write the three parts into a folder, which appears once it is complete."""
    if Path(arguments.out).exists():
        raise DataError("exists already", arguments.out)
    stream = pairs(arguments.seed)
    sizes = {"test": arguments.held, "dev": arguments.held, "train": arguments.pairs}
    with atomic_directory(arguments.out) as fresh:
        for part, size in sizes.items():
            _write_part(fresh / part, list(islice(stream, size)))


def _write_part(path: Path, pieces: Sequence[Piece]) -> None:
    contents = {
        SOURCE: (" ".join(piece.words) for piece in pieces),
        TARGET: (" ".join(piece.translation) for piece in pieces),
        f"{SOURCE}.pos": (" ".join(piece.tags) for piece in pieces),
        f"{SOURCE}.trees": (piece.tree for piece in pieces),
        "align": (format_alignment(Alignment(piece.links)) for piece in pieces),
    }
    for suffix, lines in contents.items():
        files.write_lines(f"{path}.{suffix}", lines)


if __name__ == "__main__":
    sys.exit(main())
