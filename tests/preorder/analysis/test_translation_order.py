"""The order of translations by links, against scipy's tau and by hand."""

from itertools import combinations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from preorder.analysis.translation_order import (
    BLIND_SPOTS,
    agreement,
    diagnose_orders,
    order_table,
    order_verdict,
)
from preorder.data import Alignment
from preorder.errors import UsageError

RANKS = st.lists(st.integers(-1, 4), min_size=6, max_size=6)


@given(RANKS, RANKS)
@example([3, 1, 0, 2, 5, 4], [0, 2, 1, 5, 4, 3])
def test_only_pairs_count_that_both_link_and_neither_ties(one, other):
    """Of orders without ties it is Kendall's tau."""
    signs = []
    for i, j in combinations(range(6), 2):
        if min(one[i], one[j], other[i], other[j]) >= 0 and one[i] != one[j] and other[i] != other[j]:
            signs.append(1 if (one[i] < one[j]) == (other[i] < other[j]) else -1)
    expected = sum(signs) / len(signs) if signs else None
    assert agreement(one, other) == pytest.approx(expected)
    if len(signs) == 15:
        assert expected == pytest.approx(kendalltau(one, other).statistic)
    assert agreement(None, other) is None


def links(*targets):
    return Alignment(frozenset((i, j) for i, j in enumerate(targets) if j is not None))


def test_systems_and_people():
    """Of three sentences a system turns one round, and a person another; in the third a word has no link."""
    straight, turned, partial = links(0, 1, 2), links(2, 1, 0), links(0, None, 1)
    system, person = [turned, straight, partial], [straight, turned, straight]
    found = diagnose_orders([3, 3, 3], [person], {"one": [system], "same": [person, system]})
    assert found["one"] == pytest.approx(
        {"linked": 8 / 9, "tau": 1 / 3, "in_order": 2 / 3, "tau_human": -1 / 3, "differs": 2 / 3}
    )
    assert found["reference"] == pytest.approx({"linked": 1, "tau": 1 / 3, "in_order": 2 / 3})
    assert found["same"]["differs"] == pytest.approx((0 + 2 / 3) / 2)  # the mean of two runs
    text = "one orders 67% of the sentences otherwise than the reference, which itself departs from the "
    assert order_verdict("one", found) == text + "source's order in 33%."
    table = order_table(found)
    assert [row[0] for row in table.rows] == ["reference", "one", "same"]
    assert (table.rows[0][-1], table.rows[1][-1], table.note) == ("", "66.7%", BLIND_SPOTS)


def test_of_several_references_the_nearest_counts():
    straight, turned = [links(0, 1)], [links(1, 0)]
    found = diagnose_orders([2], [turned, straight], {"one": [straight]})
    assert (found["one"]["differs"], found["reference"]["in_order"]) == (0, 0.5)


def test_without_a_reference_the_source_is_compared():
    found = diagnose_orders([2], [], {"one": [[links(1, 0)]]})
    assert found == {"one": {"linked": 1, "tau": -1, "in_order": 0}}
    assert order_verdict("one", found) == "one keeps the source's order in 0% of the sentences."
    assert "reference" not in " ".join(order_table(found).columns)


def test_a_system_that_is_called_like_the_reference():
    with pytest.raises(UsageError, match="no system can be called 'reference'"):
        diagnose_orders([2], [[links(1, 0)]], {"reference": [[links(1, 0)]]})
