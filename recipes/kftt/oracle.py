"""The best order that syntax trees allow, by links: ``python -m recipes.kftt.oracle --help``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np

from preorder.command_line import Parser, execute, options
from preorder.data import Bitext
from preorder.data.formats import parse_source, read_alignments, read_plain
from preorder.io import files
from preorder.methods.tree_swap.oracle import best_labels, count_pairs, flat_keys
from preorder.methods.tree_swap.trees import forest, positions
from preorder.syntax.read import TreeFile, add_trees


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = Parser(
        prog="python -m recipes.kftt.oracle",
        description="Write the positions of the tokens in the best order that trees allow, by the links.",
        allow_abbrev=False,
    )
    options.add_source(parser)
    parser.add_argument("--trees", metavar="F", required=True, help="a tree for each sentence")
    options.add_alignment(parser)
    options.add_output(parser)
    parser.set_defaults(run=_write)
    return execute(parser, argv)


def _write(arguments: argparse.Namespace) -> None:
    sentences = add_trees(arguments.src, read_plain(arguments.src, parse_source), TreeFile(arguments.trees))
    alignments = (arguments.align, read_alignments(arguments.align))
    sides = zip(*files.in_parallel((arguments.src, sentences), alignments), strict=True)
    orders = best_orders(Bitext(*map(list, sides)))
    files.write_lines(arguments.out, (" ".join(map(str, order)) for order in orders))


def best_orders(bitext: Bitext) -> list[list[int]]:
    """Return the positions of the tokens of each sentence in the best order that its tree allows.

    Raises:
        DataError: a link is out of range.
    """
    trees = forest(bitext.sentences, "head")
    flat = positions(trees, best_labels(count_pairs(trees, flat_keys(bitext))))
    return [part.tolist() for part in np.split(flat, trees.starts[1:])]


if __name__ == "__main__":
    sys.exit(main())
