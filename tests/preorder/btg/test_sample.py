"""Drawn trees, against the exact probabilities of all trees."""

import numpy as np
import pytest
from scipy.stats import kstest

from preorder.btg.chart import Chart
from preorder.btg.draws import random_numbers
from preorder.btg.grammar import CONTEXTS, INVERTED, NODE_FIELDS, ROOT
from preorder.btg.sample import draw_tree
from preorder.btg.scores import FORBIDDEN
from preorder.compiled import entry_point
from preorder.data.types import BinaryTree, Node
from tests.support.brute_force import BruteForce, by_parts, by_scores, draw_parts, draw_scores, tree_of
from tests.support.drawn import check_frequencies

DRAWS = 20_000


@entry_point
def draw_all(scores, root, rate, uniforms, trees):
    for k in range(trees.shape[0]):
        draw_tree(scores, root, rate, uniforms[k], trees[k])


def drawn(scores, n, rate, root=ROOT, uniforms=None):
    if uniforms is None:
        uniforms = np.random.default_rng(n).random((DRAWS, n))
    trees = np.empty((len(uniforms), n - 1, NODE_FIELDS), np.int32)
    draw_all(scores, root, rate, uniforms, trees)
    return list(map(tree_of, trees))


def check_trees(found, twin):
    check_frequencies(found, dict(zip(twin.trees, twin.probabilities(), strict=True)))


@pytest.mark.parametrize("n", range(2, 6))
@pytest.mark.parametrize("rate", [0.5, 2.0])
def test_frequencies_are_probabilities(n, rate):
    scores = draw_scores(n, 0)
    score = by_scores(scores)
    check_trees(drawn(scores, n, rate), BruteForce(n, lambda node: rate * score(node)))


@pytest.mark.parametrize("root", range(CONTEXTS - 1))
def test_frequencies_of_a_piece(root):
    scores = draw_scores(3, 0)
    check_trees(drawn(scores, 3, 1.0, root), BruteForce(3, by_scores(scores), root))


def test_frequencies_of_a_chart():
    parts = draw_parts(4, 2).astype(np.float32)
    for one in parts:
        chart = Chart(np.repeat(one[None], DRAWS, 0))
        trees = chart.draw(np.random.default_rng(0).random((DRAWS, 4)))
        check_trees(list(map(tree_of, trees)), BruteForce(4, by_parts(one.astype(np.float64))))
    assert Chart(draw_parts(1, 3).astype(np.float32)).draw(np.zeros((3, 1))).shape == (3, 0, NODE_FIELDS)


@pytest.mark.parametrize("n", [3, 6])
def test_a_low_temperature_leaves_the_best_tree(n):
    scores = draw_scores(n, 2)
    best = BruteForce(n, by_scores(scores)).argmax()
    assert set(drawn(scores, n, 200.0)[:500]) == {best}


@pytest.mark.parametrize("n", [40, 150])
@pytest.mark.parametrize("rate", [0.1, 100.0])
def test_long_sentences_with_great_scores(n, rate):
    """What is drawn is a tree; where the best one has all the probability, nothing else."""
    scores = draw_scores(n, 0)
    uniforms = np.random.default_rng(n).random((3, n))
    found = drawn(scores, n, rate, uniforms=uniforms)
    for tree in found:
        nodes = tuple(Node(b, m, e, label == INVERTED) for b, m, e, label, _ in tree)
        assert sorted(BinaryTree(n, nodes).permutation.positions) == list(range(n))
    assert (len(set(found)) == 1) == (rate == 100.0)


def test_forbidden_nodes_are_not_drawn():
    scores = draw_scores(5, 0)
    scores.node[INVERTED] += FORBIDDEN
    assert {label for tree in drawn(scores, 5, 1.0) for *_, label, _ in tree} == {1 - INVERTED}


def test_the_ends_of_the_numbers():
    """0 and what is just below 1 draw trees, too, of which no node is improbable."""
    scores = draw_scores(9, 0)
    ends = np.array([[0.0] * 9, [np.nextafter(1, 0)] * 9])
    first, last = drawn(scores, 9, 1.0, uniforms=ends)
    assert {node[1] - node[0] for node in first} == {1}
    assert first[0][3] == 0
    assert last[0] == (0, 8, 9, 1, ROOT)


def splitmix64(state):
    """The generator by its definition, in whole numbers without end (Steele, Lea and Flood 2014)."""
    mask = (1 << 64) - 1
    mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
    return mixed ^ (mixed >> 31)


def test_random_numbers_by_their_definition():
    lengths, numbers, step, mask = [2, 0, 3], [7, 1, 2**63 - 1], 0x9E3779B97F4A7C15, (1 << 64) - 1
    expected = []
    for number, length in zip(numbers, lengths, strict=True):
        state = splitmix64((splitmix64(5) + number * step) & mask)
        expected += [(splitmix64((state + k * step) & mask) >> 11) / 2**53 for k in range(1, length + 1)]
    assert random_numbers(5, numbers, np.array(lengths)).tolist() == expected


def test_random_numbers_depend_on_seed_and_number_alone():
    lengths = np.full(3000, 4)
    found = random_numbers(1, range(3000), lengths)
    np.testing.assert_array_equal(random_numbers(1, [17], lengths[:1]), found[68:72])
    assert kstest(found, "uniform").pvalue > 1e-4
    assert kstest(random_numbers(1, range(3000), np.full(3000, 1)), "uniform").pvalue > 1e-4
    other = random_numbers(2, range(3000), lengths)
    assert abs(np.corrcoef(found, other)[0, 1]) < 0.04
    assert np.unique(np.concatenate((found, other))).size == 24_000
