"""The layers that tell tokens apart, and their strings as rows of a network's embedding tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from preorder.data import Sentence
from preorder.errors import DataError

LAYERS = ("words", "tags", "classes")
"""Layers of a :class:`Sentence` that give each token a string, by attribute, in the order of all arrays."""

WIDTHS = {"words": 128, "tags": 32, "classes": 64}
"""Size of the embeddings of each layer."""

UNKNOWN = 0
"""Row of every table that stands for all strings without a row of their own."""

MIN_COUNT = 2
"""A string that the training text has less often has no row of its own."""


def common_layers(sentences: Iterable[Sentence]) -> list[str]:
    """Return the ``LAYERS`` that every sentence has, in their order."""
    sentences = tuple(sentences)
    return [name for name in LAYERS if all(getattr(sentence, name) is not None for sentence in sentences)]


def is_layers(value: Any) -> bool:
    """Say whether a value of a model's state is a list of different ``LAYERS``, one at least."""
    return isinstance(value, list) and 0 < len(value) == sum(value.count(name) == 1 for name in LAYERS)


def frequent(strings: Iterable[str], max_strings: int | None = None) -> dict[str, int]:
    """Count the strings that are there ``MIN_COUNT`` times or more; the most frequent first, then by name."""
    counts = ((-count, string) for string, count in Counter(strings).items() if count >= MIN_COUNT)
    return {string: -count for count, string in sorted(counts)[:max_strings]}


class Vocabulary:
    """The rows of the known strings of each layer."""

    def __init__(self, known: dict[str, Iterable[str]]) -> None:
        """Number the strings of each layer, of ``LAYERS``, in the order given, from 1."""
        self.known = {layer: tuple(strings) for layer, strings in known.items()}
        self._rows_of = [{s: row for row, s in enumerate(k, 1)} for k in self.known.values()]

    @classmethod
    def of(
        cls, sentences: Sequence[Sentence], layers: Sequence[str], max_strings: int | None = None
    ) -> tuple[Vocabulary, np.ndarray]:
        """Collect the :func:`frequent` strings of some layers of a training text, the words first.

        Returns the vocabulary, and for each row of the words how often they were seen: int64.
        """
        counts = [frequent(_flat(sentences, layer), max_strings) for layer in layers]
        return cls(dict(zip(layers, counts, strict=True))), np.array([0, *counts[0].values()])

    def frequencies(self, sentences: Sequence[Sentence]) -> np.ndarray:
        """Return how often each row of the words is seen in a text, 0 for unknown ones: int64."""
        counts = np.bincount(self(sentences)[0], minlength=self.rows["words"])
        counts[UNKNOWN] = 0
        return counts

    @classmethod
    def from_state(cls, known: Any) -> Vocabulary:
        """Rebuild a vocabulary from what a model's state has for its :attr:`known`."""
        if (
            not isinstance(known, dict)
            or not {"words"} <= set(known) <= set(LAYERS)
            or not all(map(is_strings, known.values()))
        ):
            raise DataError("not the vocabulary of the model's network")
        return cls(known)

    @property
    def rows(self) -> dict[str, int]:
        """Number of rows of each layer's table."""
        return {layer: 1 + len(strings) for layer, strings in self.known.items()}

    def __call__(self, sentences: Sequence[Sentence]) -> np.ndarray:
        """Return the rows of all tokens, one sentence after another: int64 ``[layers, tokens]``."""
        tokens = np.empty((len(self.known), sum(map(len, sentences))), np.int64)
        for rows, layer, row in zip(self._rows_of, self.known, tokens, strict=True):
            found = (rows.get(string, UNKNOWN) for string in _flat(sentences, layer))
            row[:] = np.fromiter(found, np.int64, row.size)
        return tokens


def is_strings(value: Any) -> bool:
    """Say whether a value of a model's state is a list of strings."""
    return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)


def _flat(sentences: Sequence[Sentence], layer: str) -> Iterator[str]:
    return chain.from_iterable(getattr(sentence, layer) for sentence in sentences)
