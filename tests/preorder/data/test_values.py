"""Alignments, reorderings, sentences and trees: what they are made of, and what they refuse."""

import contextlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preorder.data import Alignment, BinaryTree, Node, Permutation, Sentence
from preorder.data.trees import ConstituencyTree, DependencyTree
from preorder.errors import DataError

NONE = frozenset()
FROM_ONE, REVERSED = "; do they count from 1? ", "; are they target-source? "


def heads(*numbers):
    return DependencyTree(numbers, ("",) * len(numbers))


def links(*pairs, **more):
    return Alignment(frozenset(pairs), **more)


OUT = "is out of range: the"
REFUSED = [
    (lambda: links((2, 0), source_length=2), f"link 2-0 {OUT} source has 2 tokens"),
    (lambda: links(possible={(0, 5)}, target_length=5), f"link 0-5 {OUT} target has 5 tokens"),
    (lambda: links(source_length=3).check_within(4), "the alignment is of 3 source tokens, the sentence has"),
    *((lambda n=n: Permutation(n), "not a permutation") for n in ((1,), (0, 0), (-1, 0))),
    (lambda: Permutation.from_order((0, 0)), "not a permutation of 0 … 1: 0 0$"),
    (lambda: Permutation((0,) * 100), r"^not a permutation of 0 … 99: (0 ){30} …$"),
    (lambda: Sentence(("a", "b"), tags=("X",)), "1 POS tags for 2 words"),
    (lambda: Sentence(("a",), tree=ConstituencyTree(2, ())), "2 leaves of a tree for 1 words"),
    (lambda: BinaryTree(3, (Node(0, 1, 2, False),)), "node 0 1 2 does not fit"),
    (lambda: BinaryTree(3, (Node(0, 1, 3, False),)), r"span \(1, 3\) of the tree has no node"),
    (lambda: BinaryTree(3, (Node(1, 2, 3, False), Node(0, 1, 3, False))), "node 1 2 3 does not fit"),
    (lambda: BinaryTree.from_permutation(Permutation((1, 3, 0, 2))), "no BTG tree gives this order"),
    (lambda: heads(1, 2), "head 3 of token 2 is out of range"),
]


@pytest.mark.parametrize(("make", "reason"), REFUSED)
def test_refused(make, reason):
    with pytest.raises(DataError, match=reason):
        make()


@pytest.mark.parametrize(
    ("links", "lengths", "guess"),
    [
        ([(1, 1), (2, 3), (3, 2)], (3, None), FROM_ONE),
        ([(1, 1), (2, 3)], (2, 3), FROM_ONE),
        ([(1, 1), (2, 4)], (2, 3), ""),
        ([(0, 1), (3, 2)], (3, None), REVERSED),
        ([(0, 0), (3, 2)], (3, 4), REVERSED),
    ],
)
def test_why_links_are_out_of_range(links, lengths, guess):
    for kinds in ({"links": frozenset(links)}, {"links": NONE, "possible": frozenset(links)}):
        with pytest.raises(DataError, match="is out of range") as error:
            Alignment(**kinds).check_within(*lengths)
        assert error.value.reason.partition("tokens")[2].partition("(")[0] == guess


def test_a_reversed_alignment_has_the_lengths_of_the_other_side():
    reversed_links = links((0, 4), source_length=2, target_length=5).reversed()
    assert reversed_links == links((4, 0), source_length=5, target_length=2)


def test_links_of_less_confidence_are_gone():
    alignment = Alignment.weighted({(0, 0): 0.5, (1, 1): 0.25, (2, 2): 1})
    assert alignment.at_least(0.5).confidences() == {(0, 0): 0.5, (2, 2): 1}


def test_worked_example_of_the_paper():
    """Kawara et al. 2021, Figure 6."""
    words = "I like the pen that my father bought yesterday".split()
    permutation = Permutation((0, 8, 6, 7, 5, 1, 2, 4, 3))
    assert " ".join(permutation.apply(words)) == "I my father yesterday bought that the pen like"
    assert permutation.order == (0, 5, 6, 8, 7, 4, 2, 3, 1)
    assert Permutation.from_order(permutation.order) == permutation


def test_interned_sentences_share_equal_tokens_and_keep_all_layers():
    tree = DependencyTree((-1, 0, 0), ("root", "obj", "obj"))
    layers = "ab cd ab", "X Y X", "1 2 1"
    sentences = [Sentence(*(tuple(layer.split()) for layer in layers), tree) for _ in range(2)]
    assert sentences[0].words[0] is not sentences[1].words[0]
    one, other = (sentence.interned() for sentence in sentences)
    assert one == other == sentences[0]
    assert one.words[0] is one.words[2] is other.words[0]
    assert one.tags[1] is other.tags[1]
    assert Sentence(("a",)).interned().classes is None


@pytest.mark.parametrize(("length", "orders"), [(0, 1), (1, 1), (2, 2), (3, 6), (4, 22), (5, 90), (6, 394)])
def test_tree_of_a_permutation(length, orders):
    """As many permutations have one as the large Schröder numbers say."""
    found = 0
    for positions in itertools.permutations(range(length)):
        permutation = Permutation(positions)
        with contextlib.suppress(DataError):
            assert BinaryTree.from_permutation(permutation).permutation == permutation
            found += 1
    assert found == orders


@given(st.lists(st.integers(-1, 5), min_size=6, max_size=6))
def test_a_cycle_is_what_never_reaches_the_root(numbers):
    ends = list(range(6))
    for _ in numbers:
        ends = [end if end == -1 else numbers[end] for end in ends]
    if set(ends) == {-1}:
        assert len(heads(*numbers)) == 6
    else:
        with pytest.raises(DataError, match="cycle"):
            heads(*numbers)
