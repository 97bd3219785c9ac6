"""Gold orders: the paper's example, and a permutation whatever the alignment."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preorder.alignment.gold import STATISTICS, UNALIGNED_RULES, gold_permutation
from preorder.data import Alignment
from preorder.errors import DataError


def gold(links, length, *options):
    alignment = Alignment(frozenset(links))
    return gold_permutation(alignment, length, *options).positions


def test_worked_example_of_the_paper():
    """I like the pen that my father bought yesterday; "the" and "that" go with their heads."""
    target_of = {0: 0, 1: 9, 3: 8, 5: 2, 6: 3, 7: 6, 8: 4, 4: 7}
    assert gold(target_of.items(), 9, "right") == (0, 8, 6, 7, 5, 1, 2, 4, 3)


@pytest.mark.parametrize(
    ("unaligned", "positions"),
    [
        # a is unaligned, b → 2, c and d unaligned, e → 0, f unaligned
        ("left", (2, 3, 4, 5, 0, 1)),  # a has no left neighbour: it goes with b
        ("right", (4, 5, 0, 1, 2, 3)),  # f has no right one: it goes with e
        ("nearest", (3, 4, 5, 0, 1, 2)),
        ("keep", (0, 4, 2, 3, 1, 5)),
    ],
)
def test_unaligned_tokens(unaligned, positions):
    assert gold([(1, 2), (4, 0)], 6, unaligned) == positions


def test_a_tie_goes_left():
    assert gold([(0, 1), (2, 0)], 3, "nearest") == (1, 2, 0)


@pytest.mark.parametrize(("statistic", "positions"), [("mean", (1, 0)), ("min", (0, 1)), ("median", (0, 1))])
def test_statistics(statistic, positions):
    assert gold([(0, 0), (0, 1), (0, 9), (1, 2)], 2, "nearest", statistic) == positions


def test_the_median_of_an_even_number_of_targets_lies_between_the_middle_two():
    links = {(0, 0), (0, 1), (0, 5), (0, 9), (1, 2), (2, 4)}  # 3 stands between 2 and 4
    assert gold(links, 3, "nearest", "median") == (1, 0, 2)


def test_equal_tokens_keep_their_order():
    assert gold([(0, 3), (1, 3), (2, 3)], 3) == (0, 1, 2)


@pytest.mark.parametrize("length", [0, 1, 4])
def test_nothing_aligned(length):
    assert gold([], length) == tuple(range(length))


def test_link_out_of_range():
    with pytest.raises(DataError, match="link 3-0 is out of range"):
        gold([(3, 0)], 3)


@given(
    st.integers(1, 8).flatmap(
        lambda n: st.tuples(st.just(n), st.frozensets(st.tuples(st.integers(0, n - 1), st.integers(0, 6))))
    ),
    st.sampled_from(UNALIGNED_RULES),
    st.sampled_from(sorted(STATISTICS)),
)
def test_always_a_permutation_that_sorts_the_aligned_tokens(example, unaligned, statistic):
    length, links = example
    alignment = Alignment(links)
    order = gold_permutation(alignment, length, unaligned, statistic).order
    keys = [
        STATISTICS[statistic](targets)
        for targets in map(alignment.targets(length).__getitem__, order)
        if targets
    ]
    assert keys == sorted(keys)
    if unaligned == "keep":
        aligned = {i for i, _ in links}
        assert all(order[i] == i for i in range(length) if i not in aligned)
