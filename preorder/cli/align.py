"""``preorder align``: word alignment of a bitext."""

from __future__ import annotations

import argparse

from preorder.alignment.eflomal import align
from preorder.alignment.symmetrize import SYMMETRIZATIONS
from preorder.cli import options
from preorder.data import files
from preorder.data.formats import format_alignment, parse_tokens
from preorder.data.types import Alignment

DEFAULT_SYMMETRIZATION = "intersect"

EXAMPLES = """\
  preorder align --src train.en --tgt train.ja --out train.align
  preorder align --src train.en --tgt train.ja --symmetrize grow-diag-final-and | gzip > train.align.gz
"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = options.add_command(
        subparsers, "align", run, "align the words of a bitext with eflomal", EXAMPLES
    )
    options.add_source(parser)
    parser.add_argument("--tgt", metavar="F", required=True, help="target text, a line for each source line")
    options.add_output(parser)
    parser.add_argument(
        "--symmetrize",
        choices=tuple(SYMMETRIZATIONS),
        default=DEFAULT_SYMMETRIZATION,
        help="how the two directions become one alignment (default: %(default)s)",
    )
    options.add_seed(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the subcommand."""
    alignments = align_files(arguments.src, arguments.tgt, arguments.symmetrize, arguments.seed)
    files.write_lines(arguments.out, map(format_alignment, alignments))


def align_files(source: str, target: str, symmetrization: str, seed: int) -> list[Alignment]:
    """Align two files of equal length.

    Raises:
        DataError: they differ in length, are empty or not UTF-8.
    """
    streams = [(path, files.read_parsed(path, parse_tokens)) for path in (source, target)]
    pairs = files.not_empty(source, files.in_parallel(*streams))
    sources, targets = zip(*pairs, strict=True)
    return align(sources, targets, symmetrization, seed)
