"""Sentences as flat arrays of token hashes, what the compiled code reads."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from preorder.data import Sentence
from preorder.learning.hashing import hash_bytes, seed_of

BORDER = ("\n",)  # no token holds a line break
MOST_CACHED = 1_000_000  # hashes remembered a layer, so that a stream's memory stays bounded


class Batch(NamedTuple):
    """Sentences: token i of sentence s is ``tokens[layer, starts[s] + i]``.

    Between two sentences, and at both ends, stands the hash of the sentence border. So without borders,
    sentence s begins at ``starts[s] - s - 1``.
    """

    tokens: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray


class Encoder:
    """Hash the tokens of some layers; the hash of a token depends on nothing but it and its layer."""

    def __init__(self, layers: Sequence[str]) -> None:
        self._layers = tuple(layers)
        self._hashes = [Hashes(layer) for layer in self._layers]

    def __call__(self, sentences: Sequence[Sentence]) -> Batch:
        """Encode sentences that have every layer; about 0.1 µs a token and layer."""
        lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
        starts = np.concatenate(([0], np.cumsum(lengths + 1)))[:-1] + 1
        tokens = np.empty((len(self._layers), int(lengths.sum()) + len(sentences) + 1), np.uint64)
        for row, layer, hashes in zip(tokens, self._layers, self._hashes, strict=True):
            if len(hashes) > MOST_CACHED:
                hashes.clear()
            parts = chain.from_iterable((getattr(sentence, layer), BORDER) for sentence in sentences)
            flat = chain(BORDER, chain.from_iterable(parts))
            row[:] = np.fromiter(map(hashes.__getitem__, flat), np.uint64, row.size)
        return Batch(tokens, starts, lengths)


class Hashes(dict[str, int]):
    """Remembers the 64-bit hashes of a layer's tokens."""

    def __init__(self, layer: str) -> None:
        super().__init__()
        self._seed = seed_of(layer)

    def __missing__(self, token: str) -> int:
        text = np.frombuffer(token.encode("utf-8", "surrogatepass"), np.uint8)
        self[token] = value = int(hash_bytes(text, self._seed))
        return value
