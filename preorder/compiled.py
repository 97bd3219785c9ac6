"""Compile the functions that Python calls, and keep the machine code for the next process.

The machine code of a function contains the functions that it calls and constants of other modules. Its name
has a digest of the function's module and of all modules that this one imports, directly or indirectly, from
this package or the function's own. (numba's cache only looks at the function's file.) It is kept in the cache
folder of the user, or in ``NUMBA_CACHE_DIR``.
"""

from __future__ import annotations

import contextlib
import importlib
import pickle
import re
import shutil
import sys
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

from preorder.errors import DataError
from preorder.io.files import write_bytes
from preorder.progress import announce

Function = TypeVar("Function", bound=Callable[..., Any])

MOST_KEPT = 8  # newest folders of other versions of a module and its imports

# The import statements of a source, except for types. (Python's parser takes 0.15 s for all of ours.)
_IMPORT = re.compile(
    r"^if TYPE_CHECKING:\n(?:[ \t].*\n|\n)*|"
    r"^[ \t]*(?:from|import)[ \t]+([\w.]+)(?:[ \t]+import[ \t]+(\([^)]*\)|.*))?",
    re.MULTILINE,
)


@cache
def _sources(package: str) -> dict[str, str]:
    found, sources = sys.modules[package], {}
    folders = getattr(found, "__path__", ())  # a package without __init__.py has no __file__
    for path in map(Path, folders or [found.__file__]):
        for file in path.rglob("*.py") if folders else [path]:
            parts = file.relative_to(path.parent).with_suffix("").parts if folders else [package]
            sources[".".join(parts).removesuffix(".__init__")] = file.read_text(encoding="utf-8")
    return sources


@cache
def _imported(source: str) -> set[str]:
    """Return the modules that a source imports, and the imported names, which may be modules, too."""
    imports = _IMPORT.findall(source)
    members = {f"{base}.{name}" for base, names in imports for name in re.findall(r"\w+", names)}
    return members.union(base for base, _ in imports)


def closure(module: str) -> dict[str, str]:
    """Return the sources of a module and of its imports from this package and from its own."""
    sources = _sources(__package__) | _sources(module.partition(".")[0])
    found, left = set(), {module}
    while left:
        name = left.pop()
        found.add(name)
        if name != __name__:  # this module's imports do not change machine code
            imported = _imported(sources[name]) | {name.rpartition(".")[0]}
            left |= (imported & sources.keys()) - found
    return {name: sources[name] for name in sorted(found)}


def _read_state(module: str) -> str:
    state = blake2b(f"{sys.version} {numba.__version__}".encode(), digest_size=8)
    for name, source in closure(module).items():
        state.update(f"{name} {len(source)} {source}".encode())
    return state.hexdigest()


_state = cache(_read_state)  # the digest at the first call: when the module was imported


@cache
def _folder(module: str, state: str) -> Path:
    cache_folder = Path(numba.config.CACHE_DIR or AppDirs("numba", False).user_cache_dir)
    folder = cache_folder / "onmt-preorder" / module / state
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        others = sorted(set(folder.parent.iterdir()) - {folder}, key=lambda other: other.stat().st_mtime)
        for old in others[:-MOST_KEPT]:
            shutil.rmtree(old, ignore_errors=True)
    return folder


@cache
def _announce() -> None:
    announce("compiling for this machine, at first use: this takes some 20 seconds")


def _with_fields(argument: Any) -> tuple[str, Any, list[Any]]:
    """Return the name of a numba type with the field names of named tuples, which numba leaves out."""
    members = getattr(argument, "types", ())
    return str(argument), getattr(argument, "fields", ()), [_with_fields(one) for one in members]


class _Kept:
    """The machine code of a function, a file for each type of arguments, as a cache of numba's."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._state = _state(function.__module__)

    def _path(self, signature: Any, codegen: Any) -> Path:
        types = [_with_fields(one) for one in signature]
        names = self._function.__qualname__, types, codegen.magic_tuple()
        name = blake2b(repr(names).encode(), digest_size=8).hexdigest()
        return _folder(self._function.__module__, self._state) / f"{self._function.__name__}-{name}"

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compiled function; None: it is to be compiled, which is announced."""
        target_context.refresh()
        try:
            path = self._path(signature, target_context.codegen())
            return CompileResult._rebuild(target_context, *pickle.loads(path.read_bytes()))
        except MemoryError:  # compiling needs more
            raise
        except Exception:  # there is no file, or a damaged one, which raises anything
            pass
        _announce()
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep a compiled function, unless it holds addresses, or its sources have changed since."""
        _sources.cache_clear()
        if result.library.has_dynamic_globals or _read_state(self._function.__module__) != self._state:
            return
        with contextlib.suppress(OSError, DataError):  # a full disk, for example: compile again next time
            path = self._path(signature, result.codegen)
            write_bytes(str(path), dumps(result._reduce()))


inner: Callable[[Function], Function] = numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""Compile a function that only compiled functions call; without an entry for Python, in half the time."""


def import_without_blas() -> None:
    """Import numba's array functions without SciPy: our kernels multiply no matrices."""
    if "scipy.linalg" in sys.modules:
        return
    sys.modules["scipy.linalg"] = None  # type: ignore[assignment]  # its import fails
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        del sys.modules["scipy.linalg"]


def entry_point(function: Function) -> Function:
    """Compile at the first call, and run without Python's lock; compiled callers share its code."""
    dispatcher = numba.njit(nogil=True)(function)
    dispatcher._cache = _Kept(function)
    return dispatcher
