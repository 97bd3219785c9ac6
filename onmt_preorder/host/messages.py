"""Errors of the user's making, in one line.

Why: OpenNMT-py shows the traceback of whatever is raised while it runs.

Can go when its commands catch a class of errors that plug-ins can raise.
"""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any

from preorder.errors import PreorderError

EXIT_STATUS = 2


def adapt() -> None:
    """Let an uncaught :class:`PreorderError` end the process with one line and status 2."""
    if getattr(sys.excepthook, "__func__", None) is not _Hook.__call__:
        sys.excepthook = _Hook(sys.excepthook).__call__


class _Hook:
    def __init__(self, otherwise: Any) -> None:
        self.otherwise = otherwise

    def __call__(
        self, kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        if not issubclass(kind, PreorderError):
            return self.otherwise(kind, error, traceback)
        # What a data worker raises arrives with the worker's traceback; its last line is ours.
        line = str(error).strip().splitlines()[-1].removeprefix(f"{kind.__module__}.{kind.__qualname__}: ")
        print(line, file=sys.stderr, flush=True)
        raise SystemExit(EXIT_STATUS)
