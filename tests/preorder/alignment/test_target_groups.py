import pytest
from hypothesis import given
from hypothesis import strategies as st

from preorder.alignment.gold import UNALIGNED, target_groups, trusted_groups
from preorder.data import Alignment
from preorder.errors import DataError


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


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ({(0, 3): 1, (0, 17): 0.3, (1, 4): 0.5}, ((0, 1), (1, 0.5))),  # a token's most confident links count
        ({(0, 3): 0.5, (0, 5): 0.5, (0, 0): 0.4, (1, 4): 0.4}, ((0, -1), (0.5, 1))),  # all of them
        ({(0, 0): 1, (0, 2): 1, (1, 1): 0.9}, ((0, -1), (1, 1))),  # without an order beside what is certain
        ({(0, 0): 0.5, (0, 2): 0.5, (1, 1): 0.9}, ((-1, 0), (1, 0.9))),  # the more confident one stays
        ({(0, 0): 0.5, (0, 2): 0.5, (1, 1): 0.5}, ((0, -1), (0.5, 1))),  # of equals the left one
        ({(0, 0): 1, (0, 2): 1, (1, 1): 1, (1, 5): 0.5}, None),
        ({(0, 7): 0.5, (1, 7): 1}, ((0, 0), (0.5, 1))),
    ],
)
def test_trusted(links, expected):
    assert trusted_groups(Alignment.weighted(links), 2) == expected


@given(st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 5)), st.sampled_from((0.3, 0.6, 1.0))))
def test_trusted_by_their_definition(links):
    best = [max((c for (i, _), c in links.items() if i == token), default=None) for token in range(6)]
    targets = [{j for (i, j), c in links.items() if i == token and c == best[token]} for token in range(6)]
    kept: list[int] = []
    for i in sorted((i for i in range(6) if targets[i]), key=lambda i: (-best[i], i)):
        if insertion_sort([targets[k] for k in (*kept, i)]) is not None:
            kept.append(i)
        elif best[i] == 1:
            assert trusted_groups(Alignment.weighted(links), 6) is None
            return
    ranks = insertion_sort([targets[i] if i in kept else set() for i in range(6)])
    confidences = tuple(best[i] if i in kept else 1 for i in range(6))
    assert trusted_groups(Alignment.weighted(links), 6) == (ranks, confidences)


def test_trusted_of_links_that_are_certain():
    links = frozenset({(0, 0), (0, 2), (1, 0)})
    assert trusted_groups(Alignment(links), 3) == ((1, 0, UNALIGNED), (1, 1, 1))
    assert trusted_groups(Alignment(links | {(1, 1), (2, 1)}), 3) is None
    assert trusted_groups(Alignment(frozenset()), 0) == ((), ())


@pytest.mark.parametrize("confidence", [0.5, 1])
def test_trusted_link_out_of_range(confidence):
    with pytest.raises(DataError, match="link 2-0 is out of range: the source has 2 tokens"):
        trusted_groups(Alignment.weighted({(2, 0): confidence}), 2)


def test_link_out_of_range():
    with pytest.raises(DataError, match="link 2-0 is out of range: the source has 2 tokens"):
        groups({(2, 0)}, 2)
