import hypothesis.strategies as st
import pytest
from hypothesis import given

from preorder.data import Sentence
from preorder.data.trees import ConstituencyTree, DependencyTree
from preorder.errors import DataError


@pytest.mark.parametrize(
    "phrases",
    [
        [(0, 3, "S"), (0, 1, "A"), (0, 1, "B"), (1, 3, "C")],
        [(0, 1, "A"), (1, 3, "B")],
        [],
    ],
)
def test_phrases_in_order(phrases):
    assert len(ConstituencyTree(3, tuple(phrases))) == 3


@pytest.mark.parametrize(
    "phrases",
    [
        [(0, 4, "S")],
        [(0, 2, "A"), (1, 3, "B")],
        [(1, 3, "A"), (0, 1, "B")],
        [(0, 1, "A"), (0, 3, "B")],
        [(1, 1, "A")],
        [(-1, 2, "A")],
        [(3, 4, "A")],
        [(0, 3, "A"), (2, 3, "B"), (0, 1, "C")],
    ],
)
def test_phrases_that_are_no_tree(phrases):
    with pytest.raises(DataError, match="does not fit its tree"):
        ConstituencyTree(3, tuple(phrases))


def test_dependencies():
    assert len(DependencyTree((1, -1, 0, -1), ("a", "root", "b", "root"))) == 4
    assert len(DependencyTree((), ())) == 0


@pytest.mark.parametrize(
    ("heads", "reason"),
    [
        ((1, 2), "head 3 of token 2 is out of range"),
        ((-2,), "head -1 of token 1 is out of range"),
        ((1, 0), "the heads above token 1 form a cycle"),
        ((-1, 1), "the heads above token 2 form a cycle"),
        ((1, 2, 3, 1), "the heads above token 2 form a cycle"),
    ],
)
def test_heads_that_are_no_tree(heads, reason):
    with pytest.raises(DataError, match=reason):
        DependencyTree(heads, ("",) * len(heads))


@given(st.lists(st.integers(-1, 5), min_size=6, max_size=6))
def test_a_cycle_is_what_never_reaches_the_root(heads):
    def reaches(token):
        for _ in range(7):
            if token == -1:
                return True
            token = heads[token]
        return False

    if all(map(reaches, range(6))):
        DependencyTree(tuple(heads), ("",) * 6)
    else:
        with pytest.raises(DataError, match="cycle"):
            DependencyTree(tuple(heads), ("",) * 6)


def test_layers_of_other_length():
    with pytest.raises(DataError, match="1 relations for 2 heads"):
        DependencyTree((-1, 0), ("root",))
    with pytest.raises(DataError, match="2 leaves of a tree for 1 words"):
        Sentence(("a",), tree=ConstituencyTree(2, ()))


def test_kind_of_a_tree():
    constituents, dependencies = ConstituencyTree(1, ()), DependencyTree((-1,), ("root",))
    assert Sentence(("a",), tree=constituents).constituency is constituents
    assert Sentence(("a",), tree=constituents).dependency is None
    assert Sentence(("a",), tree=dependencies).dependency is dependencies
    assert Sentence(("a",), tree=dependencies).constituency is None
