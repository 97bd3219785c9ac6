"""BLAKE2b with a digest of 8 bytes (RFC 7693), compiled: what :class:`preorder.learning.encode.Hashes` has.

A token's hash depends on its layer by the *personalisation*, which is part of the initial state.
"""

from __future__ import annotations

import numpy as np

from preorder.compiled import inner

DIGEST, BLOCK, ROUNDS = 8, 128, 12

IV = np.array(
    [
        0x6A09E667F3BCC908,
        0xBB67AE8584CAA73B,
        0x3C6EF372FE94F82B,
        0xA54FF53A5F1D36F1,
        0x510E527FADE682D1,
        0x9B05688C2B3E6C1F,
        0x1F83D9ABFB41BD6B,
        0x5BE0CD19137E2179,
    ],
    np.uint64,
)

_ROWS = """\
0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
14 10 4 8 9 15 13 6 1 12 0 2 11 7 5 3
11 8 12 0 5 2 15 13 10 14 3 6 7 1 9 4
7 9 3 1 13 12 11 14 2 6 5 10 4 0 15 8
9 0 5 7 2 4 10 15 14 1 11 12 6 8 3 13
2 12 6 10 0 11 8 3 4 13 7 5 15 14 1 9
12 5 1 15 14 13 4 10 0 7 6 3 9 2 8 11
13 11 7 14 12 1 3 9 5 0 15 4 8 6 2 10
6 15 14 9 11 3 0 8 12 2 13 7 1 4 10 5
10 2 8 4 7 6 1 5 15 11 9 14 3 12 13 0"""
SIGMA = np.array([row.split() for row in _ROWS.split("\n")], np.int64)
"""Which words of a block each round mixes in: ``[10, 16]``; the rounds 10 and 11 begin anew."""

_MIXED = np.array(
    [
        (0, 4, 8, 12),
        (1, 5, 9, 13),
        (2, 6, 10, 14),
        (3, 7, 11, 15),
        (0, 5, 10, 15),
        (1, 6, 11, 12),
        (2, 7, 8, 13),
        (3, 4, 9, 14),
    ]
)


def initial_state(person: bytes) -> np.ndarray:
    """Return the state before any text: uint64 ``[8]``; ``person`` has at most 16 bytes."""
    parameters = np.zeros(8, np.uint64)
    parameters[0] = DIGEST | 1 << 16 | 1 << 24  # no key; neither tree nor leaves
    parameters[6:] = np.frombuffer(person.ljust(16, b"\0"), "<u8")
    return IV ^ parameters


@inner
def blake2b(text, begin, end, initial, state):
    """Return the hash of ``text[begin:end]``, uint8, as a whole number: the digest, least byte first.

    ``state``, uint64 ``[8 + 16 + 16]``, is scratch; about 0.6 µs a token.
    """
    state[:8] = initial
    at = begin
    while end - at > BLOCK:
        _compress(text, at, at + BLOCK, at + BLOCK - begin, False, state)
        at += BLOCK
    _compress(text, at, end, end - begin, True, state)
    return state[0]


@inner
def _compress(text, begin, end, count, is_last, state):
    """Take in a block, after which ``count`` bytes are taken in."""
    mixed, words = state[8:24], state[24:40]
    words[:] = np.uint64(0)
    for i in range(end - begin):
        words[i >> 3] |= np.uint64(text[begin + i]) << np.uint64(8 * (i & 7))
    for i in range(8):
        mixed[i], mixed[8 + i] = state[i], IV[i]
    mixed[12] ^= np.uint64(count)
    if is_last:
        mixed[14] = ~mixed[14]
    for k in range(ROUNDS):
        for i in range(8):
            first, second = words[SIGMA[k % 10, 2 * i]], words[SIGMA[k % 10, 2 * i + 1]]
            a, b, c, d = _MIXED[i, 0], _MIXED[i, 1], _MIXED[i, 2], _MIXED[i, 3]
            mixed[a] += mixed[b] + first
            mixed[d] = _rotated(mixed[d] ^ mixed[a], 32)
            mixed[c] += mixed[d]
            mixed[b] = _rotated(mixed[b] ^ mixed[c], 24)
            mixed[a] += mixed[b] + second
            mixed[d] = _rotated(mixed[d] ^ mixed[a], 16)
            mixed[c] += mixed[d]
            mixed[b] = _rotated(mixed[b] ^ mixed[c], 63)
    for i in range(8):
        state[i] ^= mixed[i] ^ mixed[8 + i]


@inner
def _rotated(word, bits):
    """Return a word rotated to the right."""
    return (word >> np.uint64(bits)) | (word << np.uint64(64 - bits))
