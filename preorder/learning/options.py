"""Options that belong to single methods, a frozen dataclass for each, and checks of values.

A field ``name: Annotated[kind, help, most, 0] = default`` becomes an option of the command line: a positive
number, at most ``most`` or else ``MOST``, or 0 where this stands at the end; with a ``Literal`` one of its
values. A field without help (``seed``, ``threads``) is one that the command line declares itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, fields
from numbers import Integral, Real
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from preorder.errors import UsageError, shown

MOST = {int: 1_000_000, float: 1e9}  # greatest values of options
ABOVE_ZERO = 5e-324  # the smallest number, least of options that may not be 0
MAX_SEED = 2**32 - 1
MAX_THREADS = 1024
MAX_CLASSES = 1_000_000
MAX_N_BEST = 10_000  # orders of a sentence; each takes some 2 µs a token
MAX_TRAINING_LENGTH = 1000  # tokens of a sentence; of n tokens, training takes 1.3 n³ bytes

IterationsOption = Annotated[
    int,
    "number of passes over the training sentences, fewer if one finds no errors; the model is the last one's",
]
MinibatchOption = Annotated[int, "number of sentences between two updates of the weights"]
DropoutOption = Annotated[float, "share of the network's units that is dropped in training", 0.99, 0]
WordDropoutOption = Annotated[
    float,
    "probability that a word is unknown to the model, drawn for each token and iteration: tags and word "
    "classes then carry more of what is learned; 1: the model reads no words",
    1.0,
    0,
]
LearningRateOption = Annotated[
    float, "greatest learning rate of Adam; the rate rises to it at first, then falls to zero"
]

Options = TypeVar("Options")


class MethodOption(NamedTuple):
    """An option of some methods."""

    kind: Any
    help: str
    bounds: tuple[float, float]  # of a number
    defaults: dict[str, Any]  # by method


def without_threads(options: Any) -> dict[str, Any]:
    """Return a method's options that its model depends on, by name: all but ``threads``."""
    return {name: value for name, value in asdict(options).items() if name != "threads"}


def checked_options(options: type[Options], given: Mapping[str, Any]) -> Options:
    """Return a method's options: those given, which are checked, else the defaults."""
    known, values = options_of({"": options}), {}
    bounds: dict[str, tuple[float, float]] = {"seed": (0, MAX_SEED), "threads": (1, MAX_THREADS)}
    bounds |= {name: option.bounds for name, option in known.items()}
    for name, value in given.items():
        choices = get_args(known[name].kind) if name in known else ()
        values[name] = (
            check_choice(name, value, choices) if choices else check_number(name, value, *bounds[name])
        )
    return options(**values)


def check_number(name: str, value: Any, least: float, most: float) -> Any:
    """Return a number that no command line has checked, as an int if ``most`` is one, else as a float."""
    if reason := problem(value, least, most):
        raise UsageError(f"{name}: {reason}")
    return int(value) if isinstance(most, int) else float(value)


def check_switch(name: str, value: Any) -> bool:
    """Return a truth value that no command line has checked."""
    if not isinstance(value, bool):
        raise UsageError(f"{name}: {shown(value)} is neither True nor False")
    return value


def check_choice(name: str, value: Any, choices: Collection[str]) -> str:
    """Return one of several strings that no command line has checked."""
    if not isinstance(value, str) or value not in choices:
        raise UsageError(f"{name}: {shown(value)} is none of {', '.join(choices)}")
    return str(value)


def problem(value: Any, least: float, most: float) -> str | None:
    """Return why a value is not a number between bounds, a whole one if ``most`` is one; or None."""
    kind, what = (Integral, "whole number") if isinstance(most, int) else (Real, "number")
    is_number = isinstance(value, kind) and not isinstance(value, bool)
    if is_number and least <= value <= most:
        return None
    bounds = f"above 0 and at most {most:g}" if least == ABOVE_ZERO else f"from {least} to {most:.12g}"
    return f"{shown(value)} is not a {what} {bounds}"


def options_of(methods: Mapping[str, type[Any]]) -> dict[str, MethodOption]:
    """Return the options of methods (name → dataclass) by their names."""
    options: dict[str, MethodOption] = {}
    for method, cls in methods.items():
        hints = get_type_hints(cls, include_extras=True)
        for field in fields(cls):
            if get_origin(hints[field.name]) is Annotated:
                kind, text, *bounds = get_args(hints[field.name])
                most, *least = bounds or [MOST.get(kind, 0)]
                least = least or [1 if kind is int else ABOVE_ZERO]
                option = MethodOption(kind, text, (*least, most), {})
                options.setdefault(field.name, option).defaults[method] = field.default
    return options
