"""Ids that hold a word and its position; for these eole is not needed."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from onmt_preorder.eole.packing import pack, unpack


@given(st.lists(st.tuples(st.integers(0, 2**31), st.integers(0, 2**30)), min_size=1))
def test_what_is_packed_is_unpacked(tokens):
    words, positions = unpack(torch.tensor([pack(*token) for token in tokens]))
    assert list(zip(words.tolist(), positions.tolist(), strict=True)) == tokens


def test_padding_has_no_position_and_no_word_is_padding():
    padding = 1
    words, positions = unpack(torch.tensor([padding]))
    assert (words.item(), positions.item()) == (padding, -1)
    assert pack(padding, 0) != padding
