"""Options that several subcommands share, spelled and explained once."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from preorder.alignment.gold import STATISTICS, UNALIGNED
from preorder.analysis.defaults import SWAP_PERCENTAGES
from preorder.data.files import STANDARD

ORDER_FORMATS = ("features", "positions", "order", "text")
FORMATS = (*ORDER_FORMATS, "tree")
DEFAULT_SEED = 1


def add_command(
    subparsers: argparse._SubParsersAction,
    name: str,
    run: Callable[[argparse.Namespace], None] | None,
    summary: str,
    examples: str,
) -> argparse.ArgumentParser:
    """Add a subcommand whose help ends in examples; without ``run`` it has subcommands of its own."""
    parser = subparsers.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog="examples:\n" + examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    if run is not None:
        parser.set_defaults(run=run)
    return parser


def add_source(parser: argparse.ArgumentParser, default: str | None = STANDARD) -> None:
    """Add ``--src``."""
    parser.add_argument(
        "--src",
        metavar="F",
        default=default,
        required=default is None,
        help="source text, one tokenised sentence a line" + (" (default: standard input)" if default else ""),
    )


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add ``--out``."""
    parser.add_argument("--out", metavar="F", default=STANDARD, help="output (default: standard output)")


def add_format(parser: argparse.ArgumentParser, formats: tuple[str, ...] = FORMATS) -> None:
    """Add ``--format``."""
    parser.add_argument(
        "--format",
        choices=formats,
        default="features",
        help="features: token￨position, what onmt_train reads (the default); positions: where each token "
        "goes; order: which token stands at each place; text: the reordered sentence"
        + ("; tree: brackets, [ ] straight, < > inverted" if "tree" in formats else ""),
    )


def add_unaligned(parser: argparse.ArgumentParser) -> None:
    """Add ``--unaligned`` and ``--statistic``, the two choices of the gold order."""
    parser.add_argument(
        "--unaligned",
        choices=UNALIGNED,
        default="nearest",
        help="an unaligned token moves with its nearest aligned neighbour (default), the next on its left "
        "or right, or keeps its place",
    )
    parser.add_argument(
        "--statistic",
        choices=tuple(STATISTICS),
        default="mean",
        help="what of a token's target indices it is sorted by (default: %(default)s)",
    )


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Add ``--seed``."""
    parser.add_argument(
        "--seed",
        metavar="N",
        type=natural,
        default=DEFAULT_SEED,
        help="the same seed gives the same file (default: %(default)s)",
    )


def add_percentages(parser: argparse.ArgumentParser) -> None:
    """Add ``--percent``."""
    parser.add_argument(
        "--percent",
        metavar="A:B:STEP|N,…",
        type=_percentages,
        default=SWAP_PERCENTAGES,
        help="shares of the words that are swapped, from A to B or one by one (default: 0:100:10)",
    )


def _percentages(text: str) -> tuple[int, ...]:
    first, *rest = text.split(":")
    if not rest:
        found = tuple(map(natural, text.split(",")))
    elif len(rest) == 2:
        found = tuple(range(natural(first), natural(rest[0]) + 1, positive(rest[1])))
    else:
        raise argparse.ArgumentTypeError(f"neither A:B:STEP nor N,…: {text!r}")
    if not found or max(found) > 100 or len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(f"not different shares of 0 to 100: {text!r}")
    return found


def add_threads(parser: argparse.ArgumentParser) -> None:
    """Add ``--threads``."""
    parser.add_argument(
        "--threads", metavar="N", type=positive, default=1, help="worker threads (default: %(default)s)"
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")


def _whole_number(least: int) -> Callable[[str], int]:
    """Return a parser of whole numbers that raises ``ArgumentTypeError`` for anything else or less."""

    def parse(text: str) -> int:
        if not text.isascii() or not text.isdigit() or int(text) < least:
            raise argparse.ArgumentTypeError(f"not a whole number from {least}: {text!r}")
        return int(text)

    return parse


natural, positive, at_least_two = map(_whole_number, range(3))
