"""``preorder score``: score translations, and test which system is better."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from preorder.alignment.gold import target_groups
from preorder.cli import SUMMARIES, translations
from preorder.command_line import options
from preorder.command_line.paths import paths_by_name, runs_by_name
from preorder.data import Permutation
from preorder.data.formats import read_alignments
from preorder.errors import DataError, UsageError
from preorder.io import files
from preorder.metrics import METRICS

if TYPE_CHECKING:
    from preorder.metrics.orders import TargetGroups
    from preorder.metrics.scoring import SystemStatistics

EXAMPLES = """\
  preorder score --ref test.ja --hyp base=base.ja ours=ours.ja --baseline base --tokenize none
  preorder score --ref test.ja --hyp base=base/seed{1,2,3}.ja ours=ours/seed{1,2,3}.ja --pairwise
  preorder score --ref test.ja --hyp base=base.ja ours=ours.ja --align test.align --positions ours=test.pos
  preorder score --ref test.ja.1 --ref test.ja.2 --hyp ours.ja --metrics bleu,ribes --json

A name that is given several times is one system with several runs: the table has the mean of their
scores, and the standard deviation.

BLEU, chrF and TER are 0 to 100 (less is better for TER), RIBES is 0 to 1. Every metric has
the defaults of its reference tool. BLEU's tokenizer is 13a, which is meant for plain text: score
text that is tokenised already with --tokenize none. TER and RIBES split text at spaces, unless
--words names a tokenizer, and take upper and lower case as the same.
"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = options.add_command(subparsers, "score", run, SUMMARIES["score"], EXAMPLES)
    translations.add_translations(parser)
    parser.add_argument(
        "--baseline",
        metavar="NAME",
        help="mark scores that are significantly better or worse than this system's",
    )
    parser.add_argument(
        "--pairwise", action="store_true", help="also print the p-values of every pair of systems"
    )
    parser.add_argument(
        "--align",
        metavar="F",
        help="alignment of source and reference: also measure the orders of --order and --positions",
    )
    text = "the order that a system is given, {}; systems without one keep the source's"
    options.add_orders(parser, text, metavar="NAME=F", nargs="+", action="extend", default=[])
    translations.add_metrics(parser, METRICS)
    translations.add_metric_options(parser)
    options.add_seed(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the subcommand."""
    from preorder.cli.score_table import print_pairwise, print_scoring
    from preorder.metrics.scoring import check_system, measure_translations, score_systems

    references, systems = translations.read_runs(arguments.ref, runs_by_name(arguments.hyp))
    if arguments.baseline is not None:
        check_system(arguments.baseline, systems)  # before the costly part
    translations.warn_if_tokenised(arguments, references[0])
    by = arguments.metrics, translations.metric_options(arguments)
    measured = measure_translations(references, systems, *by, show_progress=True)
    measured += _measure_orders(arguments, list(systems), references[0])
    found = score_systems(measured, arguments.baseline, arguments.seed)
    if arguments.json:
        files.write_json(files.STANDARD, asdict(found))
        return
    print_scoring(found, arguments.baseline)
    if arguments.pairwise:
        print_pairwise(found)


def _measure_orders(
    arguments: argparse.Namespace, systems: Sequence[str], reference: Sequence[str]
) -> list[SystemStatistics]:
    """Measure the systems' orders; return nothing without an alignment."""
    from preorder.metrics.orders import Preordering
    from preorder.metrics.scoring import measure

    paths = _order_paths(arguments, systems)
    if not paths:
        return []
    streams = [(path, files.read_parsed(path, parse)) for path, parse in paths.values()]
    alignments = (arguments.align, read_alignments(arguments.align))
    _, *columns = files.read_columns((arguments.ref[0], reference), alignments, *streams)
    rows = (arguments.align, zip(*columns, strict=True))
    groups = list(files.map_parallel(_target_groups, arguments.align, rows))
    orders = dict(zip(paths, columns[1:], strict=True))
    monotone = [Permutation.identity(len(order)) for order in columns[1]]
    return measure([Preordering(groups)], {name: [orders.get(name, monotone)] for name in systems})


def _target_groups(row: Sequence) -> TargetGroups | None:
    alignment, first, *others = row
    for other in others:
        if len(other) != len(first):
            raise DataError(f"the orders of this sentence are of {len(first)} and {len(other)} tokens")
    return target_groups(alignment, len(first))


def _order_paths(arguments: argparse.Namespace, systems: Sequence[str]) -> dict[str, tuple]:
    """Return for each system with an order its file, and the function that parses a line of it."""
    from preorder.metrics.scoring import check_system

    paths: dict[str, tuple] = {}
    for option, (parse, _) in options.ORDER_OPTIONS.items():
        for name, path in paths_by_name(getattr(arguments, option)).items():
            if name in paths:
                raise UsageError(f"system {name!r} has two orders")
            check_system(name, systems)
            paths[name] = (path, parse)
    if bool(paths) != bool(arguments.align):
        raise UsageError("--align and the orders of a system (--order, --positions) go together")
    return paths
