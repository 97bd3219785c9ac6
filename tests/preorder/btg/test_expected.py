"""Sums over all trees and expected positions, against every tree, by scores with all terms."""

import numpy as np
import pytest

from preorder.btg.expected import expect
from preorder.btg.grammar import CONTEXTS, ROOT
from preorder.btg.scores import FORBIDDEN
from preorder.btg.sums import log_total
from preorder.compiled import entry_point
from tests.support.brute_force import BruteForce, by_scores, draw_scores


@entry_point
def sum_trees(scores, n, rate):
    return log_total(scores, n, rate)


@entry_point
def run_expect(scores, n, root, rate, positions):
    expect(scores, n, root, rate, positions)


def expected(scores, n, rate, root=ROOT):
    positions = np.empty(n)
    run_expect(scores, n, root, rate, positions)
    return positions


def twin(scores, n, rate, root=ROOT):
    """Return every tree, with its score by the temperature."""
    score = by_scores(scores)
    return BruteForce(n, lambda node: rate * score(node), root)


def by_pairs(inverted):
    """Return expected positions as they are defined, by the probabilities that i < j are inverted."""
    n = len(inverted)
    return [i - inverted[:i, i].sum() + inverted[i, i + 1 :].sum() for i in range(n)]


RATES = pytest.mark.parametrize("rate", [0.2, 1.0, 4.0])


@pytest.mark.parametrize("n", range(1, 7))
@RATES
def test_against_every_tree(n, rate):
    scores = draw_scores(n, 0)
    trees = twin(scores, n, rate)
    found = expected(scores, n, rate)
    np.testing.assert_allclose(found, by_pairs(trees.inversions()), atol=1e-6)
    assert found.sum() == pytest.approx(n * (n - 1) / 2)
    if n > 1:
        assert sum_trees(scores, n, rate) == pytest.approx(trees.log_partition())


@pytest.mark.parametrize("root", range(CONTEXTS))
def test_of_a_piece(root):
    scores = draw_scores(4, 1)
    expectation = by_pairs(twin(scores, 4, 1.0, root).inversions())
    np.testing.assert_allclose(expected(scores, 4, 1.0, root), expectation, atol=1e-6)


@pytest.mark.parametrize("n", [3, 6])
def test_a_low_temperature_leaves_the_best_tree(n):
    scores = draw_scores(n, 2)
    (_, best), *_ = twin(scores, n, 1.0).kbest(1)
    np.testing.assert_allclose(expected(scores, n, 200.0), np.argsort(best), atol=1e-6)


def test_a_high_temperature_makes_all_trees_alike():
    """By symmetry every token is then in the middle."""
    np.testing.assert_allclose(expected(draw_scores(7, 0), 7, 0.0), [3.0] * 7)


@pytest.mark.parametrize("n", [40, 150])
def test_long_sentences_with_great_scores(n):
    scores = draw_scores(n, 0)
    for rate in (0.1, 100.0):
        found = expected(scores, n, rate)
        assert found.min() >= 0
        assert found.max() <= n - 1
        assert found.sum() == pytest.approx(n * (n - 1) / 2)


def test_forbidden_nodes_have_no_share():
    scores = draw_scores(5, 0)
    scores.node[1] += FORBIDDEN  # inverted
    np.testing.assert_allclose(expected(scores, 5, 1.0), range(5), atol=1e-12)
