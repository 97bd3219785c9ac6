"""Compile the functions that Python calls, and keep the machine code for the next process.

Numba keeps it as long as the file of the function stays the same, but the machine code holds all that the
function calls, in other files too. So the key says more here: the state of every source file of this
package. Functions that only compiled ones call are not kept on their own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache

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


inner = numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""Compile a function that only compiled ones call; without what Python needs to call it, in half the time."""


def entry_point(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile at the first call, without holding Python's lock while it runs."""
    dispatcher = numba.njit(nogil=True)(function)
    with contextlib.suppress(RuntimeError):  # no folder can be written: nothing is kept
        dispatcher._cache = _Cache(function)
    return dispatcher
