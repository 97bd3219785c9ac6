"""The best orders against every tree, and for sentences that are cut."""

import numpy as np
import pytest

from preorder.btg.nbest import best_orders, nbest
from preorder.compiled import entry_point
from preorder.learning.encode import Batch
from preorder.methods.perceptron.fast.scores import score_sentence, shape_scores
from preorder.methods.perceptron.features import CONTEXTS, ROOT
from preorder.methods.perceptron.parse import EXACT, parse
from tests.preorder.btg.test_viterbi import model
from tests.support import naive_btg as naive

ORDERS = {1: 1, 2: 2, 3: 6, 4: 22, 5: 90, 6: 394}


@entry_point
def search(tables, shape, tokens, n, root, most):
    trees = np.empty((most, n - 1, 5), np.int32)
    totals = np.empty(most, np.float32)
    count = best_orders(score_sentence(tables, shape, tokens, n), n, root, trees, totals)
    return trees[:count], totals[:count]


def best(reference, n, root=ROOT):
    """Score every order by its best tree; of equal trees any."""
    totals = {}
    for tree in naive.trees(0, n, root):
        order = naive.order(tree, 0, n)
        totals[order] = max(totals.get(order, -np.inf), reference.score(tree))
    return totals


def found(tokens, reference, most, root=ROOT):
    n = tokens.shape[1] - 2
    tables = reference.weights().tables()
    trees, totals = search(tables, shape_scores(tables.shape, n), tokens, n, root, most)
    return [tuple(map(tuple, tree)) for tree in trees.tolist()], totals.tolist()


@pytest.mark.parametrize(
    ("n", "layers", "seed"), [(n, layers, s) for n in range(2, 7) for layers in (1, 3) for s in (0, 1)]
)
@pytest.mark.parametrize("most", [1, 3, 17, 1000])
def test_best_orders_equal_brute_force(n, layers, seed, most):
    tokens, reference, _ = model(n, layers, seed)
    expected = best(reference, n)
    trees, totals = found(tokens, reference, most)
    orders = [naive.order(tree, 0, n) for tree in trees]
    assert len(set(orders)) == len(orders) == min(most, ORDERS[n])
    assert totals == sorted(totals, reverse=True)
    assert totals == pytest.approx(sorted(expected.values(), reverse=True)[: len(orders)], abs=1e-3)
    for tree, order, total in zip(trees, orders, totals, strict=True):
        assert total == pytest.approx(expected[order], abs=1e-3)
        assert total == pytest.approx(reference.score(tree), abs=1e-3)


@pytest.mark.parametrize("root", range(CONTEXTS))
def test_best_orders_of_a_part(root):
    tokens, reference, _ = model(4, 2, 0)
    _, totals = found(tokens, reference, 100, root)
    assert totals == pytest.approx(sorted(best(reference, 4, root).values(), reverse=True), abs=1e-3)


def batch_of(lengths, seed=0):
    """Return a batch of random sentences and a model of few of their features."""
    generator = np.random.default_rng(seed)
    tokens = generator.integers(0, 2**64, 9, dtype=np.uint64)[
        generator.integers(0, 9, (1, sum(lengths) + len(lengths) + 1))
    ]
    starts = np.concatenate(([0], np.cumsum(np.array(lengths) + 1)))[:-1] + 1
    reference = naive.NaiveModel(tokens[:, :20], generator, share=0.6)
    tables = reference.weights().tables()
    return tables, shape_scores(tables.shape, EXACT), Batch(tokens, starts, np.array(lengths))


def divided(result, lengths):
    """Return for each sentence its orders: ``(total, nodes, positions)``."""
    sentences, order, token = [], 0, 0
    for n, count in zip(lengths, result.counts, strict=True):
        orders = []
        for _ in range(count):
            part = slice(token, token + n)
            orders.append(
                (float(result.totals[order]), result.nodes[part][:-1], result.positions[part].tolist())
            )
            order, token = order + 1, token + n
        sentences.append(orders)
    return sentences


LENGTHS = [0, 1, 2, 3, 12, 40, 100, EXACT, EXACT + 1, 700, 1]


@pytest.mark.parametrize("most", [1, 5, 40])
def test_batch(most):
    tables, shape, batch = batch_of(LENGTHS)
    result = divided(nbest(tables, shape, batch, most, threads=1), LENGTHS)
    nodes, positions = parse(tables, shape, batch, threads=1)
    offset = 0
    for n, orders in zip(LENGTHS, result, strict=True):
        assert len(orders) == min(most, {0: 1, **ORDERS}.get(n, most))
        assert len({tuple(order) for _, _, order in orders}) == len(orders)
        totals = [total for total, _, _ in orders]
        assert totals == sorted(totals, reverse=True)
        for _, tree, order in orders:
            assert sorted(order) == list(range(n))
            if 0 < n <= 100:
                expected = naive.order(tuple(map(tuple, tree.tolist())), 0, n)
                assert np.argsort(order).tolist() == list(expected)
        assert orders[0][2] == positions[offset : offset + n].tolist()
        np.testing.assert_array_equal(orders[0][1], nodes[offset : offset + n][:-1])
        offset += n


def test_threads_give_the_same():
    tables, shape, batch = batch_of(LENGTHS)
    one, three = (nbest(tables, shape, batch, 7, threads) for threads in (1, 3))
    np.testing.assert_array_equal(one.positions, three.positions)
    np.testing.assert_array_equal(one.totals, three.totals)


def test_parts_are_joined_best_first():
    """Two parts: the totals are the greatest sums of those of either part."""
    tables, shape, batch = batch_of([EXACT + 30])
    result = divided(nbest(tables, shape, batch, 25, threads=1), [EXACT + 30])[0]
    cut = int(result[0][1][0, 1])
    parts = []
    for begin, end, root in ((0, cut, 0), (cut, EXACT + 30, 1)):
        tokens = batch.tokens[:, begin : end + 2]
        parts.append(search(tables, shape, tokens, end - begin, root, 25)[1])
    sums = np.sort((parts[0][:, None] + parts[1][None]).ravel())[::-1][:25]
    np.testing.assert_allclose([total for total, _, _ in result], sums, rtol=1e-6)
