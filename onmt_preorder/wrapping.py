"""Wrapping of functions and methods of a host: OpenNMT-py, eole."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec, PathFinder
from pkgutil import resolve_name
from types import ModuleType
from typing import Any

from onmt_preorder import _hook

_OURS = "_onmt_preorder"
_COMMANDS = "onmt.bin."
_ADAPTATIONS: list[tuple[str, str, Callable[..., Any]]] = []  # owner, name, wrapper


def adapts(owner: str, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Mark a function as wrapper of ``owner.name``, to be put in place by :func:`wrap_all`.

    The owner is a module or, as ``module:Class``, one of its classes. A module of :data:`_COMMANDS` is
    wrapped when a command imports it. The name ``torch.load`` is that of a function of torch, as the owner
    sees it: torch itself stays as it is.
    """

    def register(wrapper: Callable[..., Any]) -> Callable[..., Any]:
        _ADAPTATIONS.append((owner, name, wrapper))
        return wrapper

    return register


def wrap_all(host: str) -> None:
    """Put all marked wrappers of a host's functions in place; calling it again does nothing."""
    for owner, name, wrapper in _ADAPTATIONS:
        if _host_of(owner) == host and (owner in sys.modules or not owner.startswith(_COMMANDS)):
            wrap(resolve_name(owner), name, wrapper)
    if not any(isinstance(finder, _CommandFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _CommandFinder())


class _CommandFinder:
    """Wraps a command when it is imported, not before: ``python -m`` warns if its module is loaded."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if not any(owner == name for owner, _, _ in _ADAPTATIONS) or not name.startswith(_COMMANDS):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None:
            _hook.load_by(spec, _load_and_wrap)
        return spec


def _load_and_wrap(module: ModuleType, load: Callable[[ModuleType], None]) -> None:
    load(module)
    wrap_all(_host_of(module.__name__))


class _Seen(ModuleType):
    """A module as one other module sees it: its own attributes, with some functions wrapped."""

    def __init__(self, module: ModuleType) -> None:
        super().__init__(module.__name__)
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def wrap(owner: ModuleType | type, name: str, wrapper: Callable[..., Any]) -> None:
    """Make ``owner.name(…)`` call ``wrapper(original, …)``; do nothing if it already does.

    Of several wrappers of one function the last is the outermost.
    Modules of the host that have imported a function by name get the wrapped one too.
    """
    imported, dot, function = name.partition(".")
    if dot:
        seen = getattr(owner, imported)
        if not isinstance(seen, _Seen):
            seen = _Seen(seen)
            setattr(owner, imported, seen)
        vars(seen).setdefault(function, functools.partial(wrapper, getattr(seen, function)))
        return
    found = next(vars(base)[name] for base in getattr(owner, "__mro__", [owner]) if name in vars(base))
    kind = type(found) if isinstance(found, classmethod | staticmethod) else None
    original = found.__func__ if kind else found
    wrappers = getattr(original, _OURS, ())
    if wrapper in wrappers:
        return

    @functools.wraps(original)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return wrapper(original, *args, **kwargs)

    setattr(wrapped, _OURS, (*wrappers, wrapper))
    setattr(owner, name, kind(wrapped) if kind else wrapped)
    if isinstance(owner, ModuleType):
        host = _host_of(owner.__name__)
        for module in [each for key, each in sys.modules.items() if _host_of(key) == host]:
            for imported in [key for key, value in vars(module).items() if value is original]:
                setattr(module, imported, wrapped)


def _host_of(name: str) -> str:
    """Return the package of a module's name, or of a class's, ``module:Class``."""
    return name.partition(":")[0].partition(".")[0]
