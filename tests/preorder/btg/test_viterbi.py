"""The search for the best tree against every tree, by scores with all terms."""

import numpy as np
import pytest

from preorder.btg.constraint import group_bounds, penalise, reachable
from preorder.btg.grammar import CONTEXTS, NODE_FIELDS, ROOT_CONTEXT
from preorder.btg.scores import FORBIDDEN
from preorder.btg.viterbi import best_tree
from preorder.compiled import entry_point
from tests.support.brute_force import (
    BruteForce,
    best_score,
    by_scores,
    draw_scores,
    order,
    tree_of,
    violations,
)


@entry_point
def search(scores, n, root, groups, penalty):
    """Find the best tree where a node that violates the groups scores ``penalty`` more."""
    penalise(group_bounds(groups), n, penalty, scores.node)
    nodes = np.empty((n - 1, NODE_FIELDS), np.int32)
    return best_tree(scores, n, root, nodes), nodes


def found(scores, n, root=ROOT_CONTEXT, groups=None, penalty=0.0):
    """Return the score and the tree; without groups, of the plain search."""
    groups = np.array([-1] * n if groups is None else groups, np.int32)
    copies = scores._replace(node=scores.node.copy())
    total, nodes = search(copies, n, root, groups, np.float32(penalty))
    return total, tree_of(nodes)


@pytest.mark.parametrize("n", [8, 9, 17, 26])
def test_best_score_of_long_sentences_equals_naive_recursion(n):
    """More begins than a vector has."""
    scores = draw_scores(n, 0)
    total, tree = found(scores, n)
    assert total == pytest.approx(best_score(by_scores(scores), n), abs=1e-2)
    assert sum(map(by_scores(scores), tree)) == pytest.approx(total, abs=1e-2)


@pytest.mark.parametrize(
    ("n", "seed", "root"),
    [
        *((n, seed, ROOT_CONTEXT) for n in range(2, 7) for seed in range(3)),
        *((4, 0, r) for r in range(CONTEXTS)),
    ],
)
@pytest.mark.parametrize("cost", [0.0, 2.5, float(FORBIDDEN)])
def test_best_and_loss_augmented_and_oracle(n, seed, root, cost):
    """By groups some of which are equal, some missing; the oracle violates none of them."""
    scores, generator = draw_scores(n, seed), np.random.default_rng((n, seed))
    groups = generator.integers(-1, n, n).tolist()
    while cost < 0 and not reachable(np.array(groups, np.int32)):
        groups = generator.integers(-1, n, n).tolist()
    twin = BruteForce(n, by_scores(scores), root)
    augmented = [s + cost * violations(t, groups) for s, t in zip(twin.scores, twin.trees, strict=True)]
    total, tree = found(scores, n, root, groups, cost)
    assert augmented[twin.trees.index(tree)] == pytest.approx(max(augmented), abs=1e-3)
    assert total == pytest.approx(max(augmented), abs=1e-3)


def test_of_equal_trees_the_straight_then_the_leftmost():
    zeros = draw_scores(5, 0)._make(map(np.zeros_like, draw_scores(5, 0)))
    _, tree = found(zeros, 5)
    assert order(tree, 0, 5) == tuple(range(5))
    assert [split for _, split, *_ in tree] == [1, 2, 3, 4]
