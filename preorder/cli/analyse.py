"""``preorder analyse``: why translations differ."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from preorder.analysis import defaults
from preorder.cli import options, results, translations
from preorder.data import files
from preorder.data.errors import UsageError
from preorder.metrics.metric import METRICS

if TYPE_CHECKING:
    from preorder.analysis.material import Material

EXAMPLES = """\
  preorder analyse length --src test.en --ref test.ja --hyp base=base.ja btg=btg.ja --tokenize none \\
      --align test.align --positions btg=btg.positions --out length.svg
  preorder analyse gain --ref test.ja --hyp base=base.ja btg=btg.ja \\
      --align test.align --positions btg.positions
  preorder analyse precision --ref test.ja --hyp base=base.ja btg=btg.ja --json
  preorder analyse generation --ref test.ja --hyp base=base.ja btg=btg.ja
  preorder analyse examples --src test.en --ref test.ja --hyp base=base.ja btg=btg.ja
  preorder analyse robustness --ref test.ja --hyp base=swapped/base.{}.ja btg=swapped/btg.{}.ja

The files are those of any system, a sentence a line. Intervals hold 95 % of bootstrap resamples.
A name that is given several times is one system with several runs: figures are their means.
"""
PLACE = "{}"
"""Stands for the percentage in the names of files."""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand, and below it one for each analysis."""
    parser = options.add_command(subparsers, "analyse", None, "say why translations differ", EXAMPLES)
    kinds = parser.add_subparsers(metavar="KIND", required=True)
    _add_length(kinds)
    _add_gain(kinds)
    _add_baseline(_add_kind(kinds, "precision", _precision, "precisions of 1- to 4-grams"))
    _add_baseline(_add_kind(kinds, "generation", _generation, "words missing and too many, by TER's edits"))
    _add_examples(kinds)
    robustness = _add_kind(kinds, "robustness", _robustness, "scores of translations of swapped words")
    options.add_percentages(robustness)
    translations.add_metrics(robustness, defaults.METRICS)


def _add_length(kinds: argparse._SubParsersAction) -> None:
    parser = _add_kind(kinds, "length", _length, "scores by the length of the source")
    options.add_source(parser, default=None)
    parser.add_argument("--align", metavar="F", help="word alignment, to measure orders against")
    _add_orders(parser)
    translations.add_metrics(parser, defaults.METRICS)
    _add_number(parser, "--width", options.positive, defaults.WIDTH, "lengths in a group")
    _add_number(parser, "--last", options.at_least_two, defaults.LAST, "the least length of the last group")


def _add_gain(kinds: argparse._SubParsersAction) -> None:
    parser = _add_kind(kinds, "gain", _gain, "scores by what an order gains a sentence in tau")
    parser.add_argument("--align", metavar="F", required=True, help="word alignment, Pharaoh or lader format")
    parser.add_argument("--positions", metavar="F", required=True, help="where each source token goes")
    translations.add_metrics(parser, defaults.METRICS)
    _add_number(parser, "--width", _positive_number, defaults.GAIN_WIDTH, "of tau, in a group")


def _add_examples(kinds: argparse._SubParsersAction) -> None:
    parser = _add_kind(kinds, "examples", _examples, "sentences that two systems translate most differently")
    options.add_source(parser, default=None)
    _add_orders(parser)
    _add_baseline(parser)
    parser.add_argument(
        "--system", metavar="NAME", help="which to set beside the baseline (default: the last of --hyp)"
    )
    parser.add_argument(
        "--metric",
        choices=METRICS,
        default=defaults.EXAMPLE_METRIC,
        help="what a sentence is scored by (default: %(default)s)",
    )
    _add_number(parser, "--count", options.positive, defaults.EXAMPLES, "examples of better and of worse")


def _add_kind(
    kinds: argparse._SubParsersAction, name: str, run: Callable[[argparse.Namespace], None], summary: str
) -> argparse.ArgumentParser:
    parser = kinds.add_parser(name, help=summary, description=f"{summary}.", allow_abbrev=False)
    parser.set_defaults(run=run, metrics=("bleu",) if run is _precision else ())
    translations.add_translations(parser)
    translations.add_metric_options(parser)
    options.add_seed(parser)
    options.add_json(parser)
    if run is not _examples:
        results.add_pictures(parser)
    return parser


def _add_orders(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--positions",
        metavar="[NAME=]F",
        nargs="+",
        action="extend",
        default=[],
        help="orders of the source, by default called as their file: where each token goes",
    )


def _add_baseline(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--baseline", metavar="NAME", help="compare others with this system (default: the first of --hyp)"
    )


def _add_number(
    parser: argparse.ArgumentParser, name: str, parse: Callable[[str], float], default: float, what: str
) -> None:
    parser.add_argument(name, metavar="N", type=parse, default=default, help=f"{what} (default: %(default)s)")


def _positive_number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"not a number above 0: {text!r}")
    return number


def _length(arguments: argparse.Namespace) -> None:
    from preorder.analysis.analyses import length_curves
    from preorder.analysis.groups import by_length

    orders = translations.paths_by_name(arguments.positions)
    if orders and arguments.align is None:
        raise UsageError("--positions are measured against --align, and none is given")
    material = _material(arguments, arguments.src, arguments.align, orders)
    grouping = by_length(list(map(len, material.source)), arguments.width, arguments.last)
    results.show_curves(length_curves(material, arguments.metrics, grouping), arguments)


def _gain(arguments: argparse.Namespace) -> None:
    from preorder.analysis.analyses import gain_curves

    path = arguments.positions
    material = _material(arguments, None, arguments.align, {path: path})
    results.show_curves(gain_curves(material, arguments.metrics, path, arguments.width), arguments)


def _precision(arguments: argparse.Namespace) -> None:
    from preorder.analysis.figures import precision_figures

    material = _material(arguments)
    results.show_figures(precision_figures(material, _baseline(arguments, material)), arguments)


def _generation(arguments: argparse.Namespace) -> None:
    from preorder.analysis.figures import generation_figures

    material = _material(arguments)
    results.show_figures(generation_figures(material, _baseline(arguments, material)), arguments)


def _examples(arguments: argparse.Namespace) -> None:
    from preorder.analysis.analyses import system_examples

    orders = translations.paths_by_name(arguments.positions)
    material = _material(arguments, arguments.src, None, orders)
    baseline = _baseline(arguments, material)
    system = arguments.system or list(material.systems)[-1]
    found = system_examples(material, arguments.metric, baseline, system, arguments.count)
    results.show_examples(found, arguments)


def _robustness(arguments: argparse.Namespace) -> None:
    from preorder.analysis.analyses import robustness_curves

    patterns = translations.runs_by_name(arguments.hyp)
    for pattern in (path for runs in patterns.values() for path in runs):
        if PLACE not in pattern:
            raise UsageError(f"{pattern}: no {PLACE} in it to stand for the percentage")
    given = {
        percent: {name: [_at(path, percent) for path in runs] for name, runs in patterns.items()}
        for percent in arguments.percent
    }
    paths = [path for systems in given.values() for runs in systems.values() for path in runs]
    texts = iter(files.read_columns(*((path, files.read_lines(path)) for path in (*arguments.ref, *paths))))
    references = [next(texts) for _ in arguments.ref]
    translations.warn_of_tokens(arguments, references[0])
    by_percent = {
        percent: {name: [next(texts) for _ in runs] for name, runs in systems.items()}
        for percent, systems in given.items()
    }
    options = translations.metric_options(arguments)
    found = robustness_curves(references, by_percent, arguments.metrics, options, arguments.seed)
    results.show_curves(found, arguments)


def _at(pattern: str, percent: int) -> str:
    return pattern.replace(PLACE, str(percent))


def _material(
    arguments: argparse.Namespace,
    source: str | None = None,
    alignment: str | None = None,
    orders: Mapping[str, str] | None = None,
) -> Material:
    from preorder.analysis.material import Files, read_material

    systems = translations.runs_by_name(arguments.hyp)
    named = Files(arguments.ref, systems, source, alignment, orders or {})
    material = read_material(named, translations.metric_options(arguments), arguments.seed)
    translations.warn_of_tokens(arguments, material.references[0])
    return material


def _baseline(arguments: argparse.Namespace, material: Material) -> str:
    return arguments.baseline or next(iter(material.systems))
