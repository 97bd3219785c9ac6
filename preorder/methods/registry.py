"""The table of methods: the options of each, and its preorderer, which is imported at use."""

from __future__ import annotations

import importlib
from typing import Any

from preorder.errors import UsageError

METHODS = {
    "btg": ("perceptron.options:Options", "perceptron.model:BTGPreorderer"),
    "neural-btg": ("neural.options:Options", "neural.model:NeuralBTGPreorderer"),
    "rvnn": ("node_labels.options:RecursiveOptions", "node_labels.networks.recursive:RvNNPreorderer"),
    "swap-lstm": (
        "node_labels.options:ContextualOptions",
        "node_labels.networks.contextual:ContextualPreorderer",
    ),
}
"""Name of a method → where in this package its options are, which are quick to import, and its preorderer."""

NEED_TREES = tuple(name for name, (options, _) in METHODS.items() if options.startswith("node_labels."))
"""The methods that read a syntax tree of each sentence."""


def check_trees(method: str, given: bool) -> None:
    """Raise a UsageError if a method needs syntax trees, and none are given."""
    if method in NEED_TREES and not given:
        raise UsageError("the method needs syntax trees (--trees), and none are given")


def method_class(method: str) -> type[Any]:
    """Import the :class:`preorder.methods.base.Preorderer` of a method."""
    return _imported(METHODS[method][1])


def all_options() -> dict[str, type[Any]]:
    """Return the class of each method's options, as :mod:`preorder.learning.options` takes them."""
    return {method: _imported(options) for method, (options, _) in METHODS.items()}


def _imported(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(f"preorder.methods.{module}"), name)
