"""The options of ``preorder train`` that belong to single methods."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from typing import Any, get_args

from preorder.command_line import flag
from preorder.command_line.options import parse_number
from preorder.errors import UsageError
from preorder.learning.options import MethodOption, options_of


def add_options(parser: argparse.ArgumentParser, methods: Mapping[str, type[Any]]) -> None:
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


def given_options(method: str, methods: Mapping[str, type[Any]], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a method's options that a command line gives, which must not give those of other methods."""
    for name, option in options_of(methods).items():
        if method not in option.defaults and given[name] is not None:
            raise UsageError(f"{flag(name)} is no option of --method {method}")
    values = {field.name: given[field.name] for field in fields(methods[method])}
    return {name: value for name, value in values.items() if value is not None}
