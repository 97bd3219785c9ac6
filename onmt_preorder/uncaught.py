"""Uncaught errors of a host's commands, in one line."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from traceback import walk_tb
from types import FrameType, TracebackType
from typing import Any

from preorder.command_line import visible
from preorder.errors import PreorderError
from preorder.processes import INTERRUPTED

EXIT_STATUS = 2
OURS = re.compile(r"^preorder\.errors\.\w+: ")
"""Begins the last line of another process's traceback, if the error is ours."""

Explain = Callable[[BaseException, Sequence[FrameType]], str | None]


def show_errors_in_one_line(explain: Explain = lambda *_: None) -> None:
    """Make uncaught errors end the process with one line and status 2, Ctrl-C with 130.

    Those that are a :class:`PreorderError`, and those for which ``explain`` has a line.
    """
    if getattr(sys.excepthook, "func", None) is not _show:
        sys.excepthook = partial(_show, sys.excepthook, explain)


def last_line(error: BaseException) -> str:
    """Return the last line of an error's text or, where it has none, its name."""
    return str(error).strip().rpartition("\n")[2] or type(error).__name__


def _show(
    previous_hook: Any,
    explain: Explain,
    kind: type[BaseException],
    error: BaseException,
    traceback: TracebackType | None,
) -> None:
    # A data worker's error comes with the worker's traceback, and is a RuntimeError where torch cannot
    # make it anew; the last line is the error itself.
    last = last_line(error)
    line: str | None
    if issubclass(kind, PreorderError) or OURS.match(last):
        line = OURS.sub("", last)
    else:
        line = explain(error, [frame for frame, _ in walk_tb(traceback)])
    if line is None:
        return previous_hook(kind, error, traceback)
    print(visible(line), file=sys.stderr, flush=True)
    raise SystemExit(INTERRUPTED if issubclass(kind, KeyboardInterrupt) else EXIT_STATUS)
