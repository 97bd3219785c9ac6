"""``preorder align``: align the words of a bitext."""

from __future__ import annotations

import argparse

from preorder.alignment.eflomal import align
from preorder.alignment.symmetrize import SYMMETRIZATIONS
from preorder.cli import options
from preorder.data import files
from preorder.data.formats import format_alignment, parse_source, parse_tokens

DEFAULT_SYMMETRIZATION = "intersect"

EXAMPLES = """\
  preorder align --src train.en --tgt train.ja --out train.align
  preorder align --src train.en --tgt train.ja --symmetrize grow-diag-final-and | gzip > train.align.gz
"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = options.add_command(subparsers, "align", run, "align the words of a bitext by eflomal", EXAMPLES)
    options.add_source(parser)
    parser.add_argument("--tgt", metavar="F", required=True, help="target text, a tokenised sentence a line")
    options.add_output(parser)
    parser.add_argument(
        "--symmetrize",
        choices=tuple(SYMMETRIZATIONS),
        default=DEFAULT_SYMMETRIZATION,
        help="how the links of both directions are joined (default: %(default)s)",
    )
    options.add_seed(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the subcommand."""
    words = (sentence.words for sentence in files.read_parsed(arguments.src, parse_source))
    sides = [(arguments.src, words), (arguments.tgt, files.read_parsed(arguments.tgt, parse_tokens))]
    sources, targets = zip(*files.not_empty(arguments.src, files.in_parallel(*sides)), strict=True)
    alignments = align(sources, targets, arguments.symmetrize, arguments.seed)
    files.write_lines(arguments.out, map(format_alignment, alignments))
