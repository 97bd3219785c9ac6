"""Batches of sentences, some of them cut into pieces."""

import numpy as np
import pytest

from preorder.btg.pieces import EXACT
from preorder.learning.encode import Batch
from preorder.methods.perceptron.fast.shapes import shape_scores
from preorder.methods.perceptron.parse import parse, parse_kbest
from tests.support.brute_force import BruteForce, order, tree_of
from tests.support.naive_perceptron import NaiveModel, model

LENGTHS = [0, 1, 2, 3, 12, 40, 100, EXACT, EXACT + 1, 700, 1]
ORDERS = {0: 1, 1: 1, 2: 2, 3: 6}


def batch_of(lengths, seed=0):
    """Return a batch of random sentences and a model of few of their features."""
    generator = np.random.default_rng(seed)
    tokens = generator.integers(0, 2**64, 9, dtype=np.uint64)[
        generator.integers(0, 9, (1, sum(lengths) + len(lengths) + 1))
    ]
    starts = np.concatenate(([0], np.cumsum(np.array(lengths) + 1)))[:-1] + 1
    tables = NaiveModel(tokens[:, :20], generator, share=0.6).weights().tables()
    return tables, shape_scores(tables.shape, EXACT), Batch(tokens, starts, np.array(lengths))


@pytest.mark.parametrize("n", range(2, 6))
def test_best_orders_equal_brute_force(n):
    tokens, reference, _ = model(n, 2, 0)
    tables = reference.weights().tables()
    batch = Batch(tokens, np.array([1]), np.array([n]))
    (found,) = parse_kbest(tables, shape_scores(tables.shape, EXACT), batch, 1000, threads=1)
    expected = BruteForce(n, lambda node: reference.score((node,))).kbest(1000)
    assert [score for score, _ in found] == pytest.approx([score for score, _ in expected], abs=1e-3)
    scores = [reference.score(tree_of(nodes)) for _, nodes in found]
    assert scores == pytest.approx([score for score, _ in expected], abs=1e-3)


@pytest.mark.parametrize("k", [1, 5])
def test_batch(k):
    tables, shape, batch = batch_of(LENGTHS)
    nodes, positions = parse(tables, shape, batch, threads=1)
    begin = 0
    for n, best in zip(LENGTHS, parse_kbest(tables, shape, batch, k, threads=1), strict=True):
        assert len(best) == min(k, ORDERS.get(n, k))
        orders = [order(tree_of(tree), 0, n) if n else () for _, tree in best]
        assert len(set(orders)) == len(orders)
        scores = [score for score, _ in best]
        assert scores == sorted(scores, reverse=True)
        np.testing.assert_array_equal(best[0].nodes, nodes[begin : begin + n][:-1])
        assert np.argsort(orders[0]).tolist() == positions[begin : begin + n].tolist()
        begin += n


def test_threads_give_the_same():
    tables, shape, batch = batch_of(LENGTHS)
    one, three = (parse_kbest(tables, shape, batch, 4, threads) for threads in (1, 3))
    for ours, theirs in zip(one, three, strict=True):
        assert [score for score, _ in ours] == [score for score, _ in theirs]
        np.testing.assert_array_equal([tree for _, tree in ours], [tree for _, tree in theirs])
    (_, ours), (_, theirs) = (parse(tables, shape, batch, threads) for threads in (1, 3))
    np.testing.assert_array_equal(ours, theirs)
