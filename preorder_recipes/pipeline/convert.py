"""Write ``token￨position`` lines as reordered text or as positions."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from preorder.data import Sentence
from preorder.data.formats import FORMATTERS, parse_features
from preorder.io import files
from preorder_recipes.commands import execute, make_parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = make_parser(_convert)
    parser.add_argument("--features", metavar="F", required=True, help="output of preorder apply")
    parser.add_argument("--format", choices=("text", "positions"), required=True)
    parser.add_argument("--out", metavar="F", required=True)
    return execute(parser, argv)


def _convert(arguments: argparse.Namespace) -> None:
    parsed = files.read_parsed(arguments.features, parse_features)
    formatter = FORMATTERS[arguments.format]
    files.write_lines(arguments.out, (formatter(Sentence(words), order) for words, order in parsed))


if __name__ == "__main__":
    sys.exit(main())
