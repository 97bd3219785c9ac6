"""Options of several subcommands, and those of single methods."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from preorder.alignment.gold import STATISTICS, UNALIGNED_RULES
from preorder.analysis import PAGE, PICTURES, SWAP_PERCENTAGES
from preorder.command_line import add_verbosity, flag
from preorder.data.formats import parse_order, parse_positions
from preorder.data.permutation import Permutation
from preorder.errors import UsageError, shown
from preorder.io.files import STANDARD, read_parsed
from preorder.learning.options import (
    ABOVE_ZERO,
    MAX_CLASSES,
    MAX_N_BEST,
    MAX_SEED,
    MAX_THREADS,
    MAX_TRAINING_LENGTH,
    MethodOption,
    options_of,
    problem,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")

ORDER_FORMATS = ("features", "positions", "order", "text")
FORMATS = (*ORDER_FORMATS, "tree")
DEFAULT_SEED = 1
MOST = 10**9  # greatest number that any option takes
ORDER_OPTIONS = {
    "order": (parse_order, "for each position the index of the source token that goes there"),
    "positions": (parse_positions, "for each source token the position where it goes"),
}
"""Option of a file of orders → the parser of a line, and what a line holds."""


def add_command(
    subparsers: argparse._SubParsersAction,
    name: str,
    run: Callable[[argparse.Namespace], None] | None,
    summary: str,
    examples: str = "",
) -> argparse.ArgumentParser:
    """Add a subcommand; the summary has no capital and no full stop. ``run`` None: it has subcommands."""
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


def add_source(
    parser: argparse.ArgumentParser, default: str | None = STANDARD, nargs: str | None = None
) -> None:
    """Add ``--src``, required without a default; with ``nargs`` it is a list."""
    text = "source text, a tokenised sentence a line" + (" (default: standard input)" if default else "")
    given: Any = [default] if nargs and default else default
    parser.add_argument("--src", metavar="F", nargs=nargs, help=text, default=given, required=default is None)


def add_alignment(
    parser: argparse._ActionsContainer,
    required: bool = True,
    confidences: str = "make no difference",
    nargs: str | None = None,
) -> None:
    """Add ``--align``; its help says how the command uses confidences."""
    text = "word alignment, in Pharaoh's or lader's format; confidences of links (1-3:0.75) "
    parser.add_argument("--align", metavar="F", nargs=nargs, required=required, help=text + confidences)


def add_first_index(parser: argparse.ArgumentParser, name: str, of: str, default: int | None) -> None:
    """Add an option for the index of the first token in the links of another option."""
    text = f"index of the first token in {of} (default: 0)"
    parser.add_argument(name, type=int, choices=(0, 1), default=default, help=text)


def add_orders(parser: argparse._ActionsContainer, text: str, **settings: Any) -> None:
    """Add ``--order`` and ``--positions``; ``text`` is their help, with ``{}`` for what their lines hold."""
    for name, (_, lines) in ORDER_OPTIONS.items():
        parser.add_argument(f"--{name}", help=text.format(lines), **settings)


def read_order(**paths: str | None) -> tuple[str, Iterator[Permutation]]:
    """Return the path that ``order`` or ``positions`` gives, and the orders in the file."""
    ((name, path),) = ((name, path) for name, path in paths.items() if path is not None)
    return path, read_parsed(path, ORDER_OPTIONS[name][0])


def add_output(parser: argparse.ArgumentParser, what: str = "output") -> None:
    """Add ``--out``."""
    parser.add_argument("--out", metavar="F", default=STANDARD, help=f"{what} (default: standard output)")


def add_format(parser: argparse.ArgumentParser, formats: tuple[str, ...] = FORMATS) -> None:
    """Add ``--format``, of orders."""
    text = "features: token￨position, for onmt_train (default); positions: the position where each token "
    text += "goes; order: the index of the token at each position; text: the reordered sentence"
    text += "; tree: the source in brackets, [ ] straight, < > inverted" if "tree" in formats else ""
    parser.add_argument("--format", choices=formats, default="features", help=text)


def add_unaligned(parser: argparse.ArgumentParser) -> None:
    """Add ``--unaligned`` and ``--statistic``, which define the gold order."""
    text = "an unaligned token moves with the nearest, left or right aligned token, or keeps its position"
    add_choice(parser, "--unaligned", UNALIGNED_RULES, "nearest", text)
    text = "aligned tokens are sorted by this statistic of their target indices"
    add_choice(parser, "--statistic", STATISTICS, "mean", text)


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Add ``--seed``."""
    text = "seed of all random numbers; the same seed gives the same result"
    add_number(parser, "--seed", seed, DEFAULT_SEED, text)


def add_percentages(parser: argparse.ArgumentParser) -> None:
    """Add ``--percent``."""
    how: dict[str, Any] = {"metavar": "N,…", "type": _percentages, "default": SWAP_PERCENTAGES}
    text = "percentages of the words to swap (default: 0,10,20,…,100)"
    parser.add_argument("--percent", **how, help=text)


def _percentages(text: str) -> tuple[int, ...]:
    found = tuple(map(_percentage, text.split(",")))
    if len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(f"not different shares of 0 to 100: {text!r}")
    return found


def add_number(
    parser: argparse._ActionsContainer,
    name: str,
    parse: Callable[[str], float],
    default: float | None,
    text: str,
    metavar: str = "N",
) -> None:
    """Add an option that is a number, with its default in its help; :data:`MOST` is no limit."""
    if default is not None:
        text += f" (default: {'no limit' if default == MOST else '%(default)s'})"
    parser.add_argument(name, metavar=metavar, type=parse, default=default, help=text)


def add_choice(
    parser: argparse._ActionsContainer, name: str, choices: Iterable[str], default: str, text: str
) -> None:
    """Add an option that is a choice, with its default in its help."""
    text += " (default: %(default)s)"
    parser.add_argument(name, choices=tuple(choices), default=default, help=text)


def add_files(
    parser: argparse._ActionsContainer, metavar: str = "F", nargs: str | None = None, **texts: str
) -> None:
    """Add options whose values are files, or what the ``metavar`` says, each with its help."""
    for name, text in texts.items():
        parser.add_argument(flag(name), metavar=metavar, nargs=nargs, help=text)


def add_flags(parser: argparse._ActionsContainer, **texts: str) -> None:
    """Add options without a value, each with its help."""
    for name, text in texts.items():
        parser.add_argument(flag(name), action="store_true", help=text)


def add_method_options(parser: argparse.ArgumentParser, methods: Mapping[str, type[Any]]) -> None:
    """Add the options of all methods (name → dataclass) to a parser, each once, grouped by their methods."""
    groups: dict[tuple[str, ...], argparse._ArgumentGroup] = {}
    for name, option in options_of(methods).items():
        owners = tuple(option.defaults)
        if owners not in groups:
            groups[owners] = parser.add_argument_group(f"options of --method {', '.join(owners)}")
        choices, parse = get_args(option.kind), partial(parse_number, *option.bounds)
        how: dict[str, Any] = {"choices": choices} if choices else {"metavar": "N", "type": parse}
        groups[owners].add_argument(flag(name), help=_explained(option), **how)


def _explained(option: MethodOption) -> str:
    defaults = [*{str(default) for default in option.defaults.values()}]
    if len(defaults) > 1:
        defaults = [f"{default} for {method}" for method, default in option.defaults.items()]
    return f"{option.help} (default: {', '.join(defaults)})"


def given_method_options(
    method: str, methods: Mapping[str, type[Any]], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the options of a method that a command line gives; refuse those of other methods."""
    for name, option in options_of(methods).items():
        if method not in option.defaults and given[name] is not None:
            raise UsageError(f"{flag(name)} is no option of --method {method}")
    values = {field.name: given[field.name] for field in fields(methods[method])}
    return {name: value for name, value in values.items() if value is not None}


def add_pictures(parser: argparse.ArgumentParser, suffixes: Sequence[str] = PICTURES) -> None:
    """Add ``--out``: paths of pictures or pages with these suffixes."""

    def picture(path: str) -> str:
        if not path.endswith(tuple(suffixes)):
            raise argparse.ArgumentTypeError(f"a picture's name ends in {' or '.join(suffixes)}: {path!r}")
        return path

    what = "picture or a page" if PAGE in suffixes else "picture"
    text = f"write a {what} (pictures need matplotlib, the extra plots); repeat it for several formats"
    metavar = "|".join(f"F{suffix}" for suffix in suffixes)
    parser.add_argument("--out", metavar=metavar, type=picture, action="append", default=[], help=text)


def add_json(parser: argparse._ActionsContainer) -> None:
    """Add ``--json``."""
    add_flags(parser, json="print one JSON object instead")


def taken(kind: type[T], arguments: argparse.Namespace, **others: Any) -> T:
    """Build a dataclass from the options with the names of its fields, and from ``others``."""
    names = {field.name for field in fields(kind)} - others.keys()
    return kind(**{name: value for name, value in vars(arguments).items() if name in names}, **others)


def refuse(arguments: argparse.Namespace, names: Iterable[str], why: str) -> None:
    """Refuse options that have no effect beside others."""
    for name in names:
        if getattr(arguments, name) != arguments.parser.get_default(name):
            raise UsageError(f"{flag(name)} has no effect {why}")


def parse_number(least: float, most: float, text: str) -> Any:
    """Parse a number, a whole one if ``most`` is an int; argparse reports its errors."""
    value: Any = text
    with contextlib.suppress(ValueError):
        value = type(most)(text)
    if reason := problem(value, least, most):
        raise argparse.ArgumentTypeError(reason)
    return value


natural, positive, at_least_two = (partial(parse_number, least, MOST) for least in range(3))
seed = partial(parse_number, 0, MAX_SEED)
port = partial(parse_number, 0, 2**16 - 1)
workers = partial(parse_number, 1, MAX_THREADS)
n_best = partial(parse_number, 1, MAX_N_BEST)
beam = partial(parse_number, 1, 1000)
sentence_pairs = partial(parse_number, 1, 10_000_000)
training_length = partial(parse_number, 1, MAX_TRAINING_LENGTH)
members = partial(parse_number, 1, 100)
samplers = partial(parse_number, 1, 1000)
tau_width = partial(parse_number, 0.001, 2.0)
ratio = partial(parse_number, 0, 100.0)
word_reward = partial(parse_number, -100, 100.0)
confidence = share = partial(parse_number, ABOVE_ZERO, 1.0)
_percentage = partial(parse_number, 0, 100)


def classes(text: str) -> str:
    """Check ``--classes``, a number or the name of a file; a number is spelled in one way."""
    return str(parse_number(0, MAX_CLASSES, text)) if text.isdecimal() else text


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
