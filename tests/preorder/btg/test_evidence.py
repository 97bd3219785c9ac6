"""Constraints of doubtful links against every tree, one by one: the searches of the perceptron, and sums."""

import numpy as np
import pytest

from preorder.btg.constraint import Constraint, reachable
from preorder.btg.scores import Scores
from preorder.compiled import entry_point
from preorder.methods.perceptron.fast.training import _loss, _weighted_loss
from tests.support.brute_force import (
    BruteForce,
    by_parts,
    by_scores,
    draw_parts,
    draw_scores,
    evidence,
    tree_of,
)

COST = 1.5
SIZES = pytest.mark.parametrize("n", range(2, 7))
CASES = 40


@entry_point
def weighted_loss(scores, groups, evidence, cost, predicted, oracle):
    return _weighted_loss(scores, groups, evidence, cost, predicted, oracle)


@entry_point
def hard_loss(scores, groups, cost, predicted, oracle):
    return _loss(scores, groups, cost, predicted, oracle)


def draw(n, seed, certain):
    """Draw groups, some equal, some missing, and confidences; those that are certain can be satisfied."""
    generator = np.random.default_rng((n, seed))
    while True:
        groups = generator.integers(-1, n, n)
        confidences = np.where(generator.random(n) < certain, 1, generator.uniform(0.05, 0.99, n))
        if reachable(np.where(confidences == 1, groups, -1).astype(np.int32)):
            return groups.tolist(), confidences.tolist()


def copy(scores):
    return Scores(*(term.copy() for term in scores))


def nodes(n):
    return np.zeros((2, n - 1, 5), np.int32)


@SIZES
@pytest.mark.parametrize("certain", [0, 0.4])
def test_prediction_oracle_and_loss(n, certain):
    losses = []
    for case in range(CASES):
        groups, confidences = draw(n, case, certain)
        scores = draw_scores(n, case)
        twin = BruteForce(n, by_scores(scores))
        ks, faults = np.array([evidence(tree, groups, confidences) for tree in twin.trees]).T
        fear, hope = np.array(twin.scores) + COST * faults, np.array(twin.scores) - COST * ks
        prediction, oracle = np.argmax(fear), np.argmax(hope)
        found = nodes(n)
        loss = weighted_loss(scores, *Constraint.of(groups, confidences), COST, *found)
        assert loss == pytest.approx(fear[prediction] - fear[oracle], abs=1e-4)
        assert tree_of(found[0]) == twin.trees[prediction]
        if loss > 0:
            assert tree_of(found[1]) == twin.trees[oracle]
            losses.append(loss)
    assert losses


@SIZES
def test_where_all_is_certain_it_is_what_it_was(n):
    for case in range(CASES):
        groups, _ = draw(n, case, 1)
        scores = draw_scores(n, case)
        weighted, hard = nodes(n), nodes(n)
        constraint = Constraint.of(groups, [1.0] * n)
        given = weighted_loss(copy(scores), *constraint, COST, *weighted)
        assert given == hard_loss(scores, constraint.groups, COST, *hard)
        assert (weighted == hard).all()


def test_confidence_is_continuous_up_to_certainty():
    """What is all but certain costs all but what is certain, and a confidence of next to nothing nothing."""
    scores = draw_scores(5, 3)
    groups = [4, 3, 2, 1, 0]
    certain = hard_loss(copy(scores), Constraint.of(groups).groups, COST, *nodes(5))
    assert certain > 0
    constraint = Constraint.of(groups, [1 - 1e-15] * 5)
    assert weighted_loss(copy(scores), *constraint, COST, *nodes(5)) == pytest.approx(certain, rel=1e-5)
    constraint = Constraint.of(groups, [1e-30] * 5)
    assert weighted_loss(scores, *constraint, COST, *nodes(5)) == pytest.approx(0, abs=1e-5)


def batch_of(n, certain, size=4):
    drawn = [Constraint.of(*draw(n, case, certain)) for case in range(size)]
    groups, weights = (np.array(part) for part in zip(*drawn, strict=True))
    return draw_parts(n, size), groups.astype(np.int64), weights


@SIZES
@pytest.mark.parametrize("certain", [0, 0.4, 1])
def test_log_partition(n, certain):
    torch = pytest.importorskip("torch")
    from preorder.btg.chart import Chart

    parts, groups, weights = batch_of(n, certain)
    chart = Chart(torch.from_numpy(parts))
    found = chart.log_partition(torch.from_numpy(groups), torch.from_numpy(weights))
    for case, one in enumerate(found):
        twin = BruteForce(n, by_parts(parts[case]))
        given = draw(n, case, certain)
        scores = [s - evidence(t, *given)[0] for s, t in zip(twin.scores, twin.trees, strict=True)]
        assert float(one) == pytest.approx(np.logaddexp.reduce(scores), rel=1e-6)
    if certain == 1:
        assert torch.equal(found, chart.log_partition(torch.from_numpy(groups)))


@pytest.mark.parametrize("n", [3, 6])
def test_gradients_against_finite_differences(n):
    torch = pytest.importorskip("torch")
    from preorder.btg.inside import log_partition

    parts, groups, weights = map(torch.from_numpy, batch_of(n, 0.4, 2))
    parts.requires_grad_()
    assert torch.autograd.gradcheck(lambda p: log_partition(p, groups, weights), (parts,))
