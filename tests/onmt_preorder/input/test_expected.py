"""Expected positions: of pieces of words, and as ids."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onmt_preorder.input import expected
from onmt_preorder.input.expected import expected_positions_of_pieces
from onmt_preorder.input.pieces import positions_of_pieces
from onmt_preorder.input.positions import rank_positions
from preorder.data.errors import DataError


def split(counts):
    """Return words of so many letters, and these letters as pieces."""
    words = [chr(ord("a") + i) * count for i, count in enumerate(counts)]
    return words, [f"{letter}@@" for word in words for letter in word]


def pieces_of(counts, positions):
    words, pieces = split(counts)
    return list(map(float, expected_positions_of_pieces(pieces, words, positions)))


orders = st.integers(1, 7).flatmap(
    lambda n: st.tuples(st.permutations(range(n)), st.lists(st.integers(1, 4), min_size=n, max_size=n))
)
places = st.integers(1, 7).flatmap(
    lambda n: st.lists(
        st.tuples(st.integers(1, 4), st.floats(0, n - 1).map(lambda x: round(x, 2))), min_size=n, max_size=n
    )
)


@given(orders)
def test_at_whole_numbers_they_are_ranks(case):
    order, counts = case
    words, pieces = split(counts)
    shared = positions_of_pieces(pieces, words, list(map(str, order)))
    ranks = rank_positions(torch.tensor([list(map(int, shared))]), torch.zeros(1, len(pieces), dtype=bool))
    assert pieces_of(counts, [f"{place}.0" for place in order]) == ranks[0].tolist()


@given(places)
def test_without_subwords_they_stay(case):
    positions = [place for _, place in case]
    assert pieces_of([1] * len(case), list(map(str, positions))) == positions


@given(places)
def test_middles_of_words_keep_their_order_within_the_sentence(case):
    counts, positions = zip(*case, strict=True)
    found = pieces_of(counts, list(map(str, positions)))
    assert min(found) >= 0
    assert max(found) <= len(found) - 1
    ends = np.cumsum(counts)
    middles = [np.mean(found[end - count : end]) for end, count in zip(ends, counts, strict=True)]
    for one, place in zip(middles, positions, strict=True):
        for other, further in zip(middles, positions, strict=True):
            assert one <= other + 1e-3 or place >= further
    for end, count in zip(ends, counts, strict=True):
        assert np.diff(found[end - count : end]) == pytest.approx(1)


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 100))
def test_two_words_get_what_is_expected(first, second, percent):
    """The second stands first with a probability; the mean of both orders is written out."""
    share = percent / 100
    found = pieces_of([first, second], [f"{share:.2f}", f"{1 - share:.2f}"])
    straight = np.arange(first + second)
    inverted = np.concatenate([second + np.arange(first), np.arange(second)])
    assert found == pytest.approx((1 - share) * straight + share * inverted, abs=1e-4)


@pytest.mark.parametrize(
    ("pieces", "words", "positions", "found"),
    [
        # As above, in a text that is split already.
        ("a b@@ c@@ d", "a b@@ c@@ d", "0.75 0.25 0.25 0.25", "2.25 0.25 1.25 2.25"),
        ("a b￭ ￭c d", "a b￭ ￭c d", "0.75 0.25 0.25 0.25", "1.5 0.25 1.25 0.75"),
        ("▁a ▁b c d", "▁a ▁b c d", "0.75 0.25 0.25 0.25", "2.25 0.25 1.25 2.25"),
        ("｟mrk_case_modifier_C｠ b c", "｟mrk_case_modifier_C｠ b c", "0.75 0.75 0.25", "0.75 1.75 0.5"),
        ("a b c", "a b c", "0.5 0.5 2.00", "0.5 0.5 2"),  # no marks: two words that share a place
        ("a@@ b", "a@@ b", "0.50 0.5", "0.5 0.5"),
        # A word without a position, and pieces that a transform has dropped or added.
        ("a@@ b c", "ab c", "_ 0.00", "0 1 0.5"),
        ("b c", "a b c", "0.25 0.75 2.00", "0 1"),
        ("｟de｠ a b", "a b", "0.75 0.25", "0.75 1.75 0.5"),
    ],
)
def test_odd_pieces(pieces, words, positions, found):
    made = expected_positions_of_pieces(pieces.split(), words.split(), positions.split())
    assert list(map(float, made)) == pytest.approx(list(map(float, found.split())))


def test_ids_come_back():
    positions = ["0.0000", "4.73", "8.0000", "4999.0000"]
    ids = torch.tensor([*map(expected.id_of, positions), 0, 5])
    assert (ids < 0).tolist() == [True] * 4 + [False] * 2
    numbers = expected.numbers_of(ids)
    assert (numbers / expected.STEPS).tolist() == pytest.approx([*map(float, positions), *[-1 / 65536] * 2])
    assert (numbers[[0, 2, 3]] / expected.STEPS).tolist() == [0, 8, 4999]


@pytest.mark.parametrize("position", ["4.", ".5", "-0.5", "nan", "inf", "1e0.5", "1.5.2", "٣.٣", "0x1.0", ""])
def test_no_positions(position):
    assert not expected.is_position(position)


@pytest.mark.parametrize(
    ("positions", "are_read", "message"),
    [
        ("0.5 0.5 _ 3", True, None),
        ("0.5 0.5 2 3", False, "an expected position needs preorder_expected: true: 'w￨0.5'"),
        ("0.5 0.5 2 3.01", True, "the position is not from 0 to 3: 'w￨3.01'"),
        (f"0.5 0.5 2 {'9' * 5000}", True, "the position is not from 0 to 3: 'w￨999"),
        (f"0.5 0.5 2 {'9' * 5000}.0", True, "the position is not from 0 to 3: 'w￨999"),
    ],
)
def test_a_line_is_checked(positions, are_read, message):
    line = ["w"] * 4, positions.split(), are_read
    if message is None:
        expected.check(*line)
    else:
        with pytest.raises(DataError) as error:
            expected.check(*line)
        assert str(error.value).startswith(message)
