"""``preorder analyse``: find out why translations differ."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from preorder import analysis as defaults
from preorder.cli import SUMMARIES, translations
from preorder.cli.pictures import add_pictures
from preorder.cli.print_analysis import print_breakdown, print_correlations, print_curves, print_examples
from preorder.command_line import add_verbosity, options
from preorder.command_line.paths import paths_by_name, runs_by_name
from preorder.errors import UsageError
from preorder.metrics import METRICS

if TYPE_CHECKING:
    from preorder.analysis.evaluation_data import EvaluationData

EXAMPLES = """\
  preorder analyse length --src test.en --ref test.ja --hyp base=base.ja btg=btg.ja --tokenize none \\
      --align test.align --positions btg=btg.positions --out length.svg
  preorder analyse gain --ref test.ja --hyp base=base.ja btg=btg.ja \\
      --align test.align --positions btg.positions
  preorder analyse correlation --ref test.ja --hyp base=base.ja btg=btg.ja \\
      --align test.align --positions btg=btg.positions
  preorder analyse precision --ref test.ja --hyp base=base.ja btg=btg.ja --json
  preorder analyse generation --ref test.ja --hyp base=base.ja btg=btg.ja
  preorder analyse examples --src test.en --ref test.ja --hyp base=base.ja btg=btg.ja
  preorder analyse robustness --ref test.ja --hyp base=swapped/base.{}.ja btg=swapped/btg.{}.ja

The files may be any system's, a sentence a line. Intervals hold 95 % of the bootstrap's resamples.
A name that is given several times is one system with several runs: its scores are their means.
"""
PERCENT_FIELD = "{}"
"""What stands for the percentage in the names of files."""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand, and below it one for each analysis."""
    parser = options.add_command(subparsers, "analyse", None, SUMMARIES["analyse"], EXAMPLES)
    kinds = parser.add_subparsers(metavar="KIND", required=True)
    _add_length(kinds)
    _add_gain(kinds)
    _add_correlation(kinds)
    _add_baseline(_add_kind(kinds, "precision", _precision, "precisions of 1- to 4-grams"))
    _add_baseline(
        _add_kind(kinds, "generation", _generation, "words that are missing, and words too many: TER's edits")
    )
    _add_examples(kinds)
    robustness = _add_kind(
        kinds, "robustness", _robustness, "scores of translations of a source with swapped words"
    )
    options.add_percentages(robustness)
    translations.add_metrics(robustness, defaults.CURVE_METRICS)


def _add_length(kinds: argparse._SubParsersAction) -> None:
    parser = _add_kind(kinds, "length", _length, "scores by the length of the source")
    options.add_source(parser, default=None)
    parser.add_argument(
        "--align", metavar="F", help="word alignment of source and reference, to measure orders"
    )
    _add_orders(parser)
    translations.add_metrics(parser, defaults.CURVE_METRICS)
    add_number = partial(options.add_number, parser)
    add_number("--width", options.positive, defaults.LENGTH_WIDTH, "how many lengths a group has")
    add_number("--last", options.at_least_two, defaults.LAST_LENGTH, "least length of the last group")


def _add_gain(kinds: argparse._SubParsersAction) -> None:
    parser = _add_kind(kinds, "gain", _gain, "scores by how much an order raises a sentence's tau")
    options.add_alignment(parser)
    text = options.ORDER_OPTIONS["positions"][1]
    parser.add_argument("--positions", metavar="F", required=True, help=text)
    translations.add_metrics(parser, defaults.CURVE_METRICS)
    width = defaults.GAIN_WIDTH
    options.add_number(parser, "--width", options.tau_width, width, "how wide a group is, in tau")


def _add_correlation(kinds: argparse._SubParsersAction) -> None:
    summary = "whether a system gains in the sentences whose tau its order raises"
    parser = _add_kind(kinds, "correlation", _correlation, summary)
    options.add_alignment(parser)
    text = "the order of the source that each system was told: for each token its position"
    parser.add_argument("--positions", metavar="NAME=F", nargs="+", action="extend", required=True, help=text)
    _add_baseline(parser)
    translations.add_metrics(parser, defaults.SENTENCE_METRICS)


def _add_examples(kinds: argparse._SubParsersAction) -> None:
    parser = _add_kind(kinds, "examples", _examples, "sentences that two systems translate most differently")
    options.add_source(parser, default=None)
    _add_orders(parser)
    _add_baseline(parser)
    parser.add_argument(
        "--system", metavar="NAME", help="system to compare with the baseline (default: the last of --hyp)"
    )
    parser.add_argument(
        "--metric",
        choices=METRICS,
        default=defaults.EXAMPLE_METRIC,
        help="metric that scores each sentence (default: %(default)s)",
    )
    count, text = defaults.EXAMPLE_COUNT, "how many better sentences, and how many worse"
    options.add_number(parser, "--count", options.positive, count, text)


def _add_kind(
    kinds: argparse._SubParsersAction, name: str, run: Callable[[argparse.Namespace], None], summary: str
) -> argparse.ArgumentParser:
    parser = kinds.add_parser(
        name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.", allow_abbrev=False
    )
    parser.set_defaults(run=run, parser=parser, metrics=("bleu",) if run is _precision else ())
    add_verbosity(parser)
    translations.add_translations(parser)
    translations.add_metric_options(parser)
    options.add_seed(parser)
    options.add_json(parser)
    if run not in (_examples, _correlation):
        add_pictures(parser)
    return parser


def _add_orders(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--positions",
        metavar="[NAME=]F",
        nargs="+",
        action="extend",
        default=[],
        help="orders of the source: for each token its position; without NAME called like the file",
    )


def _add_baseline(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--baseline", metavar="NAME", help="compare the others with this system (default: the first of --hyp)"
    )


def _length(arguments: argparse.Namespace) -> None:
    from preorder.analysis.curves import by_length, length_curves

    orders = paths_by_name(arguments.positions)
    if orders and arguments.align is None:
        raise UsageError("--positions are measured against --align, and none is given")
    data = _read(arguments, arguments.src, arguments.align, orders)
    groups = by_length(list(map(len, data.source)), arguments.width, arguments.last)
    print_curves(length_curves(data, arguments.metrics, groups), arguments)


def _gain(arguments: argparse.Namespace) -> None:
    from preorder.analysis.curves import gain_curves

    path = arguments.positions
    data = _read(arguments, None, arguments.align, {path: path})
    print_curves(gain_curves(data, arguments.metrics, path, arguments.width), arguments)


def _correlation(arguments: argparse.Namespace) -> None:
    from preorder.analysis.curves import gain_correlations

    orders = paths_by_name(arguments.positions)
    data = _read(arguments, None, arguments.align, orders)
    baseline = _baseline(arguments, data)
    print_correlations(gain_correlations(data, arguments.metrics, baseline), arguments)


def _precision(arguments: argparse.Namespace) -> None:
    from preorder.analysis.comparisons import precision_breakdown

    data = _read(arguments)
    print_breakdown(precision_breakdown(data, _baseline(arguments, data)), arguments)


def _generation(arguments: argparse.Namespace) -> None:
    from preorder.analysis.comparisons import generation_breakdown

    data = _read(arguments)
    print_breakdown(generation_breakdown(data, _baseline(arguments, data)), arguments)


def _examples(arguments: argparse.Namespace) -> None:
    from preorder.analysis.comparisons import system_examples

    orders = paths_by_name(arguments.positions)
    data = _read(arguments, arguments.src, None, orders)
    baseline = _baseline(arguments, data)
    system = arguments.system or list(data.systems)[-1]
    print_examples(system_examples(data, arguments.metric, baseline, system, arguments.count), arguments)


def _robustness(arguments: argparse.Namespace) -> None:
    from preorder.analysis.curves import robustness_curves

    patterns = runs_by_name(arguments.hyp)
    for pattern in (path for runs in patterns.values() for path in runs):
        if PERCENT_FIELD not in pattern:
            raise UsageError(f"{pattern}: no {PERCENT_FIELD} in it to stand for the percentage")
    paths = {
        (percent, name): [pattern.replace(PERCENT_FIELD, str(percent)) for pattern in runs]
        for percent in arguments.percent
        for name, runs in patterns.items()
    }
    references, texts = translations.read_runs(arguments.ref, paths)
    translations.warn_if_tokenised(arguments, references[0])
    by_percent = {percent: {name: texts[percent, name] for name in patterns} for percent in arguments.percent}
    metric_options = translations.metric_options(arguments)
    found = robustness_curves(references, by_percent, arguments.metrics, metric_options, arguments.seed)
    print_curves(found, arguments)


def _read(
    arguments: argparse.Namespace,
    source: str | None = None,
    alignment: str | None = None,
    orders: Mapping[str, str] | None = None,
) -> EvaluationData:
    from preorder.analysis.evaluation_data import EvaluationFiles, read_evaluation_data

    systems = runs_by_name(arguments.hyp)
    paths = EvaluationFiles(arguments.ref, systems, source, alignment, orders or {})
    data = read_evaluation_data(paths, translations.metric_options(arguments), arguments.seed)
    translations.warn_if_tokenised(arguments, data.references[0])
    return data


def _baseline(arguments: argparse.Namespace, data: EvaluationData) -> str:
    return arguments.baseline or next(iter(data.systems))
