"""``preorder score``: how good translations are."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from preorder import corpus
from preorder.cli import options
from preorder.cli.table import print_table
from preorder.errors import UsageError
from preorder.metrics.metric import METRICS, TOKENIZERS, MetricOptions

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
    parser.add_argument(
        "--ref", metavar="F", action="append", required=True, help="reference; repeat it for several"
    )
    parser.add_argument(
        "--hyp",
        metavar="[NAME=]F",
        nargs="+",
        action="extend",
        required=True,
        help="translations of a system, by default called as their file",
    )
    parser.add_argument("--baseline", metavar="NAME", help="test each other system against this one")
    parser.add_argument(
        "--metrics",
        metavar="M,…",
        type=_metrics,
        default=METRICS,
        help=f"of {', '.join(METRICS)} (default: all)",
    )
    parser.add_argument(
        "--tokenize",
        choices=TOKENIZERS,
        default=TOKENIZERS[0],
        help="tokenizer of BLEU (default: %(default)s)",
    )
    parser.add_argument(
        "--case-sensitive", action="store_true", help="TER and RIBES tell upper from lower case, too"
    )
    options.add_seed(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the subcommand."""
    from preorder.metrics.scoring import PairedTest, score_systems

    paths = _paths_by_name(arguments.hyp)
    references, texts = _read(arguments.ref, list(paths.values()))
    if arguments.tokenize != "none" and "bleu" in arguments.metrics:
        _warn_of_tokens(references[0])
    scoring = score_systems(
        references,
        dict(zip(paths, texts, strict=True)),
        arguments.metrics,
        MetricOptions(arguments.tokenize, arguments.case_sensitive),
        PairedTest(arguments.baseline, arguments.seed) if arguments.baseline is not None else None,
    )
    if arguments.json:
        corpus.write_json(corpus.STANDARD, asdict(scoring))
    else:
        _print(scoring, arguments.baseline)


def _metrics(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in METRICS:
            raise argparse.ArgumentTypeError(f"no metric {name!r}, only {', '.join(METRICS)}")
    return names


def _paths_by_name(fields: Sequence[str]) -> dict[str, str]:
    paths: dict[str, str] = {}
    for field in fields:
        name, separator, path = field.partition("=")
        path = path if separator else name
        if not name or not path:
            raise UsageError(f"not a system: {field!r}")
        if name in paths:
            raise UsageError(f"two systems are called {name!r}")
        paths[name] = path
    return paths


def _read(references: Sequence[str], hypotheses: Sequence[str]) -> tuple[list[list[str]], list[list[str]]]:
    """Return the lines of the references and of the hypotheses.

    Raises:
        UsageError: several are standard input.
        DataError: the files differ in length, are empty or not UTF-8.
    """
    paths = [*references, *hypotheses]
    if paths.count(corpus.STANDARD) > 1:
        raise UsageError("only one file can come from standard input")
    rows = corpus.not_empty(
        paths[0], corpus.in_parallel(*((path, corpus.read_lines(path)) for path in paths))
    )
    texts = list(map(list, zip(*rows, strict=True)))
    return texts[: len(references)], texts[len(references) :]


def _warn_of_tokens(reference: Sequence[str]) -> None:
    tokenised = sum(line.endswith((" .", " 。")) for line in reference)
    if 2 * tokenised > len(reference):
        print("the reference looks tokenised: --tokenize none scores it as it is", file=sys.stderr)


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
