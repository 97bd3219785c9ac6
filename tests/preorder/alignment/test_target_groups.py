import pytest
from hypothesis import given
from hypothesis import strategies as st

from preorder.alignment.target_groups import UNALIGNED, target_groups
from preorder.data.errors import DataError
from preorder.data.types import Alignment


def groups(links, length):
    return target_groups(Alignment(frozenset(links)), length)


@pytest.mark.parametrize(
    ("links", "length", "expected"),
    [
        ({(0, 0), (1, 5), (1, 6), (3, 2), (4, 3), (5, 7)}, 6, (0, 3, -1, 1, 2, 4)),  # topdown-btg's README
        (set(), 0, ()),
        (set(), 2, (-1, -1)),  # nothing is known: every order will do
        ({(0, 4), (1, 4)}, 2, (0, 0)),  # same targets, same group
        ({(0, 0), (0, 2), (1, 0), (1, 1), (1, 2)}, 2, (0, 0)),  # only first and last count
        ({(0, 0), (0, 1), (1, 1), (1, 2)}, 2, (0, 1)),  # overlapping, yet in order
        ({(0, 0), (0, 2), (1, 1)}, 2, None),  # token 0 encloses token 1
        ({(0, 0), (0, 2), (1, 0)}, 2, (1, 0)),  # same first, earlier last
    ],
)
def test_known_cases(links, length, expected):
    assert groups(links, length) == expected


def insertion_sort(targets):
    """Rank by comparing each token with those before it, pair by pair: the definition itself."""

    def less_or_equal(a, b):
        return min(a) <= min(b) and max(a) <= max(b)

    aligned = [i for i, group in enumerate(targets) if group]
    for i in aligned:
        for j in aligned:
            if not less_or_equal(targets[i], targets[j]) and not less_or_equal(targets[j], targets[i]):
                return None

    def before(a, b):
        return less_or_equal(a, b) and not less_or_equal(b, a)

    result = [UNALIGNED] * len(targets)
    representatives = []
    for i in aligned:
        if not any(
            not before(targets[i], targets[j]) and not before(targets[j], targets[i]) for j in representatives
        ):
            representatives.append(i)
    for i in aligned:
        result[i] = sum(before(targets[j], targets[i]) for j in representatives)
    return tuple(result)


@given(st.lists(st.sets(st.integers(0, 4), max_size=2), max_size=5))
def test_equals_pairwise_definition(targets):
    links = {(i, j) for i, group in enumerate(targets) for j in group}
    assert groups(links, len(targets)) == insertion_sort(targets)


def test_link_out_of_range():
    with pytest.raises(DataError, match="link 2-0 is out of range: the source has 2 tokens"):
        groups({(2, 0)}, 2)
