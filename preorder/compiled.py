"""Compile the functions that Python calls, and keep the machine code for the next process.

Numba keeps it as long as the file of the function stays the same, but the machine code holds all that the
function calls, in other files too. So the key says more here: the state of every source file of this
package. Functions that only compiled ones call are not kept on their own.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import event as numba_events
from numba.core.caching import FunctionCache

from preorder.progress import LOGGER, announce

FOLDERS = ("btg", "methods", "metrics", "syntax")
"""Where compiled functions are, with those that they call."""

FILES = sorted(file for folder in FOLDERS for file in Path(__file__).parent.joinpath(folder).rglob("*.py"))
STATE = tuple((file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in FILES)


class _Cache(FunctionCache):
    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return (*super()._index_key(sig, codegen), STATE)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except (
            Exception
        ):  # what is kept is damaged, or names classes of older files: any error may come of it
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(OSError):  # a full disk: it is compiled again next time
            super().save_overload(sig, data)


_ENTRY_POINTS: set[Callable[..., Any]] = set()

inner = numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""Compile a function that only compiled ones call; without what Python needs to call it, in half the time."""


def import_without_blas() -> None:
    """Import what numba needs to run what is compiled, but not SciPy, for products of matrices.

    Ours have none. For commands: afterwards numba compiles none in this process, if it has not yet.
    """
    if "scipy.linalg" in sys.modules:
        return
    sys.modules["scipy.linalg"] = None  # type: ignore[assignment]  # so that its import fails
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        del sys.modules["scipy.linalg"]


def entry_point(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile at the first call, without holding Python's lock while it runs."""
    _ENTRY_POINTS.add(function)
    dispatcher = numba.njit(nogil=True)(function)
    with contextlib.suppress(RuntimeError):  # no folder can be written: nothing is kept
        dispatcher._cache = _Cache(function)
    return dispatcher


class _Listener(numba_events.Listener):
    """Says once a process that our functions are compiled, if they are: those that are kept are loaded."""

    def __init__(self) -> None:
        self._has_announced = False
        self._started: list[float] = []

    def on_start(self, event: numba_events.Event) -> None:
        if event.data["dispatcher"].py_func in _ENTRY_POINTS:
            if not self._has_announced:
                self._has_announced = True
                announce("compiling for this machine, at first use: this takes some 20 seconds")
            self._started.append(time.monotonic())

    def on_end(self, event: numba_events.Event) -> None:
        if event.data["dispatcher"].py_func in _ENTRY_POINTS:
            seconds = time.monotonic() - self._started.pop()
            LOGGER.debug(f"compiled {event.data['dispatcher'].__name__} ({seconds:.1f} s)")


numba_events.register("numba:compile", _Listener())
