"""``preorder score``: how good translations are."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from preorder.alignment.target_groups import target_groups
from preorder.cli import options, translations
from preorder.data import files
from preorder.data.errors import DataError, UsageError
from preorder.data.formats import parse_order, parse_positions, read_alignments
from preorder.data.types import Permutation
from preorder.metrics.metric import METRICS

if TYPE_CHECKING:
    from preorder.metrics.preordering import Keys
    from preorder.metrics.scoring import Measured

EXAMPLES = """\
  preorder score --ref test.ja --hyp base=base.ja ours=ours.ja --baseline base --tokenize none
  preorder score --ref test.ja --hyp base=base/seed{1,2,3}.ja ours=ours/seed{1,2,3}.ja --pairwise
  preorder score --ref test.ja --hyp base=base.ja ours=ours.ja --align test.align --positions ours=test.pos
  preorder score --ref test.ja.1 --ref test.ja.2 --hyp ours.ja --metrics bleu,ribes --json

A name that is given several times is one system with several runs: mean and deviation.

BLEU, chrF and TER are 0 to 100 (less is better for TER), RIBES is 0 to 1. Every metric has
the defaults of its reference tool. For BLEU that is the tokenizer 13a, meant for plain
text: score text that is tokenised already with --tokenize none. TER and RIBES take the
tokens that stand between spaces, unless --words names a tokenizer, and upper for lower case.
"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = options.add_command(subparsers, "score", run, "score translations against references", EXAMPLES)
    translations.add_translations(parser)
    parser.add_argument(
        "--baseline", metavar="NAME", help="mark what is significantly better or worse than this system"
    )
    parser.add_argument(
        "--pairwise", action="store_true", help="print the p-values of every pair of systems, too"
    )
    parser.add_argument(
        "--align", metavar="F", help="alignment of source and reference: measures the orders by it, too"
    )
    for name, what in (("order", "which token stands at each place"), ("positions", "where each token goes")):
        parser.add_argument(
            f"--{name}",
            metavar="NAME=F",
            nargs="+",
            action="extend",
            default=[],
            help=f"the order that a system is told, {what}; systems without one keep the source's",
        )
    translations.add_metrics(parser, METRICS)
    translations.add_metric_options(parser)
    options.add_seed(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the subcommand."""
    from preorder.cli.score_table import print_pairwise, print_scoring
    from preorder.metrics import scoring

    references, systems = translations.read_runs(arguments)
    translations.warn_of_tokens(arguments, references[0])
    measured = scoring.translations(
        references, systems, arguments.metrics, translations.metric_options(arguments)
    )
    measured += _orders(arguments, list(systems), references[0])
    found = scoring.score_systems(measured, arguments.baseline, arguments.seed)
    if arguments.json:
        files.write_json(files.STANDARD, asdict(found))
        return
    print_scoring(found, arguments.baseline)
    if arguments.pairwise:
        print_pairwise(found)


def _orders(
    arguments: argparse.Namespace, systems: Sequence[str], reference: Sequence[str]
) -> list[Measured]:
    """Return the measure of the systems' orders; nothing without an alignment.

    Raises:
        UsageError: orders without an alignment or the other way round, or of no system.
        DataError: the files are malformed, or do not go with each other or with the translations.
    """
    from preorder.metrics.preordering import Preordering
    from preorder.metrics.scoring import Measured

    paths = _order_paths(arguments, systems)
    if not paths:
        return []
    streams = [(path, files.read_parsed(path, parse)) for path, parse in paths.values()]
    alignments = (arguments.align, read_alignments(arguments.align))
    _, *columns = files.read_columns((arguments.ref[0], reference), alignments, *streams)
    keys = list(files.map_parallel(_keys, arguments.align, (arguments.align, zip(*columns, strict=True))))
    orders = dict(zip(paths, columns[1:], strict=True))
    kept = [Permutation.identity(len(order)) for order in columns[1]]
    return [Measured(Preordering(keys), {name: [orders.get(name, kept)] for name in systems})]


def _keys(row: Sequence) -> Keys | None:
    alignment, first, *others = row
    for other in others:
        if len(other) != len(first):
            raise DataError(f"the orders of this sentence are of {len(first)} and {len(other)} tokens")
    return target_groups(alignment, len(first))


def _order_paths(arguments: argparse.Namespace, systems: Sequence[str]) -> dict[str, tuple]:
    """Return for each system with an order its file, and what parses a line of it."""
    orders = translations.paths_by_name(arguments.order)
    positions = translations.paths_by_name(arguments.positions)
    paths = {name: (path, parse_order) for name, path in orders.items()}
    for name, path in positions.items():
        if name in paths:
            raise UsageError(f"system {name!r} has two orders")
        paths[name] = (path, parse_positions)
    for name in paths:
        if name not in systems:
            raise UsageError(f"no system is called {name!r}, only: {', '.join(systems)}")
    if bool(paths) != bool(arguments.align):
        raise UsageError("--align and the orders of a system (--order, --positions) go together")
    return paths
