"""Joining the trees of pieces."""

from itertools import product

import numpy as np
import pytest

from preorder.btg.grammar import ROOT
from preorder.btg.kbest import kbest
from preorder.btg.pieces import context_of, join_pieces
from tests.support.brute_force import draw_scores, order, tree_of

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
        assert tree.nodes[0].tolist() == [0, 3, N, 0, ROOT]
        assert (sorted(given[:3]), given[3], sorted(given[4:])) == ([0, 1, 2], 3, [4, 5, 6, 7])
    contexts = {tuple(node[:3]): node[4] for node in joined[0].nodes.tolist()}
    assert contexts[3, 4, N] == 1  # right child of a straight node


@pytest.mark.parametrize(
    ("begin", "end", "context"),
    [(0, N, ROOT), (0, 3, 0), (3, 4, 0), (4, N, 1)],  # left children of straight nodes, the last a right one
)
def test_context_of_a_piece(begin, end, context):
    assert context_of(begin, end, N) == context


def test_contexts_are_those_of_the_whole_tree():
    for tree in join_pieces(pieces(3), N, 9):
        expected = {(0, N): ROOT}
        for begin, split, end, label, context in tree.nodes.tolist():
            assert context == expected[begin, end]
            expected |= {(begin, split): 2 * label, (split, end): 2 * label + 1}


def test_no_piece():
    ((score, nodes),) = join_pieces((), 0, 3)
    assert score == 0
    assert nodes.shape == (0, 5)
    assert np.issubdtype(nodes.dtype, np.int32)
