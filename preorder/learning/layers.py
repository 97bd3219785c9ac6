"""The layers of a sentence that give each token a string: what models tell tokens apart by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from preorder.data.types import Sentence

LAYERS = ("words", "tags", "classes")
"""Names of the layers, as attributes of a :class:`Sentence`, in the order of all arrays."""


def common_layers(sentences: Iterable[Sentence]) -> list[str]:
    """Return the ``LAYERS`` that every sentence has, in their order."""
    sentences = tuple(sentences)
    return [name for name in LAYERS if all(getattr(sentence, name) is not None for sentence in sentences)]


def is_layers(value: Any) -> bool:
    """Say whether a value of a model's state is a list of different ``LAYERS``, one at least."""
    return isinstance(value, list) and 0 < len(value) == sum(value.count(name) == 1 for name in LAYERS)
