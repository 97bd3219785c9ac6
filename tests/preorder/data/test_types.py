"""The frozen values: checks when made, and the paper's worked example."""

import contextlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preorder.data.errors import DataError
from preorder.data.trees import DependencyTree
from preorder.data.types import Alignment, BinaryTree, Node, Permutation, Sentence

permutations = st.integers(0, 12).flatmap(lambda n: st.permutations(range(n)))


def test_worked_example_of_the_paper():
    """Kawara et al. 2021, Figure 6."""
    words = "I like the pen that my father bought yesterday".split()
    permutation = Permutation((0, 8, 6, 7, 5, 1, 2, 4, 3))
    assert " ".join(permutation.apply(words)) == "I my father yesterday bought that the pen like"
    assert permutation.order == (0, 5, 6, 8, 7, 4, 2, 3, 1)


@given(permutations)
def test_order_and_positions_are_inverse(numbers):
    permutation = Permutation(tuple(numbers))
    assert Permutation.from_order(permutation.order) == permutation
    assert [permutation.positions[i] for i in permutation.order] == list(range(len(numbers)))


@pytest.mark.parametrize("numbers", [(1,), (0, 0), (0, 2), (-1, 0)])
def test_not_a_permutation(numbers):
    with pytest.raises(DataError, match="not a permutation"):
        Permutation(numbers)
    with pytest.raises(DataError, match="not a permutation"):
        Permutation.from_order(numbers)


def test_layers_have_the_length_of_the_words():
    with pytest.raises(DataError, match="1 POS tags for 2 words"):
        Sentence(("a", "b"), tags=("X",))
    with pytest.raises(DataError, match="3 word classes for 2 words"):
        Sentence(("a", "b"), classes=("1", "2", "3"))


def test_links_lie_within_the_lengths():
    with pytest.raises(DataError, match="link 2-0 is out of range: the source has 2 tokens"):
        Alignment(frozenset({(2, 0)}), source_length=2)
    with pytest.raises(DataError, match="link 0-5 is out of range: the target has 5 tokens"):
        Alignment(frozenset(), frozenset({(0, 5)}), target_length=5)
    with pytest.raises(DataError, match="the alignment is of 3 source tokens, the sentence has 4"):
        Alignment(frozenset(), source_length=3).check_within(4)


def test_targets_are_sorted_by_source_token():
    assert Alignment(frozenset({(2, 4), (0, 3), (2, 1)})).targets(3) == ((3,), (), (1, 4))


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
            tree = BinaryTree.of(permutation)
            assert tree.permutation == permutation
            found += 1
    assert found == orders


def test_no_tree_for_a_permutation():
    with pytest.raises(DataError, match="no BTG tree gives this order"):
        BinaryTree.of(Permutation((1, 3, 0, 2)))


def test_interned_sentences_share_equal_tokens():
    sentences = [Sentence(tuple("ab cd ab".split()), tuple("X Y X".split())) for _ in range(2)]
    assert sentences[0].words[0] is not sentences[1].words[0]
    one, other = (sentence.interned() for sentence in sentences)
    assert one == other == sentences[0]
    assert one.words[0] is one.words[2] is other.words[0]
    assert one.tags[1] is other.tags[1]
    assert one.classes is None


def test_interned_sentences_keep_all_layers():
    tree = DependencyTree((-1, 0), ("root", "obj"))
    sentence = Sentence(("a", "b"), ("X", "Y"), ("1", "2"), tree)
    assert sentence.interned() == sentence
