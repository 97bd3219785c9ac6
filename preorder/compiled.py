"""Compile the functions that Python calls, and keep the machine code for the next process.

It is kept in the user's cache folder, or that of ``NUMBA_CACHE_DIR``, in a folder named after what all source
files of this package hold: the machine code of a function holds all that the function calls, in other files
too. So it outlives a reinstallation, in another place as well, and serves wherever the files are the same.
Functions that only compiled ones call are not kept on their own.
"""

from __future__ import annotations

import contextlib
import importlib
import shutil
import sys
import time
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numba
from numba.core import event as numba_events
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.misc.appdirs import AppDirs

from preorder.progress import LOGGER, announce

PACKAGE = Path(__file__).parent

FOLDERS = ("btg", "methods", "metrics", "syntax")
"""Where compiled functions are, with those that they call."""

MOST_KEPT = 8
"""Folders of other versions of the files that are left, the newest; each is some megabytes."""


def _digest(*contents: bytes) -> str:
    state = blake2b(digest_size=8)
    for content in contents:
        state.update(len(content).to_bytes(8, "big") + content)
    return state.hexdigest()


FILES = sorted(file for folder in FOLDERS for file in PACKAGE.joinpath(folder).rglob("*.py"))
STATE = _digest(*(part for file in FILES for part in (bytes(file.relative_to(PACKAGE)), file.read_bytes())))


@cache
def _folder() -> str | None:
    """Return the folder of machine code, made if it is not there; None: none can be."""
    parent = Path(numba.config.CACHE_DIR or AppDirs("numba", False).user_cache_dir) / "onmt-preorder"
    folder = parent / STATE
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            others = sorted(set(parent.iterdir()) - {folder}, key=lambda other: other.stat().st_mtime)
            for old in others[:-MOST_KEPT]:
                shutil.rmtree(old, ignore_errors=True)
    except OSError:
        return None
    return str(folder)


class _Locator(_CacheLocator):
    """Says where the machine code of a function is kept; of those outside this package, too."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._line, self._file = function.__code__.co_firstlineno, Path(file).resolve()

    def get_cache_path(self) -> str | None:
        return _folder()

    def get_source_stamp(self) -> str:
        return _digest(self._file.read_bytes())

    def get_disambiguator(self) -> str:
        inside = self._file.is_relative_to(PACKAGE)
        return f"{self._line}-{_digest(bytes(self._file.relative_to(PACKAGE) if inside else self._file))}"

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _Locator | None:
        if _folder() is None:
            return None
        locator = cls(function, file)
        try:
            locator.ensure_cache_path()
        except OSError:
            return None
        return locator


class _Kept(CompileResultCacheImpl):
    _locator_classes = (_Locator, *CompileResultCacheImpl._locator_classes)


class _Cache(FunctionCache):
    _impl_class = _Kept

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
