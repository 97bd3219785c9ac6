"""Tokens as numbers, channel by channel: what the network looks at of a token."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from preorder.data.types import Sentence

LAYERS = ("words", "tags", "classes")
"""Channels: the layers of a sentence."""

WIDTHS = {"words": 128, "tags": 32, "classes": 64}
"""Size of the embeddings of each channel."""

UNKNOWN = 0
"""Row of every channel's table that stands for all strings without one of their own."""

LEAST = 2
"""A string that the training text has less often has no row of its own."""


class Vocabulary:
    """Rows of the known strings of each channel."""

    def __init__(self, known: dict[str, Sequence[str]]) -> None:
        """Number the strings of each channel in the order given, from 1."""
        self.known = {channel: tuple(strings) for channel, strings in known.items()}
        self._numbers = [{s: row for row, s in enumerate(k, 1)} for k in self.known.values()]

    @classmethod
    def of(
        cls, sentences: Sequence[Sentence], channels: Sequence[str], most: int | None = None
    ) -> tuple[Vocabulary, np.ndarray]:
        """Collect the strings that some layers show ``LEAST`` times, most frequent first.

        Args:
            sentences: the training text.
            channels: names of the layers.
            most: so many strings of a layer at most.

        Returns:
            The vocabulary, and of each row of its words how often they were seen: int64.
        """
        counters = [Counter(_flat(sentences, channel)) for channel in channels]
        frequent = [sorted((-c, s) for s, c in counter.items() if c >= LEAST)[:most] for counter in counters]
        known = {name: [s for _, s in pairs] for name, pairs in zip(channels, frequent, strict=True)}
        return cls(known), np.array([0, *(-c for c, _ in frequent[0])])

    @property
    def rows(self) -> dict[str, int]:
        """Number of rows of each channel's table."""
        return {channel: 1 + len(strings) for channel, strings in self.known.items()}

    def __call__(self, sentences: Sequence[Sentence]) -> np.ndarray:
        """Return the rows of all tokens, one sentence after another: int64 ``[channels, tokens]``."""
        tokens = np.empty((len(self.known), sum(map(len, sentences))), np.int64)
        for rows, channel, row in zip(self._numbers, self.known, tokens, strict=True):
            found = (rows.get(string, UNKNOWN) for string in _flat(sentences, channel))
            row[:] = np.fromiter(found, np.int64, row.size)
        return tokens


def _flat(sentences: Sequence[Sentence], channel: str) -> Iterator[str]:
    return chain.from_iterable(getattr(sentence, channel) for sentence in sentences)
