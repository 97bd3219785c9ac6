"""Options that several subcommands share."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from typing import Any, TypeVar

from preorder.alignment.gold import STATISTICS, UNALIGNED_RULES
from preorder.analysis import SWAP_PERCENTAGES
from preorder.command_line import add_verbosity
from preorder.data.formats import parse_order, parse_positions
from preorder.data.permutation import Permutation
from preorder.errors import UsageError, shown
from preorder.io.files import STANDARD, read_parsed
from preorder.learning.options import MAX_CLASSES, MAX_N_BEST, MAX_SEED, MAX_THREADS, MAX_TRAINING_LENGTH

T = TypeVar("T")

ORDER_FORMATS = ("features", "positions", "order", "text")
FORMATS = (*ORDER_FORMATS, "tree")
DEFAULT_SEED = 1
MOST = 10**9
"""Greatest number that any option takes."""
ORDER_OPTIONS = {
    "order": (parse_order, "for each position the index of the source token that goes there"),
    "positions": (parse_positions, "for each source token the position where it goes"),
}
"""Options that name a file of orders → how to parse a line of it, and what it holds."""


def add_command(
    subparsers: argparse._SubParsersAction,
    name: str,
    run: Callable[[argparse.Namespace], None] | None,
    summary: str,
    examples: str = "",
) -> argparse.ArgumentParser:
    """Add a subcommand; its summary has no capital and no full stop. ``run`` is None: it has subcommands."""
    parser = subparsers.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=examples and "examples:\n" + examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if run is not None:
        parser.set_defaults(run=run, parser=parser)
        add_verbosity(parser)
    return parser


def add_source(parser: argparse.ArgumentParser, default: str | None = STANDARD) -> None:
    parser.add_argument(
        "--src",
        metavar="F",
        default=default,
        required=default is None,
        help="source text, a tokenised sentence a line" + (" (default: standard input)" if default else ""),
    )


def add_lowercase(parser: argparse.ArgumentParser) -> None:
    text = "the preorderer reads the source in lower case; the output keeps its spelling"
    parser.add_argument("--lowercase", action="store_true", help=text)


def add_alignment(
    parser: argparse._ActionsContainer, required: bool = True, confidences: str = "make no difference"
) -> None:
    parser.add_argument(
        "--align",
        metavar="F",
        required=required,
        help=f"word alignment, in Pharaoh's or lader's format; confidences of links (1-3:0.75) {confidences}",
    )


def add_first_index(parser: argparse.ArgumentParser, name: str, of: str, default: int | None) -> None:
    """Add an option that says from where the indices of another option's links count."""
    text = f"index of the first token in {of} (default: 0)"
    parser.add_argument(name, type=int, choices=(0, 1), default=default, help=text)


def add_orders(parser: argparse._ActionsContainer, text: str, **settings: Any) -> None:
    """Add ``--order`` and ``--positions``; ``text`` is their help, with ``{}`` for what their lines hold."""
    for name, (_, lines) in ORDER_OPTIONS.items():
        parser.add_argument(f"--{name}", help=text.format(lines), **settings)


def read_order(order: str | None, positions: str | None) -> tuple[str, Iterator[Permutation]]:
    """Return the path that ``--order`` or else ``--positions`` names, and the orders in it."""
    name, path = ("order", order) if positions is None else ("positions", positions)
    return path, read_parsed(path, ORDER_OPTIONS[name][0])


def add_output(parser: argparse.ArgumentParser, what: str = "output") -> None:
    parser.add_argument("--out", metavar="F", default=STANDARD, help=f"{what} (default: standard output)")


def add_format(parser: argparse.ArgumentParser, formats: tuple[str, ...] = FORMATS) -> None:
    parser.add_argument(
        "--format",
        choices=formats,
        default="features",
        help="features: token￨position, for onmt_train (default); positions: the position where each token "
        "goes; order: the index of the token at each position; text: the reordered sentence"
        + ("; tree: the source in brackets, [ ] straight, < > inverted" if "tree" in formats else ""),
    )


def add_unaligned(parser: argparse.ArgumentParser) -> None:
    """Add ``--unaligned`` and ``--statistic``, which define the gold order."""
    text = (
        "an unaligned token moves with the nearest aligned token, with the next on its left or right, or "
        "keeps its original position"
    )
    add_choice(parser, "--unaligned", UNALIGNED_RULES, "nearest", text)
    text = "aligned tokens are sorted by this statistic of their target indices"
    add_choice(parser, "--statistic", STATISTICS, "mean", text)


def add_seed(parser: argparse.ArgumentParser) -> None:
    text = "seed of all random numbers; the same seed gives the same result"
    add_number(parser, "--seed", seed, DEFAULT_SEED, text)


def add_percentages(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--percent",
        metavar="A:B:STEP|N,…",
        type=_percentages,
        default=SWAP_PERCENTAGES,
        help="percentages of the words to swap: from A to B in steps, or a list (default: 0:100:10)",
    )


def _percentages(text: str) -> tuple[int, ...]:
    first, *rest = text.split(":")
    if not rest:
        found = tuple(map(_percentage, text.split(",")))
    elif len(rest) == 2:
        found = tuple(range(_percentage(first), _percentage(rest[0]) + 1, positive(rest[1])))
    else:
        raise argparse.ArgumentTypeError(f"neither A:B:STEP nor N,…: {text!r}")
    if not found or len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(f"not different shares of 0 to 100: {text!r}")
    return found


def add_threads(parser: argparse.ArgumentParser) -> None:
    add_number(parser, "--threads", workers, 1, "number of threads")


def add_number(
    parser: argparse._ActionsContainer,
    name: str,
    parse: Callable[[str], float],
    default: float | None,
    text: str,
    metavar: str = "N",
) -> None:
    """Add an option that is a number, with its default, if any, in its help; :data:`MOST` is no limit."""
    if default is not None:
        text += f" (default: {'no limit' if default == MOST else '%(default)s'})"
    parser.add_argument(name, metavar=metavar, type=parse, default=default, help=text)


def add_choice(
    parser: argparse._ActionsContainer, name: str, choices: Iterable[str], default: str, text: str
) -> None:
    """Add an option that is a choice, with its default in its help."""
    text += " (default: %(default)s)"
    parser.add_argument(name, choices=tuple(choices), default=default, help=text)


def add_files(parser: argparse._ActionsContainer, **texts: str) -> None:
    """Add options that name files, each with its help."""
    for name, text in texts.items():
        parser.add_argument(f"--{name.replace('_', '-')}", metavar="F", help=text)


def taken(kind: type[T], arguments: argparse.Namespace, **others: Any) -> T:
    """Return a dataclass whose fields are options of the same names, or ``others``."""
    names = {field.name for field in fields(kind)} - others.keys()
    return kind(**{name: getattr(arguments, name) for name in names}, **others)


def refuse(arguments: argparse.Namespace, names: Iterable[str], why: str) -> None:
    """Refuse options that were given although something else makes them useless."""
    for name in names:
        if getattr(arguments, name) != arguments.parser.get_default(name):
            raise UsageError(f"--{name.replace('_', '-')} has no effect {why}")


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")


def _whole_number(least: int, most: int = MOST) -> Callable[[str], int]:
    """Return a function that parses a whole number in bounds; argparse reports its errors."""

    def parse(text: str) -> int:
        digits = text.lstrip("0") or "0"
        is_long = len(digits) > len(str(most))  # which Python may not convert
        if not text.isascii() or not text.isdigit() or (not is_long and int(digits) < least):
            raise argparse.ArgumentTypeError(f"not a whole number from {least}: {shown(text)}")
        if is_long or int(digits) > most:
            raise argparse.ArgumentTypeError(f"more than {most}: {shown(text)}")
        return int(digits)

    return parse


natural, positive, at_least_two = map(_whole_number, range(3))
seed = _whole_number(0, MAX_SEED)
workers = _whole_number(1, MAX_THREADS)
n_best = _whole_number(1, MAX_N_BEST)
beam = _whole_number(1, 1000)
sentence_pairs = _whole_number(1, 10_000_000)
class_count = _whole_number(1, MAX_CLASSES)
training_length = _whole_number(1, MAX_TRAINING_LENGTH)
members = _whole_number(1, 100)
samplers = _whole_number(1, 1000)
_percentage = _whole_number(0, 100)


def line_numbers(text: str) -> tuple[range, ...]:
    """Parse line numbers and ranges, both ends included: ``3,8,10-14``; argparse reports its errors."""
    found = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        begin = positive(first)
        end = positive(last) if dash else begin
        if end < begin:
            raise argparse.ArgumentTypeError(f"ends before it begins: {shown(part)}")
        found.append(range(begin, end + 1))
    return tuple(found)


def _number(fits: Callable[[float], bool], complaint: str) -> Callable[[str], float]:
    """Return a function that parses a number that fits; argparse reports its errors."""

    def parse(text: str) -> float:
        with contextlib.suppress(ValueError):
            if fits(float(text)):
                return float(text)
        raise argparse.ArgumentTypeError(f"{complaint}: {shown(text)}")

    return parse


tau_width = _number(lambda number: 0.001 <= number <= 2, "not a number from 0.001 to 2")
ratio = _number(lambda number: 0 <= number <= 100, "not a number from 0 to 100")
word_reward = _number(lambda number: -100 <= number <= 100, "not a number from -100 to 100")
confidence = _number(lambda number: 0 < number <= 1, "not above 0 and at most 1")
share = confidence  # of a whole
