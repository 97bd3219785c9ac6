"""Sums over all trees, and the share of each node in them, against every tree, by scores with all terms."""

from math import prod

import numpy as np
import pytest

from preorder.btg.grammar import CONTEXTS, INVERTED, LABELS, LEFT, RIGHT, ROOT
from preorder.btg.scores import FORBIDDEN
from preorder.btg.sums import all_sums, label_weights, log_total, node_weights
from preorder.compiled import entry_point, inner
from tests.support.brute_force import BruteForce, by_scores, draw_scores


@entry_point
def sum_trees(scores, n, rate):
    return log_total(scores, n, rate)


@inner
def fill_shares(scores, sums, rate, item, shares):
    """Write the share of each node of a span among its trees: ``[split, label]``."""
    b, e, context = item
    weights = np.empty((LABELS, e - b))
    node_weights(scores, sums, rate, b, e, weights)
    _, of_labels = label_weights(scores, sums, rate, item, weights)
    for label in range(LABELS):
        for m in range(b + 1, e):
            of_splits = weights[label, m - b - 1] * sums.factor[context, label, m]
            shares[m, label] = of_labels[label] * of_splits


@entry_point
def fill_all_shares(scores, n, rate, shares):
    sums = all_sums(scores, n, rate)
    for e in range(2, n + 1):
        for b in range(e - 1):
            for context in range(CONTEXTS):
                fill_shares(scores, sums, rate, (b, e, context), shares[b, e, context])


@entry_point
def fill_nodes(scores, n, rate, nodes):
    """Write how probably the node that splits at each place has each label: ``[m, label]``."""
    sums, shares = all_sums(scores, n, rate), np.zeros((n + 1, LABELS))
    spans = np.zeros((CONTEXTS, n + 1, n + 1))
    spans[ROOT, 0, n] = 1
    for e in range(n, 1, -1):
        for b in range(e - 1):
            for context in range(CONTEXTS):
                fill_shares(scores, sums, rate, (b, e, context), shares)
                for label in range(LABELS):
                    for m in range(b + 1, e):
                        probability = spans[context, b, e] * shares[m, label]
                        spans[label * 2 + LEFT, b, m] += probability
                        spans[label * 2 + RIGHT, m, e] += probability
                        nodes[m, label] += probability


def shares_of(scores, n, rate):
    """Return the share of each node among the trees of its span, ``[b, e, context, m, label]``."""
    shares = np.zeros((n + 1, n + 1, CONTEXTS, n + 1, LABELS))
    fill_all_shares(scores, n, rate, shares)
    return shares


def products(scores, n, rate, trees):
    """Return the probability of each tree: the product of the shares of its nodes."""
    shares = shares_of(scores, n, rate)
    return [prod(shares[b, e, context, m, label] for b, m, e, label, context in tree) for tree in trees]


def twin(scores, n, rate, root=ROOT):
    """Return every tree, with its score by the temperature."""
    score = by_scores(scores)
    return BruteForce(n, lambda node: rate * score(node), root)


@pytest.mark.parametrize("n", range(2, 7))
@pytest.mark.parametrize("rate", [0.2, 1.0, 4.0])
def test_against_every_tree(n, rate):
    scores = draw_scores(n, 0)
    trees = twin(scores, n, rate)
    np.testing.assert_allclose(products(scores, n, rate, trees.trees), trees.probabilities(), atol=1e-9)
    assert sum_trees(scores, n, rate) == pytest.approx(trees.log_partition())


@pytest.mark.parametrize("root", range(CONTEXTS))
def test_of_a_piece(root):
    scores = draw_scores(4, 1)
    trees = twin(scores, 4, 1.0, root)
    np.testing.assert_allclose(products(scores, 4, 1.0, trees.trees), trees.probabilities(), atol=1e-9)


@pytest.mark.parametrize("n", [3, 6])
def test_a_low_temperature_leaves_the_best_tree(n):
    scores = draw_scores(n, 2)
    best = twin(scores, n, 1.0).argmax()
    assert products(scores, n, 200.0, [best]) == pytest.approx([1], abs=1e-6)


def test_a_high_temperature_makes_all_trees_alike():
    scores = draw_scores(7, 0)
    trees = twin(scores, 7, 0.0).trees
    np.testing.assert_allclose(products(scores, 7, 0.0, trees), 1 / len(trees))


@pytest.mark.parametrize("n", [40, 150])
def test_long_sentences_with_great_scores(n):
    """Whatever the scores, a tree splits once between every two tokens."""
    scores = draw_scores(n, 0)
    for rate in (0.1, 100.0):
        nodes = np.zeros((n + 1, LABELS))
        fill_nodes(scores, n, rate, nodes)
        assert nodes.min() >= 0
        np.testing.assert_allclose(nodes[1:n].sum(1), 1)
        assert np.isfinite(sum_trees(scores, n, rate))


def test_forbidden_nodes_have_no_share():
    scores = draw_scores(5, 0)
    scores.node[INVERTED] += FORBIDDEN
    assert shares_of(scores, 5, 1.0)[..., INVERTED].max() < 1e-12
