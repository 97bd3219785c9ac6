"""``preorder evaluate``: measure an order by an alignment, or an alignment by a gold one."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from preorder.alignment.gold import UNALIGNED, gold_permutation, target_groups
from preorder.command_line import options, print_table, source
from preorder.command_line.source import Source
from preorder.data import Alignment, Permutation, Sentence
from preorder.data.formats import read_alignments
from preorder.errors import DataError, UsageError, errors_in
from preorder.io import files
from preorder.methods.model_directory import load_model
from preorder.methods.ordering import orders
from preorder.methods.registry import check_able
from preorder.metrics import RIGHT_TAU

if TYPE_CHECKING:
    from preorder.metrics.confidence import Calibration, Inversions

EXAMPLES = """\
  preorder evaluate --align test.align --order test.order
  preorder apply --model model --src test.en --format positions | \\
      preorder evaluate --align test.align --positions - --json
  preorder evaluate --align test.align --model model --src test.en --calibration
  preorder evaluate --align test.align --gold gold.align

tau is -1 to 1, and two tokens of the same target group are a wrong pair. tau_nakagawa, frs (fuzzy
reordering score) and complete_match are 0 to 1, as Google's evaluator counts them. "aligned tokens"
are those of each sentence whose alignment can be sorted; other sentences are skipped. "all tokens"
measures every token of every sentence by the gold order of preorder gold.

--calibration compares the probabilities that pairs of tokens are inverted, by a model of btg or
neural-btg, with how often the links invert them; and E[tau], the tau that the model expects of a
sentence's order, with its tau: Spearman's rank correlation, and the area under the ROC curve (AUC)
for tau above 0.88.

With --gold: alignment error rate, precision, recall and F1, 0 to 1, of the links of --align.
The gold alignment may have possible links (1?2 or 1p2) beside the sure ones (1-2).
"""

READINGS: dict[str, Callable[[Alignment, Alignment], tuple[Alignment, Alignment]]] = {
    "the gold links count from 1 (--gold-first-index 1)": lambda ours, gold: (ours, gold.from_one()),
    "the others do (preorder map --first-index 1)": lambda ours, gold: (ours.from_one(), gold),
    "one of the files is target-source (preorder map --reverse)": lambda ours, gold: (ours, gold.reversed()),
}
"""Other readings of links, and how to convert them."""
SPARSE = 0.5  # share of aligned tokens below which the gold order of all tokens is mostly a guess
CLEARLY = 0.1  # fall of the alignment error rate that shows another reading


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``preorder evaluate``."""
    options.add_alignment(parser)
    what = parser.add_mutually_exclusive_group(required=True)
    options.add_orders(what, "{}, a sentence a line", metavar="F")
    options.add_files(what, "DIR", model="model directory, whose orders of --src are measured")
    what.add_argument("--gold", metavar="F", help="gold alignment, to measure --align by it")
    options.add_first_index(parser, "--gold-first-index", "--gold", None)
    options.add_unaligned(parser)
    options.add_flags(parser, calibration="of a model of btg or neural-btg: also measure its confidences")
    options.add_json(parser)
    options.add_files(parser, src="source text, which --model orders")
    source.add_syntax_options(parser, source.TAGS_OF_MODEL)


def run(arguments: argparse.Namespace) -> None:
    """Print the scores of an order, or of an alignment."""
    if arguments.model is None:
        options.refuse(arguments, ("src", *source.SYNTAX, "calibration"), "without --model")
    if arguments.gold is None:
        options.refuse(arguments, ("gold_first_index",), "without --gold")
        _evaluate_orders(arguments)
    else:
        options.refuse(arguments, ("unaligned", "statistic"), "with --gold")
        _evaluate_alignment(arguments)


def _evaluate_alignment(arguments: argparse.Namespace) -> None:
    from preorder.metrics.alignment import AlignmentScores, alignment_counts, alignment_scores

    paths = arguments.align, arguments.gold
    given = read_alignments(paths[0]), read_alignments(paths[1], arguments.gold_first_index or 0)
    columns = files.read_columns(*zip(paths, given, strict=True))

    def scores(read: Callable[..., tuple[Alignment, ...]]) -> AlignmentScores:
        streams = zip(paths, columns, strict=True)
        counts = files.map_parallel(lambda *both: alignment_counts(*read(*both)), paths[0], *streams)
        return alignment_scores(list(counts))

    found = scores(lambda *both: both)
    for reading, read in READINGS.items() if arguments.gold_first_index is None else ():
        try:
            other = scores(read)
        except DataError:  # this reading is impossible
            continue
        if other.aer + CLEARLY <= found.aer:
            raise DataError(
                f"the alignment error rate is {found.aer:.4f}, but {other.aer:.4f} if {reading}; "
                "--gold-first-index 0 takes the links as they are",
                files.display_name(arguments.gold),
            )
    if arguments.json:
        files.write_json(files.STANDARD, asdict(found))
        return
    numbers = map(str, (found.sentences, found.links, found.sure, found.possible))
    shares = (f"{score:.4f}" for score in (found.aer, found.precision, found.recall, found.f1))
    heads = ("sentences", "links", "sure", "possible", "alignment error rate", "precision", "recall", "F1")
    print_table(None, heads, [[*numbers, *shares]])


def _evaluate_orders(arguments: argparse.Namespace) -> None:
    from preorder.metrics.confidence import calibration
    from preorder.metrics.orders import evaluate

    def row(alignment: Alignment, permutation: Permutation, *inversions: Inversions) -> tuple:
        length = len(permutation)
        gold = gold_permutation(alignment, length, arguments.unaligned, arguments.statistic)
        return gold.positions, target_groups(alignment, length), permutation, *inversions

    alignments = (arguments.align, read_alignments(arguments.align))
    if arguments.model is None:
        paths = {name: getattr(arguments, name) for name in options.ORDER_OPTIONS}
        orders: list[tuple[str, Any]] = [options.read_order(**paths)]
    else:
        if arguments.src is None:
            raise UsageError("--model orders a source: give --src")
        given = options.taken(Source, arguments, annot=None)
        orders = _ordered(arguments.model, given, arguments.calibration)
    measured = files.map_parallel(row, arguments.align, alignments, *orders)
    columns = list(map(list, zip(*files.not_empty(arguments.align, measured), strict=True)))
    gold, groups, permutations = columns[:3]
    with errors_in(files.display_name(arguments.align)):
        aligned, everything = evaluate(groups, permutations), evaluate(gold, permutations)
    calibrated = calibration(zip(*columns[1:], strict=True)) if arguments.calibration else None
    if arguments.json:
        values = asdict(aligned) | {"all_tokens": asdict(everything)}
        values |= {} if calibrated is None else {"calibration": asdict(calibrated)}
        files.write_json(files.STANDARD, values)
        return
    rows = []
    for name, found in (("aligned tokens", aligned), ("all tokens", everything)):
        for label, scores in ((name, found), ("  unreordered", found.monotone)):
            numbers = (scores.tau, scores.tau_nakagawa, scores.frs, scores.complete_match)
            rows.append((label, *(f"{number:.4f}" for number in numbers)))
    title = f"{aligned.sentences} sentences, {aligned.skipped} more whose alignment cannot be sorted"
    print_table(title, ("", "tau", "tau_nakagawa", "frs", "complete match"), rows)
    is_aligned = [group != UNALIGNED for row in groups for group in row or ()]
    if sum(is_aligned) < SPARSE * len(is_aligned):
        share = f"{sum(is_aligned) / len(is_aligned):.0%} of the tokens are aligned"
        print(f'Only {share}: the scores of "all tokens" say little, read "aligned tokens".')
    if calibrated is not None:
        _print_calibration(calibrated)


def _ordered(directory: str, given: Source, calibrates: bool) -> list[tuple[str, list[Any]]]:
    """Return the orders that a model predicts and, to calibrate them, its inversions: named columns."""
    model = load_model(directory)
    if calibrates:
        check_able("calibration", model.preorderer.method, "has_confidences")
    given, stanza = source.for_model(given, model)

    def found(sentences: Sequence[Sentence]) -> list[tuple]:
        finds = [model.preorderer.order, *([model.preorderer.inversions] if calibrates else [])]
        return list(zip(*(find(sentences) for find in finds), strict=True))

    rows = orders(model, source.read_sentences(given), found, stanza, 1)
    return [(given.src, list(column)) for column in zip(*rows, strict=True)]


def _print_calibration(found: Calibration) -> None:
    rows = [(f"{one.marginal:.2f}", f"{one.frequency:.2f}", f"{one.pairs:,}") for one in found.bins]
    print_table("pairs of aligned tokens", ("probability of inversion", "frequency", "pairs"), rows)
    numbers = (found.expected_tau, found.tau, found.spearman, found.auc)
    row = [str(found.sentences), *("–" if one is None else f"{one:.2f}" for one in numbers)]
    columns = ("sentences", "mean E[tau]", "mean tau", "Spearman", f"AUC for tau > {RIGHT_TAU}")
    print_table("E[tau] of orders and their tau", columns, [row])
