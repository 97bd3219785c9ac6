"""What a user did that cannot work, said in one line.

The command line prints these and ends with exit status 2. Anything else that is
raised is a fault of ours and shows its traceback.
"""

from __future__ import annotations

import importlib
from types import ModuleType


class PreorderError(Exception):
    """The base of every error that a user, not a programmer, has to mend."""


class DataError(PreorderError):
    """Bad input: a reason, and where known the file and its 1-based line."""

    def __init__(self, reason: str, file: str | None = None, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.file = file
        self.line = line

    def __str__(self) -> str:
        place = "".join(f"{part}:" for part in (self.file, self.line) if part is not None)
        return f"{place} {self.reason}" if place else self.reason

    def at(self, file: str | None, line: int | None) -> DataError:
        """Return this error with its place filled in where it was unknown."""
        return DataError(self.reason, self.file or file, self.line or line)


class UsageError(PreorderError):
    """Options that do not go together, or a model that cannot do what was asked."""


class MissingExtraError(PreorderError):
    """An optional dependency that the chosen job needs is not installed."""

    def __init__(self, module: str, extra: str) -> None:
        super().__init__(f"{module} is not installed; install it with: pip install 'onmt-preorder[{extra}]'")


def require(module: str, extra: str) -> ModuleType:
    """Import an optional dependency, or say which extra holds it.

    Raises:
        MissingExtraError: the module is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(module, extra) from error
