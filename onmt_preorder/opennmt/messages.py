"""Errors that a user can mend, in one line.

Why: OpenNMT-py shows the traceback of every error, in its own process and in those that it starts.

Can go when its commands catch a class of errors that plug-ins can raise.
"""

from __future__ import annotations

import sys
from functools import partial
from types import TracebackType
from typing import Any

from onmt_preorder.opennmt.wrapping import adapts
from preorder.data.errors import DataError, MissingExtraError, PreorderError, UsageError

EXIT_STATUS = 2


def show_errors_in_one_line() -> None:
    """Make an uncaught :class:`PreorderError` end the process with one line and status 2."""
    if getattr(sys.excepthook, "func", None) is not _show_uncaught:
        sys.excepthook = partial(_show_uncaught, sys.excepthook)


@adapts("onmt.utils.distributed:ErrorHandler", "signal_handler")
def _signal_handler(original: Any, *args: Any) -> None:
    """Raise an error of ours again that a child process has reported as text."""
    try:
        original(*args)
    except Exception as error:
        line = _last_line(error)
        for kind in (DataError, UsageError, MissingExtraError):
            if line.startswith(_prefix(kind)):
                raise PreorderError(line.removeprefix(_prefix(kind))) from None
        raise


def _last_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[-1]


def _prefix(kind: type[BaseException]) -> str:
    return f"{kind.__module__}.{kind.__qualname__}: "


def _show_uncaught(
    previous_hook: Any, kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    if not issubclass(kind, PreorderError):
        return previous_hook(kind, error, traceback)
    # A data worker's error comes with the worker's traceback; the last line is the error itself.
    print(_last_line(error).removeprefix(_prefix(kind)), file=sys.stderr, flush=True)
    raise SystemExit(EXIT_STATUS)
