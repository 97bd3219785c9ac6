"""Wrapping of functions and methods of OpenNMT-py."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pkgutil import resolve_name
from types import ModuleType
from typing import Any

_OURS = "_onmt_preorder"
_ADAPTATIONS: list[tuple[str, str, Callable[..., Any]]] = []  # owner, name, wrapper


def adapts(owner: str, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Mark a function as wrapper of ``owner.name``, to be put in place by :func:`wrap_all`.

    The owner is a module of OpenNMT-py or, as ``module:Class``, one of its classes.
    """

    def register(wrapper: Callable[..., Any]) -> Callable[..., Any]:
        _ADAPTATIONS.append((owner, name, wrapper))
        return wrapper

    return register


def wrap_all() -> None:
    """Put all marked wrappers in place; calling it again does nothing."""
    for owner, name, wrapper in _ADAPTATIONS:
        wrap(resolve_name(owner), name, wrapper)


def wrap(owner: ModuleType | type, name: str, wrapper: Callable[..., Any]) -> None:
    """Make ``owner.name(…)`` call ``wrapper(original, …)``; do nothing if it already does.

    Of several wrappers of one function the last is the outermost.
    Modules of OpenNMT-py that have imported a function by name get the wrapped one too.
    """
    found = next(vars(base)[name] for base in getattr(owner, "__mro__", [owner]) if name in vars(base))
    is_classmethod = isinstance(found, classmethod)
    original = found.__func__ if is_classmethod else found
    wrappers = getattr(original, _OURS, ())
    if wrapper in wrappers:
        return

    @functools.wraps(original)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return wrapper(original, *args, **kwargs)

    setattr(wrapped, _OURS, (*wrappers, wrapper))
    setattr(owner, name, classmethod(wrapped) if is_classmethod else wrapped)
    if isinstance(owner, ModuleType):
        _replace_imported(original, wrapped)


def _replace_imported(original: Any, wrapped: Any) -> None:
    for module_name, module in list(sys.modules.items()):
        if module_name.partition(".")[0] == "onmt":
            for name, value in list(vars(module).items()):
                if value is original:
                    setattr(module, name, wrapped)
