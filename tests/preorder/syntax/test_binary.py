import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preorder.data import BinaryTree, Node, Sentence
from preorder.data.trees import BINARISATIONS, ConstituencyTree, DependencyTree
from preorder.syntax.binary import binary_branches, head_child, lift
from preorder.syntax.read import parse_bracketing
from tests.support.trees import constituency, dependency, sentences, words

WAYS = st.sampled_from(BINARISATIONS)


def bracketed(sentence, how):
    """Return the binary tree as text, the words joined two by two."""
    parts = {(i, i + 1): word for i, word in enumerate(sentence.words)}
    for b, m, e, _ in reversed(binary_branches(sentence, how)):
        parts[b, e] = f"({parts[b, m]} {parts[m, e]})"
    return parts[0, len(sentence)]


@given(sentences, WAYS)
def test_a_binary_tree_over_all_tokens(sentence, how):
    branches = binary_branches(sentence, how)
    nodes = tuple(Node(b, m, e, False) for b, m, e, _ in branches)
    assert len(nodes) == max(0, len(sentence) - 1)
    BinaryTree(len(sentence), nodes)  # checks all


@given(constituency(), WAYS)
def test_phrases_stay_phrases(sentence, how):
    spans = {(b, e) for b, _, e, _ in binary_branches(sentence, how)}
    assert {(b, e) for b, e, _ in sentence.tree.constituents if e - b > 1} <= spans


@given(dependency(), WAYS)
def test_subtrees_of_projective_dependencies_stay_together(sentence, how):
    heads = np.array(sentence.tree.heads, np.int64)
    lift(heads)
    spans = {(b, e) for b, _, e, _ in binary_branches(sentence, how)}
    for token in range(len(sentence)):
        below = descendants(heads.tolist(), token)
        assert below == list(range(below[0], below[-1] + 1))
        if len(below) > 1:
            assert (below[0], below[-1] + 1) in spans


def descendants(heads, token):
    def ancestors(one):
        while one >= 0:
            yield one
            one = heads[one]

    return [one for one in range(len(heads)) if token in ancestors(one)]


FLAT = "(VP (RB a) (RB b) (VB H) (NP c) (NP d))"


@pytest.mark.parametrize(
    ("how", "tree", "of_dependents"),
    [
        ("head", "(((a (b H)) c) d)", "(a (b ((H c) d)))"),
        ("left", "((((a b) H) c) d)", None),
        ("right", "(a (b (H (c d))))", None),
    ],
)
def test_three_ways(how, tree, of_dependents):
    assert bracketed(parse_bracketing(FLAT), how) == tree
    heads = DependencyTree((2, 2, -1, 2, 2), ("advmod", "aux", "root", "obj", "obl"))
    sentence = Sentence(tuple("abHcd"), ("X",) * 5, tree=heads)
    assert bracketed(sentence, how) == (of_dependents or tree)


def test_what_joins_the_head_first_and_last():
    relations = ("nsubj", "aux", "root", "det", "obj", "case", "nmod:of", "punct")
    heads = DependencyTree((2, 2, -1, 4, 2, 6, 4, 2), relations)
    sentence = Sentence(tuple("he has bought a pen for her .".split()), ("X",) * 8, tree=heads)
    assert bracketed(sentence, "head") == "((he (has (bought ((a pen) (for her))))) .)"
    quoted = DependencyTree((1, -1, 1), ("punct", "root", "punct"))
    assert bracketed(Sentence(tuple("'a'"), ("X",) * 3, tree=quoted), "head") == "(' (a '))"
    roots = DependencyTree((-1,) * 4, ("root",) * 4)
    assert bracketed(Sentence(tuple("abcd"), ("X",) * 4, tree=roots), "head") == "(((a b) c) d)"


@pytest.mark.parametrize("relation", "det amod nummod compound flat fixed clf det:poss compound:prt".split())
def test_what_is_close_to_its_head(relation):
    heads = DependencyTree((1, -1, 1), (relation, "root", "nmod"))
    assert bracketed(Sentence(tuple("abc"), ("X",) * 3, tree=heads), "head") == "((a b) c)"


def test_names_of_nodes():
    sentence = parse_bracketing("(ROOT (S (SBAR (VP (VB a) (NP (NN b)) (NP (NN c)))) (. .)))")
    names = [(b, e, category) for b, _, e, category in binary_branches(sentence, "head")]
    assert names == [(0, 4, "S"), (0, 3, "VP"), (0, 2, "VP'")]
    of_four = binary_branches(parse_bracketing("(VP (VB a) (NN b) (NN c) (NN d))"), "head")
    assert [category for *_, category in of_four] == ["VP", "VP'", "VP'"]
    heads = DependencyTree((1, -1, 1, 2), ("nsubj", "root", "obj", "det"))
    branches = binary_branches(Sentence(tuple("abcd"), ("X",) * 4, tree=heads), "head")
    assert branches == [(0, 1, 4, "nsubj-"), (1, 2, 4, "-obj"), (2, 3, 4, "-det")]
    left = binary_branches(Sentence(tuple("abc"), ("X",) * 3, tree=DependencyTree((2, 2, -1), "xyz")), "left")
    assert left == [(0, 2, 3, "-head"), (0, 1, 2, "-y")]


def test_a_unary_chain_over_a_token_is_among_its_siblings_what_stands_on_top():
    """So VP is the head of S, as VB would not be."""
    sentence = parse_bracketing("(S (NN a) (NN b) (VP (VB c)) (NN d))")
    assert bracketed(sentence, "head") == "((a (b c)) d)"


def test_tokens_that_no_phrase_covers():
    tree = ConstituencyTree(3, ((1, 3, "NP"),))
    branches = binary_branches(Sentence(words(3), ("A",) * 3, tree=tree), "left")
    assert branches == [(0, 1, 3, ""), (1, 2, 3, "NP")]
    for short in ("", "(ROOT (S (UH yes)))"):
        assert binary_branches(parse_bracketing(short), "head") == []


@pytest.mark.parametrize(
    ("heads", "lifted"),
    [
        ((1, -1, 1), (1, -1, 1)),
        ((2, -1, 1, 0), (1, -1, 1, 1)),  # 0 → 2 passes over the root, then so does 3 → 0
        ((2, 3, -1, 2), (2, 2, -1, 2)),  # 1 → 3 passes over the root
        ((-1, 3, 0, 0), (-1, 0, 0, 0)),
        ((2, 3, 4, -1, 1), (3, 3, 1, -1, 3)),  # 0 → 2 is as short as 2 → 4, and further left
        ((2, -1, -1), (-1, -1, -1)),  # between 0 and 2 stands another root
        ((), ()),
    ],
)
def test_arcs_that_cross_are_lifted(heads, lifted):
    array = np.array(heads, np.int64)
    lift(array)
    assert tuple(array.tolist()) == lifted


@pytest.mark.parametrize(
    ("category", "children", "head"),
    [
        ("VP-PRD", "ADVP MD VP", 1),
        ("NP", "NP-SBJ PP", 0),
        ("NP^g", "DT^NP @NP", 1),
        ("@NP", "DT NN", 1),
        ("NP_3", "DT NP|<JJ-NN>", 1),
        ("VP=1", "ADVP|PRT VB", 1),
        ("NP", "NNP POS", 1),
        ("NP", "DT CD", 1),
        ("NP", "DT JJ", 1),
        ("NP", "QP $ XX", 1),
        ("NP", "XX YY", 1),
        ("NP", "NP CC NP", 0),
        ("NP", "$ CD", 0),
        ("NP", "JJR XX", 0),
        ("NP", "NN NN XX", 1),
        ("NP", "CD CD XX", 1),
        ("NP", "RB JJ XX", 1),
        ("NX", "DT NN", 1),
        ("VP", "VB VBD", 1),
        ("CP", "IP SP", 0),
        ("ADVP", "XX YY", 1),
    ],
)
def test_heads_of_phrases(category, children, head):
    assert head_child(category, children.split()) == head
