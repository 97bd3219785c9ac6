"""The order that gains most by its pairs, against every order."""

import numpy as np
import pytest

from preorder.btg.pairs import order_by_pairs
from preorder.compiled import entry_point
from tests.support.brute_force import BruteForce, inversions


@entry_point
def search(gains, positions):
    order_by_pairs(gains, positions)


def found(gains):
    positions = np.empty(len(gains), np.int32)
    search(gains, positions)
    return tuple(np.argsort(positions).tolist())


def gain(given, gains):
    inverted = inversions(given)
    return int(np.triu(np.where(inverted, -gains, gains), 1).sum())


@pytest.mark.parametrize("n", range(2, 7))
@pytest.mark.parametrize("seed", range(5))
def test_best_order_equals_brute_force(n, seed):
    gains = np.random.default_rng((n, seed)).integers(-64, 65, (n, n)).astype(np.int32)
    orders = {given for _, given in BruteForce(n, lambda _: 0.0).kbest(1000)}
    assert gain(found(gains), gains) == max(gain(given, gains) for given in orders)


def test_of_equal_orders_the_one_that_splits_leftmost():
    """1 belongs before 0 and before 2, as sure as can be; nothing says whether 0 belongs before 2."""
    gains = np.array([[0, -64, 0], [64, 0, 64], [0, -64, 0]], np.int32)
    assert found(gains) == (1, 2, 0)  # split before 1, and inverted; straight, split after it, is 1 0 2


def test_of_equal_labels_the_straight():
    assert found(np.zeros((5, 5), np.int32)) == (0, 1, 2, 3, 4)


def test_the_greatest_sums_are_exact():
    """256 tokens, the most that are attached to, with 64 draws; one pair more or less decides."""
    n = 256
    gains = np.full((n, n), -64, np.int32)
    gains[100, 101] = 2
    expected = [*range(n - 1, 101, -1), 100, 101, *range(99, -1, -1)]
    assert found(gains) == tuple(expected)
