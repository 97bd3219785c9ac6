"""Reorderings: checks when made, and the paper's worked example."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preorder.data.permutation import Permutation
from preorder.errors import DataError

permutations = st.integers(0, 12).flatmap(lambda n: st.permutations(range(n)))


def test_worked_example_of_the_paper():
    """Kawara et al. 2021, Figure 6."""
    words = "I like the pen that my father bought yesterday".split()
    permutation = Permutation((0, 8, 6, 7, 5, 1, 2, 4, 3))
    assert " ".join(permutation.apply(words)) == "I my father yesterday bought that the pen like"
    assert permutation.order == (0, 5, 6, 8, 7, 4, 2, 3, 1)


@given(permutations)
def test_order_and_positions_are_inverse(numbers):
    permutation = Permutation(tuple(numbers))
    assert Permutation.from_order(permutation.order) == permutation
    assert [permutation.positions[i] for i in permutation.order] == list(range(len(numbers)))


@pytest.mark.parametrize("numbers", [(1,), (0, 0), (0, 2), (-1, 0)])
def test_not_a_permutation(numbers):
    with pytest.raises(DataError, match="not a permutation"):
        Permutation(numbers)
    with pytest.raises(DataError, match="not a permutation"):
        Permutation.from_order(numbers)


def test_a_long_line_is_cut_short_in_the_message():
    with pytest.raises(DataError, match=r"^not a permutation of 0 … 99: (0 ){30} …$"):
        Permutation((0,) * 100)
