"""The table of methods: the options of each, and its preorderer, which is imported at use."""

from __future__ import annotations

import importlib
from typing import Any

from preorder.errors import UsageError
from preorder.methods.options import (
    ContextualOptions,
    NeuralBTGOptions,
    PerceptronOptions,
    RecursiveOptions,
)

METHODS: dict[str, tuple[type[Any], str]] = {
    "btg": (PerceptronOptions, "perceptron.model:BTGPreorderer"),
    "neural-btg": (NeuralBTGOptions, "neural_btg.model:NeuralBTGPreorderer"),
    "rvnn": (RecursiveOptions, "tree_swap.model:RvNNPreorderer"),
    "swap-lstm": (ContextualOptions, "tree_swap.model:ContextualPreorderer"),
}
"""Name of a method → its options, and where in this package its preorderer is."""

NEED_TREES = ("rvnn", "swap-lstm")
"""The methods that read a syntax tree of each sentence."""


def check_trees(method: str, given: bool) -> None:
    """Raise a UsageError if a method needs syntax trees, and none are given."""
    if method in NEED_TREES and not given:
        raise UsageError("the method needs syntax trees (--trees), and none are given")


def method_class(method: str) -> type[Any]:
    """Import the :class:`preorder.methods.base.Preorderer` of a method."""
    module, _, name = METHODS[method][1].partition(":")
    return getattr(importlib.import_module(f"preorder.methods.{module}"), name)


def all_options() -> dict[str, type[Any]]:
    """Return the class of each method's options, as :mod:`preorder.learning.options` takes them."""
    return {method: options for method, (options, _) in METHODS.items()}
