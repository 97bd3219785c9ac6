"""Check the files that a command line reads and writes, before any work."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from pathlib import Path

from preorder.analysis import PICTURES
from preorder.errors import DataError, UsageError, require
from preorder.io import storage
from preorder.io.atomic import check_writable, descriptor, is_special
from preorder.io.files import STANDARD
from preorder.io.storage import is_url


def check_paths(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Check the files that a subcommand is to read and write.

    They are values of options whose ``metavar`` has an ``F`` (``F``, ``N|F``, ``NAME=F``). Options that write
    are called ``--out`` or ``--…-out``.
    """
    inputs, outputs = (given_paths(parser, arguments, outputs) for outputs in (False, True))
    is_unread = getattr(arguments, "annot", None) is not None and arguments.src in (STANDARD, [STANDARD])
    if inputs.count(STANDARD) - is_unread > 1:
        raise UsageError("only one file can come from standard input")
    for name, path in vars(arguments).items():
        others = _listed(getattr(arguments, f"{name[:-3]}tgt", None) if name.endswith("src") else None)
        for one, other in zip(_listed(path) if others else [], others, strict=False):
            if one != STANDARD and _is_same(one, other):
                raise UsageError(f"{one}: is both the source and its translation")
    check_outputs(inputs, outputs)
    if any(path.endswith(PICTURES) for path in outputs):
        require("matplotlib", "plots")


def check_outputs(inputs: Sequence[str], outputs: Sequence[str]) -> None:
    """Check that each output can be written, and is neither an input nor another output."""
    if sum(path == STANDARD or descriptor(path) == 1 for path in outputs) > 1:
        raise UsageError("only one output can go to standard output")
    for number, output in enumerate(outputs):
        _check_output(output)
        for other in (*inputs, *outputs[:number]):
            if STANDARD not in (output, other) and not is_special(output) and _is_same(output, other):
                raise UsageError(f"{output} would be overwritten while it is needed: name another output")


def given_paths(
    parser: argparse.ArgumentParser, arguments: argparse.Namespace, outputs: bool | None = None
) -> list[str]:
    """Return the files that a subcommand reads, or with ``outputs`` those that it writes; None: all."""
    found = []
    for action in parser._actions:
        is_output = action.dest == "out" or action.dest.endswith("_out")
        if outputs in (None, is_output) and "F" in re.findall(r"\w+", str(action.metavar)):
            value = getattr(arguments, action.dest, None)
            paths = _listed(value)
            found += [split_name(path)[1] if "NAME=" in str(action.metavar) else path for path in paths]
    return found


def _listed(value: str | Sequence[str] | None) -> list[str]:
    return [value] if isinstance(value, str) else list(value or ())


def split_name(field: str) -> tuple[str, str]:
    """Return the name and the path of ``[NAME=]F``; the default name is the path.

    A name ends at the first ``=`` and has no ``/``: ``./a=b`` is a path. Bytes outside of UTF-8 are escaped.
    """
    name, separator, path = field.partition("=")
    if not separator or "/" in name:
        name = path = field
    return name.encode("utf-8", "backslashreplace").decode(), path


def runs_by_name(fields: Sequence[str]) -> dict[str, list[str]]:
    """Return the paths of each system's runs, given as ``[NAME=]F``."""
    runs: dict[str, list[str]] = {}
    for field in fields:
        name, path = split_name(field)
        if not name or not path:
            raise UsageError(f"not a system: {field!r}")
        if path in runs.setdefault(name, []):
            raise UsageError(f"system {name!r} has {path} twice")
        runs[name].append(path)
    return runs


def paths_by_name(fields: Sequence[str]) -> dict[str, str]:
    """Return the path of each system; refuse two of one name."""
    runs = runs_by_name(fields)
    for name, paths in runs.items():
        if len(paths) > 1:
            raise UsageError(f"two systems are called {name!r}")
    return {name: path for name, (path,) in runs.items()}


def _check_output(path: str) -> None:
    if path == STANDARD:
        return
    refuse_in_model(path)
    place = storage.real(path, storage.WRITTEN)
    if os.path.isdir(place) or path.endswith(os.sep):
        raise DataError("is a directory", path)
    folder = os.path.dirname(place)
    if not is_url(place) and not os.path.isdir(folder):
        raise DataError(f"cannot be written: there is no folder {folder}", path)
    if not is_special(path):
        check_writable(path)


def refuse_in_model(path: str) -> None:
    """Refuse an output without a name, and one that is a model's folder or lies in one."""
    if not path:
        raise UsageError("an output has an empty path: name a file")
    place = Path(storage.real(path, storage.WRITTEN))
    if any(os.path.exists(folder / "model.json") for folder in (place, *place.parents)):
        from preorder.methods.model_directory import is_in_model  # slow to import

        if is_in_model(place):
            raise UsageError(f"{path}: a model's folder holds nothing else: name another output")


def _is_same(one: str, other: str) -> bool:
    return storage.real(one) == storage.real(other) or (
        os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)
    )
