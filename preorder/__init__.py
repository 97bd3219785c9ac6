"""Learn to put source words in the target's order, from a word-aligned bitext.

The names below are the Python API (:mod:`preorder.api`); they are imported at their first use, so that
``import preorder`` costs nothing. docs/architecture.md has the plan of the packages.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from preorder.api import LineModel, PreorderModel, align, evaluate, load, ribes, tokenize, train
    from preorder.errors import DataError, MissingExtraError, PreorderError, UsageError

__version__ = "0.1.0"

__all__ = [
    "DataError",
    "LineModel",
    "MissingExtraError",
    "PreorderError",
    "PreorderModel",
    "UsageError",
    "align",
    "evaluate",
    "load",
    "ribes",
    "tokenize",
    "train",
]


def __dir__() -> list[str]:
    return ["__version__", *__all__]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "preorder.errors" if name.endswith("Error") else "preorder.api"
    return getattr(import_module(module), name)
