"""``preorder analyse``: find out why translations differ."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from preorder import analysis as defaults
from preorder.command_line import options, print_tables, translations, visible
from preorder.command_line.paths import check_outputs, paths_by_name, runs_by_name
from preorder.command_line.translations import Translations
from preorder.errors import UsageError
from preorder.io import files
from preorder.metrics import METRICS

if TYPE_CHECKING:
    from preorder.analysis.analyses import Examples
    from preorder.analysis.results import Breakdown, Curves

EXAMPLES = """\
  preorder analyse length --src test.en --ref test.ja --hyp base=base.ja btg=btg.ja --tokenize none \\
      --align test.align --positions btg=btg.positions --out length.svg
  preorder analyse gain --ref test.ja --hyp base=base.ja btg=btg.ja \\
      --align test.align --positions btg.positions
  preorder analyse precision --ref test.ja --hyp base=base.ja btg=btg.ja --json
  preorder analyse generation --ref test.ja --hyp base=base.ja btg=btg.ja
  preorder analyse examples --src test.en --ref test.ja --hyp base=base.ja btg=btg.ja
  preorder analyse robustness --ref test.ja --hyp base=swapped/base.{}.ja btg=swapped/btg.{}.ja

The files may be any system's, a sentence a line. Intervals hold 95% of the bootstrap's resamples.
A name that is given several times is one system with several runs: its scores are their means.
"""
PERCENT_FIELD = "{}"  # what stands for the percentage in the names of files
BREAKDOWNS = {
    "precision": "precisions of 1- to 4-grams",
    "generation": "words that are missing, and words too many: TER's edits",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add a subcommand for each kind of analysis."""
    kinds = parser.add_subparsers(metavar="KIND", required=True)
    kind = _add_kind(kinds, "length", _length, "scores by the length of the source")
    options.add_source(kind, default=None)
    options.add_files(kind, align="word alignment of source and reference, to measure orders")
    _add_orders(kind)
    translations.add_metrics(kind, defaults.CURVE_METRICS)
    add_number = partial(options.add_number, kind)
    add_number("--width", options.positive, defaults.LENGTH_WIDTH, "how many lengths a group has")
    add_number("--last", options.at_least_two, defaults.LAST_LENGTH, "least length of the last group")
    kind = _add_kind(kinds, "gain", _gain, "scores by how much an order raises a sentence's tau")
    options.add_alignment(kind)
    kind.add_argument("--positions", metavar="F", required=True, help=options.ORDER_OPTIONS["positions"][1])
    translations.add_metrics(kind, defaults.CURVE_METRICS)
    options.add_number(kind, "--width", options.tau_width, defaults.GAIN_WIDTH, "how wide a group is, in tau")
    for name, summary in BREAKDOWNS.items():
        _add_baseline(_add_kind(kinds, name, partial(_break_down, name), summary))
    kind = _add_kind(kinds, "examples", _examples, "sentences that two systems translate most differently")
    options.add_source(kind, default=None)
    _add_orders(kind)
    _add_baseline(kind)
    text = "system to compare with the baseline (default: the last of --hyp)"
    options.add_files(kind, "NAME", system=text)
    text = "metric that scores each sentence; not BLEU, which is 0 below four words"
    options.add_choice(kind, "--metric", (m for m in METRICS if m != "bleu"), defaults.EXAMPLE_METRIC, text)
    count, text = defaults.EXAMPLE_COUNT, "how many better sentences, and how many worse"
    options.add_number(kind, "--count", options.positive, count, text)
    summary = "scores of translations of a source with swapped words; {} in --hyp stands for the percentage"
    kind = _add_kind(kinds, "robustness", _robustness, summary)
    options.add_percentages(kind)
    translations.add_metrics(kind, defaults.CURVE_METRICS)


def _add_kind(
    kinds: argparse._SubParsersAction, name: str, run: Callable[[argparse.Namespace], None], summary: str
) -> argparse.ArgumentParser:
    parser = options.add_command(kinds, name, run, summary)
    parser.set_defaults(metrics={"precision": ("bleu",), "generation": ("ter",)}.get(name, ()))
    translations.add_options(parser)
    translations.add_metric_options(parser)
    options.add_seed(parser)
    options.add_json(parser)
    if run is not _examples:
        options.add_pictures(parser)
    return parser


def _add_orders(parser: argparse.ArgumentParser) -> None:
    text = "orders of the source: for each token its position; without NAME called like the file"
    how: dict[str, Any] = {"metavar": "[NAME=]F", "nargs": "+", "action": "extend", "default": []}
    parser.add_argument("--positions", **how, help=text)


def _add_baseline(parser: argparse.ArgumentParser) -> None:
    text = "compare the others with this system (default: the first of --hyp)"
    options.add_files(parser, "NAME", baseline=text)


def _length(arguments: argparse.Namespace) -> None:
    from preorder.analysis.analyses import by_length, length_curves

    orders = paths_by_name(arguments.positions)
    if orders and arguments.align is None:
        raise UsageError("--positions are measured against --align, and none is given")
    given = options.taken(Translations, arguments)
    data = given.read(source=arguments.src, alignment=arguments.align, positions=orders)
    groups = by_length(list(map(len, data.source)), arguments.width, arguments.last)
    _show(length_curves(data, arguments.metrics, groups), arguments)


def _gain(arguments: argparse.Namespace) -> None:
    from preorder.analysis.analyses import gain_curves

    path = arguments.positions
    data = options.taken(Translations, arguments).read(alignment=arguments.align, positions={path: path})
    _show(gain_curves(data, arguments.metrics, path, arguments.width), arguments)


def _examples(arguments: argparse.Namespace) -> None:
    from preorder.analysis.analyses import system_examples

    given = options.taken(Translations, arguments)
    data = given.read(source=arguments.src, positions=paths_by_name(arguments.positions))
    baseline = arguments.baseline or next(iter(data.systems))
    system = arguments.system or list(data.systems)[-1]
    found = system_examples(data, arguments.metric, baseline, system, arguments.count)
    if arguments.json:
        files.write_json(files.STANDARD, asdict(found))
    else:
        print("\n".join(map(visible, _example_lines(found))))


def _robustness(arguments: argparse.Namespace) -> None:
    from preorder.analysis.analyses import robustness_curves

    patterns = runs_by_name(arguments.hyp)
    for pattern in (path for runs in patterns.values() for path in runs):
        if PERCENT_FIELD not in pattern:
            raise UsageError(f"{pattern}: no {PERCENT_FIELD} in it to stand for the percentage")
    systems = {
        f"{name}, {percent}%": [pattern.replace(PERCENT_FIELD, str(percent)) for pattern in runs]
        for percent in arguments.percent
        for name, runs in patterns.items()
    }
    check_outputs([path for runs in systems.values() for path in runs], arguments.out)
    data = options.taken(Translations, arguments).read(systems=systems)
    texts = {n: {name: data.systems[f"{name}, {n}%"] for name in patterns} for n in arguments.percent}
    found = robustness_curves(data.references, texts, arguments.metrics, data.options, arguments.seed)
    _show(found, arguments)


def _break_down(kind: str, arguments: argparse.Namespace) -> None:
    from preorder.analysis.analyses import break_down

    _show(break_down(kind, options.taken(Translations, arguments).read(), arguments.baseline), arguments)


def _show(found: Curves | Breakdown, arguments: argparse.Namespace) -> None:
    """Draw a result, and print it."""
    from preorder.analysis.plots import DRAWINGS, write_picture
    from preorder.analysis.results import tables_of

    draw, title = DRAWINGS[type(found)]
    for path in arguments.out:
        write_picture(partial(draw, found), title(found), path)
    if arguments.json:
        files.write_json(files.STANDARD, asdict(found))
    else:
        print_tables(tables_of(found))


def _example_lines(examples: Examples) -> Iterator[str]:
    from preorder.analysis.results import SCORE_FORMATS

    metric = SCORE_FORMATS[examples.measure]
    for title, chosen in (("better", examples.better), ("worse", examples.worse)):
        yield f"{examples.system} {title} than {examples.baseline}, by {metric.title}\n"
        for example in chosen:
            rows = example.rows(metric.format)
            width = max(len(title) for title, _ in rows)
            yield f"line {example.line}"
            yield from (f"  {title:<{width}}  {text}" for title, text in rows)
            yield ""
