"""Tau as a metric, and gains in it, against equation 7 counted out."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preorder.data import Permutation
from preorder.errors import DataError
from preorder.metrics.orders import Tau


def brute_force(keys, permutation):
    """Pairs in strictly ascending order, on a scale of -1 to 1."""
    read = [key for key in permutation.apply(keys) if key >= 0]
    pairs = list(combinations(read, 2))
    return 2 * sum(a < b for a, b in pairs) / len(pairs) - 1 if pairs else 1.0


@st.composite
def sentences(draw):
    length = draw(st.integers(1, 7))
    groups = draw(st.integers(1, length))
    raw = draw(st.lists(st.integers(-1, groups - 1), min_size=length, max_size=length))
    ranks = {key: rank for rank, key in enumerate(sorted(set(raw) - {-1}))} | {-1: -1}
    return tuple(ranks[key] for key in raw), Permutation(tuple(draw(st.permutations(range(length)))))


@given(st.lists(sentences(), min_size=1, max_size=6))
def test_tau_and_gain(rows):
    keys, orders = zip(*rows, strict=True)
    known = [None if k % 3 == 2 else row for k, row in enumerate(keys)]
    tau = Tau(known)
    statistics = tau.statistics(orders)
    expected = [brute_force(*row) for k, row in enumerate(rows) if known[k] is not None]
    assert tau.score(statistics.sum(0)) == pytest.approx(np.mean(expected))
    for k, (gain, (row, order)) in enumerate(zip(tau.gains(orders), rows, strict=True)):
        if known[k] is None:
            assert np.isnan(gain)
        else:
            kept = Permutation.identity(len(row))
            assert gain == pytest.approx(brute_force(row, order) - brute_force(row, kept))


def test_nothing_to_measure():
    with pytest.raises(DataError, match="none of 2 alignments can be sorted"):
        Tau([None, None])
    tau = Tau([None, (0, 1)])
    rows = tau.statistics([Permutation.identity(3), Permutation.identity(2)])
    assert np.isnan(tau.score(rows[0]))
    assert tau.score(rows.sum(0)) == 1


def test_target_groups_and_positions_differ():
    with pytest.raises(DataError, match="more or fewer target groups than positions"):
        Tau([(0, 1)]).statistics([Permutation.identity(3)])
