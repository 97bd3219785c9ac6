"""Hashes of tokens in compiled code beside those of Python's hashlib."""

import random

import numpy as np
import pytest

from preorder.learning.encode import Hashes
from preorder.methods.bulk.blake2b import initial_state
from preorder.methods.bulk.memo import empty_memo, hash_tokens, look_up, memo_of
from preorder.methods.bulk.split import split

generator = random.Random(3)
LENGTHS = [0, 1, 7, 8, 9, 63, 64, 127, 128, 129, 255, 256, 257, 700]
TOKENS = ["".join(generator.choices("aé語𝄞", k=length)) for length in LENGTHS for _ in range(2)]
TOKENS += [str(generator.randrange(40)) for _ in range(300)]


def column(tokens):
    encoded = [token.encode() for token in tokens]
    ends = np.cumsum(list(map(len, encoded)), dtype=np.int32)
    begins = np.concatenate(([0], ends[:-1])).astype(np.int32)
    return np.frombuffer(b"".join(encoded), np.uint8), begins, ends


@pytest.mark.parametrize("layer", ["words", "classes"])
@pytest.mark.parametrize("memo", [(1 << 16, 1 << 20), (5, 1 << 20), (100, 300)], ids=str)
def test_hashes_are_those_of_hashlib(layer, memo):
    starts = np.array([0, 3, 3, len(TOKENS)])  # three lines, one of them empty
    out = np.zeros(len(TOKENS) + 4, np.uint64)
    tokens, hashes = column(TOKENS), Hashes(layer)
    memo = empty_memo(*memo)
    for _ in range(2):
        hash_tokens(*tokens, starts, memo, initial_state(layer.encode()), out)
        expected = [hashes[token] for token in TOKENS]
        assert out.tolist() == [0, *expected[:3], 0, 0, *expected[3:], 0]


def test_values_of_known_tokens_and_of_others():
    known = {f"w{i}".encode(): i for i in range(1000)}
    memo = memo_of(list(known), np.fromiter(known.values(), np.uint64))
    tokens = [f"w{i}" for i in range(0, 3000, 7)] + [""]
    out = np.zeros(len(tokens) + 2, np.uint64)
    look_up(*column(tokens), np.array([0, len(tokens)]), memo, np.uint64(5555), out)
    assert out[1:-1].tolist() == [known.get(token.encode(), 5555) for token in tokens]


def test_a_memo_of_nothing():
    out = np.zeros(3, np.uint64)
    look_up(*column(["a"]), np.array([0, 1]), memo_of([], np.empty(0, np.uint64)), np.uint64(7), out)
    assert out.tolist() == [0, 7, 0]


def test_a_line_that_is_too_long_for_its_indices():
    assert split(np.broadcast_to(np.uint8(10), 2**31), 2**31, 1) is None
