"""``preorder evaluate``: measure an order by an alignment, or an alignment by a gold one."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from preorder.alignment.gold import gold_permutation
from preorder.alignment.target_groups import target_groups
from preorder.cli import options
from preorder.cli.commands import SUMMARIES
from preorder.cli.table import print_table
from preorder.data import files
from preorder.data.formats import read_alignments
from preorder.data.types import Alignment, Permutation

if TYPE_CHECKING:
    from preorder.metrics.preordering import OrderEvaluation, TargetGroups

    Row = tuple[TargetGroups | None, TargetGroups, Permutation]

EXAMPLES = """\
  preorder evaluate --align test.align --order test.order
  preorder apply --model model --src test.en --format positions | \\
      preorder evaluate --align test.align --positions - --json
  preorder evaluate --align test.align --gold test.gold

tau is -1 to 1, and two tokens of the same target group are a wrong pair. tau_nakagawa, frs (fuzzy
reordering score) and complete_match are 0 to 1, as Google's evaluator counts them. "aligned tokens"
are those of each sentence whose alignment can be sorted; other sentences are skipped. "all tokens"
measures every token of every sentence by the gold order of preorder gold.

With --gold: alignment error rate, precision, recall and F1, 0 to 1, of the links of --align.
The gold alignment may have possible links (1?2) beside the sure ones (1-2).
"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = options.add_command(subparsers, "evaluate", run, SUMMARIES["evaluate"], EXAMPLES)
    options.add_alignment(parser)
    what = parser.add_mutually_exclusive_group(required=True)
    options.add_orders(what, "{}, a sentence a line", metavar="F")
    what.add_argument("--gold", metavar="F", help="gold alignment, to measure --align by it")
    options.add_unaligned(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the subcommand."""
    if arguments.gold is None:
        _evaluate_orders(arguments)
        return
    options.refuse(arguments, ("unaligned", "statistic"), "with --gold")
    _evaluate_alignment(arguments)


def _evaluate_alignment(arguments: argparse.Namespace) -> None:
    from preorder.metrics.alignment import alignment_counts, alignment_scores

    streams = ((path, read_alignments(path)) for path in (arguments.align, arguments.gold))
    counts = files.map_parallel(alignment_counts, arguments.align, *streams)
    found = alignment_scores(files.not_empty(arguments.align, counts))
    if arguments.json:
        files.write_json(files.STANDARD, asdict(found))
        return
    numbers = map(str, (found.sentences, found.links, found.sure, found.possible))
    scores = (f"{score:.4f}" for score in (found.aer, found.precision, found.recall, found.f1))
    columns = ("sentences", "links", "sure", "possible", "alignment error rate", "precision", "recall", "F1")
    print_table(None, columns, [[*numbers, *scores]])


def _evaluate_orders(arguments: argparse.Namespace) -> None:
    from preorder.metrics.preordering import evaluate

    rows = files.not_empty(arguments.align, _rows(arguments))
    groups, gold, permutations = map(list, zip(*rows, strict=True))
    aligned, everything = evaluate(groups, permutations), evaluate(gold, permutations)
    if arguments.json:
        files.write_json(files.STANDARD, asdict(aligned) | {"all_tokens": asdict(everything)})
    else:
        _print(aligned, everything)


def _rows(arguments: argparse.Namespace) -> Iterator[Row]:
    """Yield for each line the target groups, the gold positions and the order to measure."""

    def row(alignment: Alignment, permutation: Permutation) -> Row:
        length = len(permutation)
        gold = gold_permutation(alignment, length, arguments.unaligned, arguments.statistic)
        return target_groups(alignment, length), gold.positions, permutation

    alignments = (arguments.align, read_alignments(arguments.align))
    return files.map_parallel(row, arguments.align, alignments, options.read_order(arguments))


def _print(aligned: OrderEvaluation, everything: OrderEvaluation) -> None:
    rows = []
    for name, found in (("aligned tokens", aligned), ("all tokens", everything)):
        for label, scores in ((name, found), ("  unreordered", found.monotone)):
            numbers = (scores.tau, scores.tau_nakagawa, scores.frs, scores.complete_match)
            rows.append((label, *(f"{number:.4f}" for number in numbers)))
    title = f"{aligned.sentences} sentences, {aligned.skipped} more whose alignment cannot be sorted"
    print_table(title, ("", "tau", "tau_nakagawa", "frs", "complete match"), rows)
