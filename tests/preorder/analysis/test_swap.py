"""Swapped words: exactly the share that was asked for leaves its place."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from preorder.analysis.swap import swapped_words, swaps
from preorder.data import Permutation

LENGTHS = st.lists(st.integers(0, 30), max_size=10)
SHARES = tuple(range(0, 101, 10))


@given(st.integers(0, 200), st.integers(0, 100))
def test_number_of_words_is_the_nearest_that_can_change_places(length, percent):
    share = Fraction(length * percent, 100)
    possible = [0, *range(2, length + 1)]
    nearest = min(possible, key=lambda k: (abs(k - share), -k))
    assert swapped_words(length, percent) == nearest


@given(LENGTHS, st.integers(0, 2**32))
def test_what_is_swapped(lengths, seed):
    rows = list(swaps(iter(lengths), SHARES, seed))
    assert len(rows) == len(lengths)
    for length, row in zip(lengths, rows, strict=True):
        before = set()
        for percent, permutation in zip(SHARES, row, strict=True):
            moved = {i for i, place in enumerate(permutation.positions) if i != place}
            assert len(moved) == swapped_words(length, percent)
            assert before <= moved
            before = moved
        assert row[0] == Permutation.identity(length)
    assert [row[3] for row in rows] == [one for (one,) in swaps(iter(lengths), SHARES[3:4], seed)]
