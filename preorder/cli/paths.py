"""What a command line would read and overwrite, checked before any work."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

from preorder.data import places, storage
from preorder.data.atomic import is_special
from preorder.data.errors import DataError, UsageError
from preorder.data.files import STANDARD
from preorder.data.storage import is_url


def check_paths(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Check the files that a subcommand is to read and write.

    They are the options whose ``metavar`` is ``F``, ``N|F``, ``NAME=F`` or the like; those that write are
    called ``--out`` or ``--…-out``.

    Raises:
        UsageError: an output is an input, too, or another output; two inputs are standard input.
        DataError: an output is a directory, or in none, or a URL to which nothing can be written.
    """
    given = [(action, list(_paths(getattr(arguments, action.dest, None)))) for action in _files(parser)]
    inputs = [path for action, paths in given if not is_output(action) for path in paths]
    outputs = [path for action, paths in given if is_output(action) for path in paths]
    if inputs.count(STANDARD) > 1:
        raise UsageError("only one file can come from standard input")
    for number, output in enumerate(outputs):
        _check_output(output)
        for other in (*inputs, *outputs[:number]):
            if STANDARD not in (output, other) and not is_special(output) and _is_same(output, other):
                raise UsageError(f"{output} would be overwritten while it is needed: name another output")


def input_paths(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> list[str]:
    """Return the files that a subcommand is to read."""
    reading = (action for action in _files(parser) if not is_output(action))
    return [path for action in reading for path in _paths(getattr(arguments, action.dest, None))]


def output_paths(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> list[str]:
    """Return the files that a subcommand writes."""
    writing = filter(is_output, _files(parser))
    return [path for action in writing for path in _paths(getattr(arguments, action.dest, None))]


def is_output(action: argparse.Action) -> bool:
    """Say whether an option names a file that is written."""
    return action.dest == "out" or action.dest.endswith("_out")


def _files(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        if "F" in re.findall(r"\w+", str(action.metavar)):
            yield action


def _paths(value: Any) -> Iterator[str]:
    """Yield the paths that an option was given, wherever they stand in its value."""
    if isinstance(value, str):
        name, separator, path = value.rpartition("=")
        is_whole = is_url(value) or os.path.exists(value)
        yield path if separator and name and not is_whole else value
    elif isinstance(value, dict):
        yield from _paths(tuple(value.values()))
    elif isinstance(value, Iterable):
        for part in value:
            yield from _paths(part)


def _check_output(path: str) -> None:
    if path == STANDARD:
        return
    if not path:
        raise UsageError("an output has an empty path: name a file")
    if is_url(path):
        storage.check_writable(path)
        return
    if os.path.isdir(path):
        raise DataError("is a directory", path)
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise DataError(f"cannot be written: there is no folder {folder}", path)


def _is_same(one: str, other: str) -> bool:
    return places.real(one) == places.real(other) or (
        os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)
    )
