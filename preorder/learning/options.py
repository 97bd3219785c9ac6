"""Options of ``preorder train`` that belong to single methods: a frozen dataclass for each method.

A field ``name: Annotated[kind, help] = default`` becomes an option of the command line: with the kind int
or float it takes a positive number, with a ``Literal`` one of its values. Two methods may have an option
of the same name with different defaults. A field without help (``seed``, ``threads``) is an option of
every method that the command line declares itself.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from preorder.data.errors import UsageError

IterationsOption = Annotated[int, "maximum number of passes over the training sentences"]
PatienceOption = Annotated[
    int, "stop when this many iterations in a row have not raised tau on the held-out lines"
]
MinibatchOption = Annotated[int, "number of sentences between two updates of the weights"]
DropoutOption = Annotated[float, "share of the network's units that is dropped in training"]
LearningRateOption = Annotated[
    float, "greatest learning rate of Adam; the rate rises to it at first, then falls to zero"
]

Options = TypeVar("Options")


@dataclass(frozen=True)
class _Option:
    kind: Any
    help: str
    defaults: dict[str, Any]  # by method

    @property
    def explained(self) -> str:
        defaults = {str(default) for default in self.defaults.values()}
        if len(defaults) > 1:
            defaults = [f"{default} for {method}" for method, default in self.defaults.items()]
        return f"{self.help} (default: {', '.join(defaults)})"

    @property
    def values(self) -> dict[str, Any]:
        """How argparse reads it."""
        choices = get_args(self.kind)
        return {"choices": choices} if choices else {"metavar": "N", "type": _positive(self.kind)}


def without_threads(options: Any) -> dict[str, Any]:
    """Return a method's options that its model depends on, by name: all but ``threads``."""
    return {name: value for name, value in asdict(options).items() if name != "threads"}


def add_options(parser: argparse.ArgumentParser, methods: Mapping[str, type[Any]]) -> None:
    """Add the options of all methods (name → dataclass) to a parser, each once, grouped by their methods."""
    groups: dict[tuple[str, ...], argparse._ArgumentGroup] = {}
    for name, option in _all(methods).items():
        owners = tuple(option.defaults)
        if owners not in groups:
            groups[owners] = parser.add_argument_group(f"options of --method {', '.join(owners)}")
        groups[owners].add_argument(_flag(name), help=option.explained, **option.values)


def options_of(method: str, methods: Mapping[str, type[Options]], arguments: argparse.Namespace) -> Options:
    """Return a method's options: from the command line, or else their defaults.

    Raises:
        UsageError: an option of another method is given.
    """
    for name, option in _all(methods).items():
        if method not in option.defaults and getattr(arguments, name) is not None:
            raise UsageError(f"{_flag(name)} is no option of --method {method}")
    values = {field.name: getattr(arguments, field.name) for field in fields(methods[method])}
    return methods[method](**{name: value for name, value in values.items() if value is not None})


def _all(methods: Mapping[str, type[Any]]) -> dict[str, _Option]:
    options: dict[str, _Option] = {}
    for method, cls in methods.items():
        hints = get_type_hints(cls, include_extras=True)
        for field in fields(cls):
            if get_origin(hints[field.name]) is Annotated:
                kind, text = get_args(hints[field.name])
                options.setdefault(field.name, _Option(kind, text, {})).defaults[method] = field.default
    return options


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _positive(kind: type) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = 0
        if not 0 < value < float("inf"):
            name = "number" if kind is float else "whole number"
            raise argparse.ArgumentTypeError(f"not a positive {name}: {text!r}")
        return value

    return parse
