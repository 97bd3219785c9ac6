"""Translations and references from the files that the user named, for every command that scores."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from preorder import corpus
from preorder.errors import UsageError
from preorder.metrics.metric import TOKENIZERS, MetricOptions


@dataclass(frozen=True)
class Translations:
    """Equally long texts: the references, the systems' translations by name, and other files."""

    references: list[list[str]]
    systems: dict[str, list[str]]
    others: list[list[str]]


def add_translations(parser: argparse.ArgumentParser) -> None:
    """Add ``--ref`` and ``--hyp``."""
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


def add_metric_options(parser: argparse.ArgumentParser) -> None:
    """Add what :func:`metric_options` reads."""
    parser.add_argument(
        "--tokenize",
        choices=TOKENIZERS,
        default=TOKENIZERS[0],
        help="tokenizer of BLEU (default: %(default)s)",
    )
    parser.add_argument(
        "--case-sensitive", action="store_true", help="TER and RIBES tell upper from lower case, too"
    )


def metric_options(arguments: argparse.Namespace) -> MetricOptions:
    """Return the options of the metrics."""
    return MetricOptions(arguments.tokenize, arguments.case_sensitive)


def paths_by_name(fields: Sequence[str]) -> dict[str, str]:
    """Return the path of each ``[NAME=]F``; without a name it is called as its file.

    Raises:
        UsageError: a name or a path is missing, or two have one name.
    """
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


def read_translations(arguments: argparse.Namespace, *others: str) -> Translations:
    """Read the files of ``--ref`` and ``--hyp``, and others that go with them line by line.

    Raises:
        UsageError: several are standard input, or systems are not named well.
        DataError: the files differ in length, are empty or not UTF-8.
    """
    systems = paths_by_name(arguments.hyp)
    paths = [*arguments.ref, *systems.values(), *others]
    if paths.count(corpus.STANDARD) > 1:
        raise UsageError("only one file can come from standard input")
    rows = corpus.not_empty(
        paths[0], corpus.in_parallel(*((path, corpus.read_lines(path)) for path in paths))
    )
    texts = list(map(list, zip(*rows, strict=True)))
    first, last = len(arguments.ref), len(arguments.ref) + len(systems)
    return Translations(texts[:first], dict(zip(systems, texts[first:last], strict=True)), texts[last:])


def warn_of_tokens(reference: Sequence[str]) -> None:
    """Say so where a reference that a tokenizer is meant for looks tokenised already."""
    tokenised = sum(line.endswith((" .", " 。")) for line in reference)
    if 2 * tokenised > len(reference):
        print("the reference looks tokenised: --tokenize none scores it as it is", file=sys.stderr)
