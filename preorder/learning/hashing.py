"""Hashes of tokens: 64 bits that follow from the token's bytes and the name of its layer alone.

FNV-1a, whose bits are mixed by the finaliser of MurmurHash3: a nanosecond a byte.
"""

from __future__ import annotations

import numpy as np

from preorder.compiled import entry_point, inner

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
    """Write the hash of each token.

    Args:
        text: uint8.
        begins, ends: where each token begins and ends in the text.
        starts: the first token of each line, and the number of all.
        seed: of the layer.
        out: uint64 ``[tokens + lines + 1]``, in which no number is written for what is between lines: see
            :class:`preorder.learning.encode.Batch`.
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
