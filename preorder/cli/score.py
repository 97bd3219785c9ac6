"""``preorder score``: how good translations are."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from preorder import corpus
from preorder.cli import options, translations
from preorder.cli.table import print_table
from preorder.metrics.metric import METRICS

if TYPE_CHECKING:
    from preorder.metrics.scoring import Scoring

DIGITS = {"ribes": 4}  # after the point; the others, 0 to 100, have two
TITLES = {"bleu": "BLEU", "chrf": "chrF", "ter": "TER ↓", "ribes": "RIBES"}

EXAMPLES = """\
  preorder score --ref test.ja --hyp base=base.ja ours=ours.ja --baseline base --tokenize none
  preorder score --ref test.ja.1 --ref test.ja.2 --hyp ours.ja --metrics bleu,ribes --json

BLEU, chrF and TER are 0 to 100 (less is better for TER), RIBES is 0 to 1. Every metric has
the defaults of its reference tool. For BLEU that is the tokenizer 13a, meant for plain
text: score text that is tokenised already with --tokenize none. TER and RIBES always take
the tokens that stand between spaces, and take upper for lower case.
"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = options.add_command(subparsers, "score", run, "score translations against references", EXAMPLES)
    translations.add_translations(parser)
    parser.add_argument("--baseline", metavar="NAME", help="test each other system against this one")
    translations.add_metrics(parser, METRICS)
    translations.add_metric_options(parser)
    options.add_seed(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the subcommand."""
    from preorder.metrics.scoring import PairedTest, score_systems

    references, systems = translations.read_translations(arguments)
    if arguments.tokenize != "none" and "bleu" in arguments.metrics:
        translations.warn_of_tokens(references[0])
    scoring = score_systems(
        references,
        systems,
        arguments.metrics,
        translations.metric_options(arguments),
        PairedTest(arguments.baseline, arguments.seed) if arguments.baseline is not None else None,
    )
    if arguments.json:
        corpus.write_json(corpus.STANDARD, asdict(scoring))
    else:
        _print(scoring, arguments.baseline)


def _print(scoring: Scoring, baseline: str | None) -> None:
    names = list(scoring.signature)
    columns = ["system", *(TITLES[name] for name in names)]
    rows = [[system, *(_cell(scoring, system, name) for name in names)] for system in scoring.systems]
    if "bleu" in names:
        columns.append("1- to 4-gram precisions")
        for row, figures in zip(rows, scoring.systems.values(), strict=True):
            row.append(" ".join(f"{precision:.1f}" for precision in figures["bleu_precisions"]))
    title = None if baseline is None else f"in brackets p, paired bootstrap against {baseline}"
    print_table(title, columns, rows)
    for name in names:
        print(f"{TITLES[name].split()[0]}  {scoring.signature[name]}")


def _cell(scoring: Scoring, system: str, name: str) -> str:
    score = f"{scoring.systems[system][name]:.{DIGITS.get(name, 2)}f}"
    compared = scoring.significance.get(system)
    return score if compared is None else f"{score} ({compared[name].p_value:.3f})"
