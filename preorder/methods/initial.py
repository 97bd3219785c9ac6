"""A training that begins from a trained model: what it takes over, and what is refused."""

from __future__ import annotations

from typing import Any

from preorder.errors import UsageError
from preorder.learning.checkpoint import digest
from preorder.methods.base import Continuable
from preorder.methods.model_directory import Model


def initial_preorderer(model: Model, method: str) -> Any:
    """Return the :class:`preorder.methods.base.Continuable` that training with a method begins from.

    Args:
        model: the trained model.
        method: of the training.

    Raises:
        UsageError: the model is of another method, or of one that cannot begin from a model.
    """
    preorderer = model.preorderer
    if preorderer.method != method:
        raise UsageError(f"--init: the model is of method {preorderer.method}, not {method}")
    if not isinstance(preorderer, Continuable):
        raise UsageError(f"--init: training of method {method} cannot begin from a model")
    return preorderer


def initial_statistics(model: Model) -> dict[str, Any]:
    """Return what ``model.json`` says of the model that training began from: its weights and training."""
    _, arrays = model.preorderer.state()
    weights = digest(sorted(arrays), *(arrays[name] for name in sorted(arrays)))
    return {"weights": weights, "training": model.training}
