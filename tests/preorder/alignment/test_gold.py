"""Gold orders and target groups: examples, and definitions written out."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preorder.alignment.gold import (
    UNALIGNED,
    gold_permutation,
    target_groups,
    trusted_groups,
)
from preorder.data import Alignment
from preorder.errors import DataError

# I like the pen that my father bought yesterday:
PAPER = {(0, 0), (1, 9), (3, 8), (5, 2), (6, 3), (7, 6), (8, 4), (4, 7)}
MIDDLE = {(0, 0), (0, 1), (0, 5), (0, 9), (1, 2), (2, 4)}
SKEWED = {(0, 0), (0, 1), (0, 9), (1, 2)}
GAPS = {(1, 2), (4, 0)}


@pytest.mark.parametrize(
    ("links", "length", "options", "positions"),
    [
        (PAPER, 9, ("right",), (0, 8, 6, 7, 5, 1, 2, 4, 3)),  # "the" and "that" go with their heads
        (GAPS, 6, ("left",), (2, 3, 4, 5, 0, 1)),  # the first has no left neighbour: it goes with the second
        (GAPS, 6, ("right",), (4, 5, 0, 1, 2, 3)),  # the last has no right one
        (GAPS, 6, ("nearest",), (3, 4, 5, 0, 1, 2)),
        (GAPS, 6, ("keep",), (0, 4, 2, 3, 1, 5)),
        ({(0, 1), (2, 0)}, 3, ("nearest",), (1, 2, 0)),  # of two equally near tokens the left
        (SKEWED, 2, ("nearest", "mean"), (1, 0)),
        (SKEWED, 2, ("nearest", "min"), (0, 1)),
        (SKEWED, 2, ("nearest", "median"), (0, 1)),
        (MIDDLE, 3, ("nearest", "median"), (1, 0, 2)),  # 3, between the middle two, stands between 2 and 4
        ({(0, 3), (1, 3), (2, 3)}, 3, (), (0, 1, 2)),  # equal ones keep their order
        (set(), 0, (), ()),
        (set(), 4, (), (0, 1, 2, 3)),
    ],
)
def test_gold_orders(links, length, options, positions):
    assert gold_permutation(Alignment(frozenset(links)), length, *options).positions == positions


def groups(links, length):
    return target_groups(Alignment(frozenset(links)), length)


def test_the_example_of_topdown_btg():
    assert groups({(0, 0), (1, 5), (1, 6), (3, 2), (4, 3), (5, 7)}, 6) == (0, 3, -1, 1, 2, 4)


def by_definition(targets):
    """Rank by comparing each two tokens: None where one begins before the other and ends after it."""
    extents = [(min(group), max(group)) if group else None for group in targets]
    known = {extent for extent in extents if extent}
    if any((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in combinations(known, 2)):
        return None
    return tuple(UNALIGNED if e is None else sum(other < e for other in known) for e in extents)


@given(st.lists(st.sets(st.integers(0, 4), max_size=2), max_size=5))
def test_equals_pairwise_definition(targets):
    links = {(i, j) for i, group in enumerate(targets) for j in group}
    assert groups(links, len(targets)) == by_definition(targets)


@given(st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 5)), st.sampled_from((0.3, 0.6, 1.0))))
def test_trusted_by_their_definition(links):
    best = [max((c for (i, _), c in links.items() if i == token), default=None) for token in range(6)]
    targets = [{j for (i, j), c in links.items() if i == token and c == best[token]} for token in range(6)]
    kept: list[int] = []
    for i in sorted((i for i in range(6) if targets[i]), key=lambda i: (-best[i], i)):
        if by_definition([targets[k] for k in (*kept, i)]) is not None:
            kept.append(i)
        elif best[i] == 1:
            assert trusted_groups(Alignment.weighted(links), 6) is None
            return
    ranks = by_definition([targets[i] if i in kept else set() for i in range(6)])
    confidences = tuple(best[i] if i in kept else 1 for i in range(6))
    assert trusted_groups(Alignment.weighted(links), 6) == (ranks, confidences)


def test_only_sure_links_count():
    alignment = Alignment(frozenset({(0, 1), (1, 0)}), possible=frozenset({(0, 0), (1, 1), (2, 0)}))
    assert gold_permutation(alignment, 3, "keep").positions == (1, 0, 2)
    assert target_groups(alignment, 3) == (1, 0, UNALIGNED)
    assert trusted_groups(alignment, 3) == ((1, 0, UNALIGNED), (1, 1, 1))


@pytest.mark.parametrize("order_of", [gold_permutation, target_groups, trusted_groups])
@pytest.mark.parametrize("confidence", [0.5, 1])
def test_link_out_of_range(order_of, confidence):
    with pytest.raises(DataError, match="link 2-0 is out of range: the source has 2 tokens"):
        order_of(Alignment.weighted({(2, 0): confidence}), 2)
