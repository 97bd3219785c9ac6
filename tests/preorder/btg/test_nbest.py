"""The best orders against every tree, by scores with all terms, and those of joined pieces."""

import time
from itertools import product

import numpy as np
import pytest

from preorder.btg.grammar import CONTEXTS, ROOT_CONTEXT
from preorder.btg.nbest import EXACT_ORDERS, context_of, join_pieces, kbest
from preorder.btg.viterbi import best_tree
from preorder.compiled import entry_point
from tests.support.brute_force import BruteForce, by_scores, draw_scores, order, tree_of


@entry_point
def search(scores, n, root):
    nodes = np.empty((n - 1, 5), np.int32)
    return best_tree(scores, n, root, nodes), nodes


@pytest.mark.parametrize(
    ("n", "seed", "root"),
    [
        *((n, seed, ROOT_CONTEXT) for n in range(2, 7) for seed in (0, 1)),
        *((4, 0, r) for r in range(CONTEXTS)),
    ],
)
@pytest.mark.parametrize("k", [1, 3, 17, 1000])
def test_best_orders_equal_brute_force(n, seed, root, k):
    scores = draw_scores(n, seed)
    expected = BruteForce(n, by_scores(scores), root).kbest(k)
    found = kbest(scores, n, root, k)
    totals = [total for total, _ in expected]
    assert [score for score, _ in found] == pytest.approx(totals, abs=1e-3)
    assert [order(tree_of(nodes), 0, n) for _, nodes in found] == [given for _, given in expected]
    trees = [sum(map(by_scores(scores), tree_of(nodes))) for _, nodes in found]
    assert trees == pytest.approx(totals, abs=1e-3)


@pytest.mark.parametrize("n", [2, 9, 40, EXACT_ORDERS + 30])
def test_the_first_is_the_best_tree_to_the_bit(n):
    """The others are different orders, with the scores of their trees."""
    scores = draw_scores(n, 3)
    total, nodes = search(scores, n, ROOT_CONTEXT)
    found = kbest(scores, n, ROOT_CONTEXT, 50)
    assert found[0].score == total
    np.testing.assert_array_equal(found[0].nodes, nodes)
    given = [order(tree_of(tree.nodes), 0, n) for tree in found]
    assert len(set(given)) == len(given) == (2 if n == 2 else 50)
    totals = [tree.score for tree in found]
    assert totals == sorted(totals, reverse=True)
    assert [sum(map(by_scores(scores), tree_of(tree.nodes))) for tree in found] == pytest.approx(
        totals, abs=1e-2
    )


@pytest.mark.parametrize("n", [64, 256])
def test_many_trees_of_one_order_are_soon_searched(n):
    """All score alike, as those of expected agreement do, and nearly all of a sentence of unknown words."""
    zeros = draw_scores(n, 0)._make(map(np.zeros_like, draw_scores(n, 0)))
    kbest(zeros, 3, ROOT_CONTEXT, 2)  # compiles
    start = time.process_time()
    found = kbest(zeros, n, ROOT_CONTEXT, 5)
    assert time.process_time() - start < 3
    assert len({order(tree_of(nodes), 0, n) for _, nodes in found}) == 5


SIZES = (3, 1, 4)
N = sum(SIZES)


def pieces(k):
    begin = 0
    for size in SIZES:
        end = begin + size
        yield begin, end, kbest(draw_scores(size, 1), size, context_of(begin, end, N), k)
        begin = end


@pytest.mark.parametrize("k", [1, 5, 1000])
def test_the_best_sums_come_first(k):
    joined = join_pieces(pieces(1000), N, k)
    sums = [sum(tree.score for tree in trees) for trees in product(*(trees for _, _, trees in pieces(1000)))]
    assert [tree.score for tree in joined] == pytest.approx(sorted(sums, reverse=True)[:k], abs=1e-4)


def test_pieces_stay_in_the_order_of_the_source():
    joined = join_pieces(pieces(9), N, 9)
    orders = [order(tree_of(tree.nodes), 0, N) for tree in joined]
    assert len(set(orders)) == len(orders) == 9
    for tree, given in zip(joined, orders, strict=True):
        assert len(tree.nodes) == N - 1
        assert tree.nodes[0].tolist() == [0, 3, N, 0, ROOT_CONTEXT]
        assert (sorted(given[:3]), given[3], sorted(given[4:])) == ([0, 1, 2], 3, [4, 5, 6, 7])


def test_contexts_are_those_of_the_whole_tree():
    for tree in join_pieces(pieces(3), N, 9):
        expected = {(0, N): ROOT_CONTEXT}
        for begin, split, end, label, context in tree.nodes.tolist():
            assert context == expected[begin, end]
            expected |= {(begin, split): 2 * label, (split, end): 2 * label + 1}
