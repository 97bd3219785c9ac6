"""Scores and search against every tree and every template, one by one."""

import numpy as np
import pytest

from preorder.btg.constraint import reachable
from preorder.btg.viterbi import FORBIDDEN, best_tree, group_bounds, penalise
from preorder.compiled import entry_point
from preorder.methods.perceptron.fast.scores import node_index, score_sentence, shape_scores
from preorder.methods.perceptron.features import CONTEXTS, LABELS, ROOT
from tests.support import naive_btg as naive

CASES = [(n, layers, seed) for n in range(2, 7) for layers in (1, 3) for seed in range(3)]


@entry_point
def search(tables, shape, tokens, n, root, groups, penalty):
    """Find the best tree where a node that violates the groups scores ``penalty`` more."""
    scores = score_sentence(tables, shape, tokens, n)
    penalise(group_bounds(groups), n, penalty, scores.node)
    nodes = np.empty((n - 1, 5), np.int32)
    total = best_tree(scores, n, root, nodes)
    return scores, total, nodes


def model(n, layers, seed):
    """Draw a sentence of few different tokens and a model that knows most of its features."""
    generator = np.random.default_rng((n, layers, seed))
    hashes = generator.integers(0, 2**64, (layers, 4), dtype=np.uint64)
    tokens = np.take_along_axis(hashes, generator.integers(0, 4, (layers, n + 2)), axis=1)
    return tokens, naive.NaiveModel(tokens, generator, share=0.6), generator


def found(tokens, reference, groups, penalty, root=ROOT):
    n = tokens.shape[1] - 2
    tables = reference.weights().tables()
    groups = np.array(groups, np.int32)
    scores, total, nodes = search(
        tables, shape_scores(tables.shape, n), tokens, n, root, groups, np.float32(penalty)
    )
    return scores, total, tuple(map(tuple, nodes.tolist()))


@pytest.mark.parametrize(("n", "layers", "seed"), CASES)
def test_scores_equal_naive_templates(n, layers, seed):
    tokens, reference, _ = model(n, layers, seed)
    scores, _, _ = found(tokens, reference, [-1] * n, 0)
    for begin in range(n):
        for end in range(begin + 2, n + 1):
            for split in range(begin + 1, end):
                for label in range(LABELS):
                    for context in range(CONTEXTS):
                        lane = context * LABELS + label
                        score = (
                            scores.node[label, node_index(split, end) + begin]
                            + scores.left[label, split, begin]
                            + scores.right[end, split, label]
                            + scores.span[begin, end, lane]
                            + scores.pivot[split, lane]
                        )
                        node = (begin, split, end, label, context)
                        assert score == pytest.approx(reference.score((node,)), abs=1e-3)


@pytest.mark.parametrize(("n", "layers", "seed"), CASES)
def test_best_tree_equals_brute_force(n, layers, seed):
    tokens, reference, _ = model(n, layers, seed)
    _, total, tree = found(tokens, reference, [-1] * n, 0)
    expected = max(naive.trees(0, n), key=reference.score)
    assert tree == expected
    assert total == pytest.approx(reference.score(expected), abs=1e-3)


@pytest.mark.parametrize("n", [8, 9, 17, 26])
def test_best_score_of_long_sentences_equals_naive_recursion(n):
    """More begins than a vector has, and tokens that occur again and again."""
    tokens, reference, _ = model(n, 2, n)
    _, total, tree = found(tokens, reference, [-1] * n, 0)
    assert total == pytest.approx(naive.best_score(reference, n), abs=1e-2)
    assert reference.score(tree) == pytest.approx(total, abs=1e-2)


@pytest.mark.parametrize("root", range(CONTEXTS))
def test_best_part_of_a_longer_sentence(root):
    tokens, reference, _ = model(4, 2, 0)
    _, _, tree = found(tokens, reference, [-1] * 4, 0, root)
    assert tree == max(naive.trees(0, 4, root), key=reference.score)


def reachable_groups(generator, n):
    """Draw groups, some of them equal, some missing, that a tree can satisfy."""
    while True:
        groups = generator.integers(-1, n, n)
        if reachable(groups.astype(np.int32)):
            return groups.tolist()


@pytest.mark.parametrize(("n", "layers", "seed"), CASES)
def test_oracle_equals_brute_force(n, layers, seed):
    tokens, reference, generator = model(n, layers, seed)
    groups = reachable_groups(generator, n)
    _, total, tree = found(tokens, reference, groups, FORBIDDEN)
    valid = (tree for tree in naive.trees(0, n) if not naive.violations(tree, groups))
    expected = max(valid, key=reference.score)
    assert tree == expected
    assert total == pytest.approx(reference.score(expected), abs=1e-3)


@pytest.mark.parametrize(("n", "layers", "seed"), CASES)
def test_loss_augmented_equals_brute_force(n, layers, seed):
    tokens, reference, generator = model(n, layers, seed)
    groups, cost = generator.integers(-1, n, n).tolist(), 2.5
    _, total, tree = found(tokens, reference, groups, cost)

    def augmented(tree):
        return reference.score(tree) + cost * naive.violations(tree, groups)

    expected = max(naive.trees(0, n), key=augmented)
    assert augmented(tree) == pytest.approx(augmented(expected), abs=1e-3)
    assert total == pytest.approx(augmented(expected), abs=1e-3)
