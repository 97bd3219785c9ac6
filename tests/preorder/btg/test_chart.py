"""Searches and sums by the parts of nodes, against every tree, one by one."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from preorder.btg.chart import (  # noqa: E402
    PARTNER_WEIGHT,
    PREFERENCE,
    expected_agreement,
    expected_inversions,
    log_partition,
    marginals,
)
from preorder.btg.constraint import reachable  # noqa: E402
from preorder.btg.grammar import ROOT_CONTEXT  # noqa: E402
from preorder.btg.nbest import kbest_of_parts  # noqa: E402
from preorder.btg.scores import PARTS  # noqa: E402
from preorder.btg.viterbi import best_trees  # noqa: E402
from tests.support.brute_force import (  # noqa: E402
    BruteForce,
    agreement,
    by_parts,
    draw_parts,
    inversions,
    order,
    tree_of,
)

BATCH = 3


def draw(n):
    """Draw parts of sentences, and their twins."""
    parts = 2 * draw_parts(n, BATCH)
    return parts, [BruteForce(n, by_parts(one)) for one in parts]


def reachable_groups(n):
    """Draw groups of sentences that a tree can satisfy, some equal, some missing."""
    generator = np.random.default_rng(n)
    groups = []
    while len(groups) < BATCH:
        one = generator.integers(-1, n, n)
        if reachable(one.astype(np.int32)):
            groups.append(one)
    return np.array(groups)


def min_risk(parts, partner=None):
    return best_trees(expected_agreement(torch.from_numpy(parts), partner))


SIZES = pytest.mark.parametrize("n", range(2, 7))


@SIZES
def test_log_partition_of_all_trees_and_of_those_that_an_alignment_allows(n):
    parts, twins = draw(n)
    expected = [twin.log_partition() for twin in twins]
    np.testing.assert_allclose(log_partition(torch.from_numpy(parts)), expected)
    groups = reachable_groups(n)
    expected = [twin.log_partition(one.tolist()) for twin, one in zip(twins, groups, strict=True)]
    sums = log_partition(torch.from_numpy(parts), torch.from_numpy(groups))
    np.testing.assert_allclose(sums, expected)


@SIZES
def test_marginals(n):
    parts, twins = draw(n)
    expected = [twin.marginals() for twin in twins]
    np.testing.assert_allclose(marginals(torch.from_numpy(parts)), expected, atol=1e-9)


@SIZES
def test_expected_inversions_of_a_network_and_a_partner(n):
    parts, twins = draw(n)
    partner = np.array([np.random.default_rng((n, i)).permutation(n) for i in range(BATCH)], np.int32)
    own = np.array([twin.inversions() for twin in twins])
    np.testing.assert_allclose(expected_inversions(torch.from_numpy(parts)), own, atol=1e-6)
    theirs = np.array([inversions(np.argsort(positions)) for positions in partner])
    joint = (1 - PARTNER_WEIGHT) * own + PARTNER_WEIGHT * theirs
    np.testing.assert_allclose(expected_inversions(torch.from_numpy(parts), partner), joint, atol=1e-6)


@SIZES
@pytest.mark.parametrize("with_partner", [False, True])
def test_min_risk(n, with_partner):
    parts, twins = draw(n)
    partner = np.array([np.random.default_rng((n, i)).permutation(n) for i in range(BATCH)], np.int32)
    trees = min_risk(parts, partner if with_partner else None)
    for nodes, twin, theirs in zip(trees, twins, partner, strict=True):
        inverted = twin.inversions()
        if with_partner:
            share = inversions(np.argsort(theirs))
            inverted = (1 - PARTNER_WEIGHT) * inverted + PARTNER_WEIGHT * share
        best = max(agreement(given, inverted) for _, given in twin.kbest(1000))
        found = agreement(order(tree_of(nodes), 0, n), inverted)
        assert best - 3 * (n - 1) * PREFERENCE <= found <= best + 1e-6


@pytest.mark.parametrize("n", range(3, 6))
def test_min_risk_prefers_the_likeliest_tree_of_an_order(n):
    (parts,) = draw_parts(n, 1)
    found = tree_of(min_risk(parts[None])[0])
    likelihood = by_parts(BruteForce(n, by_parts(parts)).marginals())
    twin = BruteForce(n, likelihood)
    same = [i for i, tree in enumerate(twin.trees) if order(tree, 0, n) == order(found, 0, n)]
    assert len(same) > 1
    assert twin.trees[max(same, key=twin.scores.__getitem__)] == found


def test_a_single_token():
    parts = draw_parts(1, 2).astype(np.float32)
    assert best_trees(parts).shape == (2, 0, 5)
    ((score, nodes),) = kbest_of_parts(parts[0], ROOT_CONTEXT, 3)
    assert (score, nodes.tolist()) == (0, [])


@pytest.mark.parametrize("n", [*range(2, 6), pytest.param(6, marks=pytest.mark.slow)])
def test_gradients_against_finite_differences(n):
    parts = torch.from_numpy(draw_parts(n, BATCH)).requires_grad_()
    groups = torch.from_numpy(reachable_groups(n))
    assert torch.autograd.gradcheck(log_partition, (parts,))
    assert torch.autograd.gradcheck(lambda p: log_partition(p, groups), (parts,))


def test_long_sentences_stay_finite():
    """Sums of trees of many tokens, in single precision and with large scores."""
    parts = torch.randn((1, PARTS, 2, 121, 121), generator=torch.Generator().manual_seed(0)) * 20
    parts.requires_grad_()
    groups = torch.arange(120)[None].flip(1)
    value = log_partition(parts) - log_partition(parts, groups)
    value.sum().backward()
    assert value.item() > 0
    assert parts.grad.isfinite().all()
