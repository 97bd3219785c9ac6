"""The table of methods: the options of each, and its preorderer, which is imported at use."""

from __future__ import annotations

import importlib
from typing import Any

METHODS = {
    "btg": ("preorder.methods.perceptron.options:Options", "preorder.methods.perceptron.model:BTGPreorderer"),
    "neural-btg": (
        "preorder.methods.neural.options:Options",
        "preorder.methods.neural.model:NeuralBTGPreorderer",
    ),
    "swap-logistic": (
        "preorder.methods.node_labels.logistic.options:Options",
        "preorder.methods.node_labels.logistic.model:SwapLogisticPreorderer",
    ),
    "rvnn": (
        "preorder.methods.node_labels.networks.options:RecursiveOptions",
        "preorder.methods.node_labels.networks.recursive:RvNNPreorderer",
    ),
    "swap-lstm": (
        "preorder.methods.node_labels.networks.options:ContextualOptions",
        "preorder.methods.node_labels.networks.contextual:ContextualPreorderer",
    ),
}
"""Name of a method → where the class of its options is, which is quick to import, and its preorderer."""


def method_class(method: str) -> type[Any]:
    """Import the :class:`preorder.methods.base.Preorderer` of a method."""
    return _imported(METHODS[method][1])


def all_options() -> dict[str, type[Any]]:
    """Return the class of each method's options, as :mod:`preorder.learning.options` takes them."""
    return {method: _imported(options) for method, (options, _) in METHODS.items()}


def _imported(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)
