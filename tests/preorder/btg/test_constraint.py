from itertools import permutations, product

import numpy as np
import pytest

from preorder.btg.constraint import constraint, reachable
from preorder.data.errors import DataError
from preorder.data.types import Alignment
from tests.support.brute_force import order, trees, violations


def is_reachable(groups):
    return bool(reachable(np.array(groups, np.int32)))


@pytest.mark.parametrize(("n", "count"), [(1, 1), (2, 2), (3, 6), (4, 22), (5, 90), (6, 394)])
def test_number_of_reachable_orders(n, count):
    """The large Schröder numbers; what trees give and what ``reachable`` accepts are the same."""
    given = {order(tree, 0, n) for tree in trees(0, n)}
    accepted = {one for one in permutations(range(n)) if is_reachable(np.argsort(one))}
    assert given == accepted
    assert len(given) == count


@pytest.mark.parametrize("n", [3, 4])
def test_groups_with_ties_and_gaps(n):
    for groups in product(range(-1, n), repeat=n):
        expected = any(not violations(tree, groups) for tree in trees(0, n))
        assert is_reachable(groups) == expected, groups


def alignment(*targets):
    return Alignment(frozenset(enumerate(targets)))


def test_free_and_gold():
    links = Alignment(frozenset({(0, 2), (2, 0)}))
    assert constraint(links, 3, "free").tolist() == [1, -1, 0]
    assert constraint(links, 3, "gold").tolist() == [1, 2, 0]  # the unaligned token goes with the left


def test_unreachable():
    assert constraint(alignment(1, 3, 0, 2), 4, "free") is None
    assert constraint(alignment(2, 0, 3, 1), 4, "gold") is None


def test_unsortable():
    enclosing = Alignment(frozenset({(0, 0), (0, 2), (1, 1)}))
    assert constraint(enclosing, 2, "free") is None
    assert constraint(enclosing, 2, "gold").tolist() == [0, 1]  # by mean target, equal ones in source order


@pytest.mark.parametrize("unaligned", ["free", "gold"])
def test_link_out_of_range(unaligned):
    with pytest.raises(DataError, match="out of range"):
        constraint(alignment(0, 1, 2), 2, unaligned)
