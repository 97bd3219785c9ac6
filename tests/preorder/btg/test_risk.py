"""Probabilities of pairs, and the order that agrees best, against every tree."""

import itertools

import numpy as np
import pytest

from tests.support import naive_btg as naive

torch = pytest.importorskip("torch")

from preorder.btg.inside import marginals  # noqa: E402
from preorder.btg.risk import PREFERENCE, VOTE, agreement, inversions  # noqa: E402
from preorder.methods.neural.decode import all_positions, best_trees  # noqa: E402
from tests.support.brute_force import draw_parts, score  # noqa: E402


def inverted(order):
    """Return which tokens i < j an order inverts."""
    places = np.argsort(order)
    return np.triu(places[:, None] > places, 1)


def expected_inversions(parts):
    n = parts.shape[-1] - 1
    trees = list(naive.trees(0, n))
    weights = np.exp([score(parts, tree) for tree in trees])
    pairs = np.array([inverted(naive.order(tree, 0, n)) for tree in trees])
    return np.tensordot(weights / weights.sum(), pairs, 1)


@pytest.mark.parametrize("n", range(2, 7))
def test_inversions_equal_brute_force(n):
    parts = 2 * draw_parts(n, 2)
    for one, probabilities in zip(parts, inversions(marginals(parts)), strict=True):
        np.testing.assert_allclose(probabilities, expected_inversions(one), atol=1e-9)


@pytest.mark.parametrize("advised", [False, True])
@pytest.mark.parametrize("n", range(2, 7))
def test_best_order_agrees_best(n, advised):
    parts = 2 * draw_parts(n, 2)
    nodes, positions = np.empty((2, n, 5), np.int32), np.empty((2, n), np.int32)
    advice = np.array([np.random.default_rng(n).permutation(n), range(n)])
    scores = agreement(parts, torch.from_numpy(advice) if advised else None)
    best_trees(scores.float().numpy(), nodes)
    all_positions(nodes, positions)
    for one, agreed, tree, places, other in zip(
        parts, scores, nodes.tolist(), positions, advice, strict=True
    ):
        probabilities = expected_inversions(one)
        if advised:
            probabilities = (1 - VOTE) * probabilities + VOTE * inverted(np.argsort(other))

        def agreeing(order, probabilities=probabilities):
            pairs = inverted(order)
            return probabilities[pairs].sum() + (1 - probabilities)[np.triu(~pairs, 1)].sum()

        orders = {naive.order(tree, 0, n) for tree in naive.trees(0, n)}
        best = max(map(agreeing, orders))
        little = 3 * (n - 1) * PREFERENCE
        assert best - little <= agreeing(np.argsort(places)) <= best + 1e-6
        assert score(agreed, tree[:-1]) == pytest.approx(best - n * (n - 1) / 4, abs=little)


@pytest.mark.parametrize("n", range(3, 6))
def test_of_the_trees_of_an_order_the_likeliest(n):
    (parts,) = draw_parts(n, 1)
    nodes = np.empty((1, n, 5), np.int32)
    best_trees(agreement(parts[None]).float().numpy(), nodes)
    found = tuple(map(tuple, nodes[0, :-1].tolist()))
    (probabilities,) = marginals(parts[None])
    twins = [tree for tree in naive.trees(0, n) if naive.order(tree, 0, n) == naive.order(found, 0, n)]
    assert len(twins) > 1
    assert max(twins, key=lambda tree: score(probabilities, tree)) == found


def test_sure_trees_are_kept():
    """Where one tree has all the probability, its order is the one."""
    for seed, n in itertools.product(range(3), (4, 9)):
        parts = draw_parts(n, 1, seed).float()
        best, safest = np.empty((1, n, 5), np.int32), np.empty((1, n, 5), np.int32)
        best_trees(parts.numpy(), best)
        best_trees(agreement(parts * 200).numpy(), safest)
        places = np.empty((2, n), np.int32)
        all_positions(np.concatenate((best, safest)), places)
        np.testing.assert_array_equal(*places)
