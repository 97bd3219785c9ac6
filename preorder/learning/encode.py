"""Sentences as flat arrays of token hashes, what the compiled code reads.

A hash has 64 bits that follow from the token's bytes and the name of its layer alone: FNV-1a, whose bits are
mixed by the finaliser of MurmurHash3; a nanosecond a byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from preorder.compiled import entry_point, inner
from preorder.data import Sentence

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
    """Hashes the tokens of some layers; about 0.1 µs a token and layer."""

    def __init__(self, layers: Sequence[str]) -> None:
        self._hashes = {layer: Hashes(layer) for layer in layers}

    def __call__(self, sentences: Sequence[Sentence]) -> Batch:
        lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
        starts = np.concatenate(([0], np.cumsum(lengths + 1)))[:-1] + 1
        tokens = np.empty((len(self._hashes), int(lengths.sum()) + len(sentences) + 1), np.uint64)
        for row, (layer, hashes) in zip(tokens, self._hashes.items(), strict=True):
            if len(hashes) > MOST_CACHED:
                hashes.clear()
            parts = chain.from_iterable((getattr(sentence, layer), BORDER) for sentence in sentences)
            flat = chain(BORDER, chain.from_iterable(parts))
            row[:] = np.fromiter(map(hashes.__getitem__, flat), np.uint64, row.size)
        return Batch(tokens, starts, lengths)


class Hashes(dict[str, int]):
    """Remembers the 64-bit hashes of a layer's tokens."""

    def __init__(self, layer: str) -> None:
        self._seed = seed_of(layer)

    def __missing__(self, token: str) -> int:
        text = np.frombuffer(token.encode("utf-8", "surrogatepass"), np.uint8)
        self[token] = value = int(hash_bytes(text, self._seed))
        return value


_OFFSET, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_FIRST, _SECOND, _SHIFT = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53), np.uint64(33)


def seed_of(layer: str) -> np.uint64:
    """Return what the hashes of a layer's tokens begin with."""
    return np.uint64(hash_bytes(np.frombuffer(layer.encode(), np.uint8), _OFFSET))


@entry_point
def hash_bytes(text, seed):
    """Return the hash of a whole text, uint8."""
    return _hash(text, 0, text.size, seed)


@entry_point
def hash_tokens(text, begins, ends, starts, seed, out):
    """Write the hash of each token to ``out``, uint64 ``[tokens + lines + 1]``, as in a :class:`Batch`.

    Token t is ``text[begins[t] : ends[t]]``, uint8; ``starts`` are the first tokens of each line, and the
    number of all. Nothing is written for what is between lines.
    """
    for line in range(starts.size - 1):
        for token in range(starts[line], starts[line + 1]):
            out[token + line + 1] = _hash(text, begins[token], ends[token], seed)


@inner
def _hash(text, begin, end, seed):
    value = seed
    for i in range(begin, end):
        value = (value ^ np.uint64(text[i])) * _PRIME
    value = (value ^ (value >> _SHIFT)) * _FIRST
    value = (value ^ (value >> _SHIFT)) * _SECOND
    return value ^ (value >> _SHIFT)
