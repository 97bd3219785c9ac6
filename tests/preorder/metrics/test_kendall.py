from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preorder.metrics.kendall import Concordance, concordance, tau, tau_nakagawa

vectors = st.lists(st.integers(-3, 12) | st.sampled_from([0.5, 1.5, 2.5]), max_size=40)


def pair_by_pair(y):
    pairs = list(combinations(y, 2))
    return Concordance(
        sum(a < b for a, b in pairs), sum(a > b for a, b in pairs), sum(a == b for a, b in pairs)
    )


@given(vectors)
def test_count_equals_pair_by_pair(y):
    assert concordance(y) == pair_by_pair(y)


@given(vectors)
def test_reversing_swaps_the_ordered_and_the_reversed(y):
    forward, backward = concordance(y), concordance(y[::-1])
    assert backward == (forward.discordant, forward.concordant, forward.tied)
    assert tau(backward, "half") == pytest.approx(-tau(forward, "half") if forward.pairs else 1)


@pytest.mark.parametrize(
    ("y", "wrong", "half", "right", "nakagawa"),
    [
        ([], 1, 1, 1, 1),
        ([5], 1, 1, 1, 1),
        ([0, 1, 2], 1, 1, 1, 1),
        ([2, 1, 0], -1, -1, -1, 0),
        ([1, 1, 1], -1, 0, 1, 1),  # equation 7's strict < takes a tie for an error, Google does not
        ([0, 2, 1], 1 / 3, 1 / 3, 1 / 3, 2 / 3),
        ([0, 0, 1], 1 / 3, 2 / 3, 1, 1),
        (
            [0, 8, 6, 7, 5, 1, 2, 4, 3],
            -2 / 9,
            -2 / 9,
            -2 / 9,
            7 / 18,
        ),  # the paper's example: 14 of 36 in order
    ],
)
def test_known_vectors(y, wrong, half, right, nakagawa):
    counts = concordance(y)
    assert tau(counts) == tau(counts, "wrong") == pytest.approx(wrong)
    assert tau(counts, "half") == pytest.approx(half)
    assert tau(counts, "right") == pytest.approx(right)
    assert tau_nakagawa(counts) == pytest.approx(nakagawa)


def test_long_vector_is_counted_exactly():
    n = 30_000  # n² pairs would take minutes in Python
    assert concordance(range(n, 0, -1)) == (0, n * (n - 1) // 2, 0)
