"""BTG trees: which nodes form one, and which reorderings they give."""

import contextlib
import itertools

import pytest

from preorder.data.permutation import Permutation
from preorder.data.trees import BinaryTree, Node
from preorder.errors import DataError


def test_tree_reads_off_its_leaves():
    tree = BinaryTree(4, (Node(0, 1, 4, True), Node(1, 3, 4, False), Node(1, 2, 3, True)))
    assert tree.permutation.apply("abcd") == ("c", "b", "d", "a")


@pytest.mark.parametrize("length", [0, 1])
def test_tree_without_nodes(length):
    assert BinaryTree(length, ()).permutation == Permutation.identity(length)


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ((Node(0, 1, 2, False),), "node 0 1 2 does not fit"),
        ((Node(0, 3, 3, False),), "node 0 3 3 does not fit"),
        ((Node(0, 1, 3, False),), r"span \(1, 3\) of the tree has no node"),
        ((Node(1, 2, 3, False), Node(0, 1, 3, False)), "node 1 2 3 does not fit"),
    ],
)
def test_nodes_must_form_a_tree(nodes, reason):
    with pytest.raises(DataError, match=reason):
        BinaryTree(3, nodes)


@pytest.mark.parametrize(("length", "orders"), [(0, 1), (1, 1), (2, 2), (3, 6), (4, 22), (5, 90), (6, 394)])
def test_tree_of_a_permutation(length, orders):
    found = 0
    for positions in itertools.permutations(range(length)):
        permutation = Permutation(positions)
        with contextlib.suppress(DataError):
            tree = BinaryTree.from_permutation(permutation)
            assert tree.permutation == permutation
            found += 1
    assert found == orders


def test_no_tree_for_a_permutation():
    with pytest.raises(DataError, match="no BTG tree gives this order"):
        BinaryTree.from_permutation(Permutation((1, 3, 0, 2)))
