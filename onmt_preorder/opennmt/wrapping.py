"""Wrapping of a function or method of OpenNMT-py."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

_OURS = "_onmt_preorder"


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
