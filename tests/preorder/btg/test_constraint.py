from itertools import product

import numpy as np
import pytest

from preorder.btg.constraint import Constraint, constraint, reachable
from preorder.data import Alignment
from tests.support.brute_force import trees, violations


def is_reachable(groups):
    return bool(reachable(np.array(groups, np.int32)))


@pytest.mark.parametrize("n", [3, 4])
def test_groups_with_ties_and_gaps(n):
    for groups in product(range(-1, n), repeat=n):
        expected = any(not violations(tree, groups) for tree in trees(0, n))
        assert is_reachable(groups) == expected, groups


@pytest.mark.parametrize(
    ("length", "links", "groups"),
    [
        (3, {(0, 2), (2, 0)}, [1, -1, 0]),  # a token without a link is free
        (4, {(0, 2), (1, 0), (2, 3), (3, 1)}, None),
        (3, {(0, 0), (0, 2), (1, 1)}, None),
    ],
)
def test_what_trees_can_satisfy(length, links, groups):
    found = constraint(Alignment(frozenset(links)), length)
    assert found is groups is None or found.groups.tolist() == groups


@pytest.mark.parametrize("seed", range(20))
def test_the_most_confident_tokens_that_a_tree_can_satisfy(seed):
    generator = np.random.default_rng(seed)
    confidences = generator.choice([0.25, 0.5, 1], 6, p=[0.4, 0.4, 0.2]).tolist()
    targets = generator.permutation(6).tolist()
    alignment = Alignment.weighted({(i, targets[i]): confidences[i] for i in range(6)})
    kept = [-1] * 6
    for i in sorted(range(6), key=lambda i: (-confidences[i], i)):
        tried = [*kept[:i], targets[i], *kept[i + 1 :]]
        if any(not violations(tree, tried) for tree in trees(0, 6)):
            kept = tried
    found = constraint(alignment, 6)
    ranks = {target: rank for rank, target in enumerate(sorted(set(kept) - {-1}))}
    assert found.groups.tolist() == [ranks.get(target, -1) for target in kept]
    assert found.confidences.tolist() == [c if k >= 0 else 1 for c, k in zip(confidences, kept, strict=True)]


def test_a_token_that_no_tree_can_satisfy_bars_no_other():
    """Tokens 1 to 4 ask for an order that no tree gives, so 4 is free; 0 has no order with it alone."""
    links = {(0, 3): 0.5, (0, 5): 0.5, (1, 2): 1, (2, 6): 1, (3, 0): 1, (4, 4): 0.75}
    found = constraint(Alignment.weighted(links), 5)
    assert found.groups.tolist() == [2, 1, 3, 0, -1]
    assert found.confidences.tolist() == [0.5, 1, 1, 1, 1]


def test_groups_are_drawn_by_their_confidence():
    """One threshold a sentence: what stays is the more confident, as often as its confidence says."""
    sentences, lengths = 4000, [2, 3]
    groups, confidences = [0, 1, 2, -1, 0], [0.25, 0.75, 1, 1, 0.5]
    whole = Constraint(np.array(groups * sentences, np.int32), np.array(confidences * sentences))
    drawn = whole.drawn(np.array(lengths * sentences), np.random.default_rng(1)).reshape(sentences, 5)
    assert drawn.dtype == np.int32
    stays = drawn == groups
    np.testing.assert_allclose(stays.mean(0), confidences, atol=0.03)
    assert ((drawn == groups) | (drawn == -1)).all()
    assert stays[stays[:, 0], 1].all()
    assert 0.1 < (stays[:, 1] & ~stays[:, 4]).mean() < 0.6  # another sentence has another threshold
    again = whole.drawn(np.array(lengths * sentences), np.random.default_rng(1))
    assert (again == drawn.ravel()).all()
