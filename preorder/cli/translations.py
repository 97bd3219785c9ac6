"""Options that name translations, references and metrics, and the texts that they name."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TypeVar

from preorder.io import files
from preorder.metrics import DEFAULTS, METRICS, TOKENIZERS, MetricOptions
from preorder.progress import LOGGER

Name = TypeVar("Name")


def add_translations(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """Add ``--ref`` and ``--hyp``."""
    parser.add_argument(
        "--ref", metavar="F", action="append", required=required, help="reference; repeat it for several"
    )
    parser.add_argument(
        "--hyp",
        metavar="[NAME=]F",
        nargs="+",
        action="extend",
        required=required,
        help="translations of a system; without NAME it is called like the file (with = in it: ./F)",
    )


def add_metrics(parser: argparse.ArgumentParser, default: tuple[str, ...]) -> None:
    """Add ``--metrics``."""
    parser.add_argument(
        "--metrics",
        metavar="M,…",
        type=_metrics,
        default=default,
        help=f"metrics, of {', '.join(METRICS)} (default: {','.join(default)})",
    )


def _metrics(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in METRICS:
            raise argparse.ArgumentTypeError(f"no metric {name!r}, only {', '.join(METRICS)}")
    return names


def add_metric_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that :func:`metric_options` reads."""
    parser.add_argument(
        "--tokenize",
        choices=TOKENIZERS,
        default=DEFAULTS.tokenize,
        help="tokenizer of BLEU (default: %(default)s)",
    )
    parser.add_argument(
        "--words",
        metavar="TOKENIZER",
        choices=TOKENIZERS,
        default=DEFAULTS.words,
        help="tokenizer of TER and RIBES, with the same choices (default: %(default)s)",
    )
    parser.add_argument(
        "--case-sensitive", action="store_true", help="TER and RIBES distinguish upper and lower case"
    )


def metric_options(arguments: argparse.Namespace) -> MetricOptions:
    """Return the options of the metrics."""
    return MetricOptions(arguments.tokenize, arguments.case_sensitive, arguments.words)


def read_runs(
    references: Sequence[str], runs: Mapping[Name, Sequence[str]]
) -> tuple[list[list[str]], dict[Name, list[list[str]]]]:
    """Return the lines of references and of each system's runs, given their paths.

    Raises:
        DataError: the files differ in length, are empty or not UTF-8, or several are standard input.
    """
    paths = [*references, *(path for of_system in runs.values() for path in of_system)]
    texts = iter(files.read_columns(*((path, files.read_lines(path)) for path in paths)))
    first = [next(texts) for _ in references]
    return first, {name: [next(texts) for _ in of_system] for name, of_system in runs.items()}


def warn_if_tokenised(arguments: argparse.Namespace, reference: Sequence[str]) -> None:
    """Warn if BLEU's tokenizer is going to split a reference that looks tokenised already."""
    if arguments.tokenize == "none" or "bleu" not in arguments.metrics:
        return
    tokenised = sum(line.endswith((" .", " 。")) for line in reference)
    if 2 * tokenised > len(reference):
        LOGGER.warning("the reference looks tokenised: --tokenize none scores it as it is")
