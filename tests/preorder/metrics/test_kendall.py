"""Pairs counted by the compiled function and one by one."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from preorder.metrics.orders import count_pairs


@given(st.lists(st.integers(0, 12), max_size=40))
def test_count_equals_pair_by_pair(ranks):
    pairs = list(combinations(ranks, 2))
    expected = (sum(a < b for a, b in pairs), sum(a > b for a, b in pairs), sum(a == b for a, b in pairs))
    assert count_pairs(np.array(ranks, np.int64), 13) == expected


def test_long_vector_is_counted_exactly():
    n = 30_000  # n² pairs would take minutes in Python
    assert count_pairs(np.arange(n)[::-1], n) == (0, n * (n - 1) // 2, 0)
