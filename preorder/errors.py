"""Errors that the user can mend, of one line each.

Bad input or output raises a DataError with the file and the line; wrong options raise a UsageError. The
command line prints them and ends with status 2. Any other exception is a fault of the program and keeps its
traceback. A message names an argument in backquotes, `` `held_out` ``; the command line shows its option.
"""

from __future__ import annotations

import contextlib
import copyreg
import importlib
import shlex
from collections.abc import Iterator
from importlib import metadata
from types import ModuleType
from typing import Any

MAX_MESSAGE = 120  # characters of another library's message
MAX_SHOWN = 60  # characters of what is wrong that a message shows
NO_MEMORY = "not enough memory: ask for smaller sizes, fewer or shorter lines, or fewer threads"
MAX_REASON = 300  # characters of the whole reason, which may contain names that the user gave


class PreorderError(Exception):
    """The base of all errors that the user can mend; ``status`` is the exit status of the command."""

    status = 2

    def __reduce__(self) -> tuple[Any, ...]:  # between processes: some take other arguments than their base
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


class DataError(PreorderError):
    """Bad input: the reason and, where known, the file and the line number, from 1."""

    def __init__(self, reason: str, file: str | None = None, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.file = file
        self.line = line

    def __str__(self) -> str:
        file = self.file and one_line(str(self.file))
        where = "".join(f"{part}:" for part in (file, self.line) if part is not None)
        reason = self.reason
        if len(reason) > MAX_REASON and "\n" not in reason:  # a data worker's traceback ends with it
            reason = reason[:MAX_REASON] + " …"
        return f"{where} {reason}" if where else reason

    def at(self, file: str | None, line: int | None) -> DataError:
        """Return this error with the file and the line number, unless it has its own."""
        return DataError(self.reason, self.file or file, self.line or line)


@contextlib.contextmanager
def errors_in(file: str | None, line: int | None = None) -> Iterator[None]:
    """Add the file and the line number to data errors of this block that have none."""
    try:
        yield
    except DataError as error:
        raise error.at(file, line) from None


class UsageError(PreorderError):
    """Options that exclude each other, or work that this machine or this model cannot do."""


class NotFiniteError(PreorderError):
    """Weights or scores are infinite or NaN."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} are not finite: the training has diverged, or the model is damaged; try smaller steps "
            "(`learning_rate`, `aggressiveness`), or another `seed`"
        )


class MissingExtraError(PreorderError):
    """A package of an extra is needed and not installed."""

    def __init__(self, module: str, extra: str) -> None:
        found = next(iter(metadata.distributions(name="onmt-preorder")), None)  # none: run from a checkout
        wanted = (found and found.requires) or []
        packages = [each.partition(";")[0] for each in wanted if each.endswith(f"extra == '{extra}'")]
        command = shlex.join(["pip", "install", *(packages or [f"onmt-preorder[{extra}]"])])
        super().__init__(f"{module} is not installed: {command}")


def one_line(name: str) -> str:
    """Return a file name with line breaks escaped as in a Python string."""
    return "".join(repr(part)[1:-1] if part.splitlines() != [part] else part for part in name)


def shown(text: object) -> str:
    """Return the ``repr`` of a wrong value, cut if it is long."""
    return cut(repr(text).replace("\n", " "))  # a table's repr has lines


def cut(text: str, length: int = MAX_SHOWN) -> str:
    """Return a text, cut to ``length`` characters and an ellipsis if it is longer."""
    return text if len(text) <= length else text[:length] + " …"


def message_of(error: Exception, length: int = MAX_MESSAGE) -> str:
    """Return the message of another library's error in one line, cut, or else the name of the error."""
    return cut(" ".join(str(error).split()) or type(error).__name__, length)


def require(module: str, extra: str) -> ModuleType:
    """Import a package that the ``extra`` installs."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(module, extra) from error
