"""Orders and trees as lines of the format that the user chose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from preorder.data import formats
from preorder.data.types import Sentence

FORMATTERS: dict[str, Callable[[Sentence, Any], str]] = {
    "features": lambda sentence, permutation: formats.format_features(sentence.words, permutation),
    "positions": lambda _, permutation: formats.format_numbers(permutation.positions),
    "order": lambda _, permutation: formats.format_numbers(permutation.order),
    "text": lambda sentence, permutation: " ".join(permutation.apply(sentence.words)),
    "tree": lambda sentence, tree: formats.format_tree(sentence.words, tree),
}
"""Each makes a line of a sentence and its permutation, ``tree`` of its tree."""
