import hypothesis.strategies as st
import pytest
from hypothesis import given
from nltk import Tree

from preorder.errors import DataError
from preorder.syntax.read import parse_bracketing


def spans(tree):
    """Return what nltk has read as words, tags and phrases, parents first."""
    words, tags, phrases = [], [], []

    def walk(node):
        if isinstance(node[0], str):
            words.append(node[0])
            tags.append(node.label())
            return
        place = len(phrases)
        phrases.append(None)
        begin = len(words)
        for child in node:
            walk(child)
        phrases[place] = (begin, len(words), node.label())

    walk(tree)
    return tuple(words), tuple(tags), tuple(phrases)


def read(line):
    sentence = parse_bracketing(line)
    return sentence.words, sentence.tags, sentence.constituency.constituents


TOKENS = st.text("ab-'$.,：　\xa0", min_size=1, max_size=4) | st.sampled_from(["-LRB-", "x-RRB-", "-RSB-"])
LABELS = st.sampled_from(["NP", "VP-SBJ", "S", "-LRB-", "''"])
LEAVES = st.builds(lambda label, token: Tree(label, [token]), LABELS, TOKENS)
TREES = st.recursive(LEAVES, lambda t: st.builds(Tree, LABELS, st.lists(t, min_size=1, max_size=4)))


@given(TREES)
def test_reads_what_nltk_reads(tree):
    tree = Tree("ROOT", [tree])
    line = tree.pformat(margin=10**9)
    # nltk splits at any white space, we at spaces and tabs alone
    again = Tree.fromstring(line, leaf_pattern=r"[^ ()]+", node_pattern=r"[^ ()]+")
    assert read(line) == spans(again) == spans(tree)


def test_example():
    words, tags, phrases = read("(ROOT (S (NP (PRP I)) (VP (VBP see) (NP (-LRB- -LRB-) (NN it)))))")
    assert words == ("I", "see", "-LRB-", "it")
    assert tags == ("PRP", "VBP", "-LRB-", "NN")
    assert phrases == ((0, 4, "ROOT"), (0, 4, "S"), (0, 1, "NP"), (1, 4, "VP"), (2, 4, "NP"))


@pytest.mark.parametrize("line", ["", "  ", "()", "(ROOT)", "(ROOT (S))", "(S (-NONE- *T*))"])
def test_no_tokens(line):
    assert read(line) == ((), (), ())


def test_moved_material_is_left_out():
    words, tags, phrases = read("( (S (NP-SBJ (-NONE- *)) (VP (TO to) (NP (-NONE- *T*-1)) (VB go))))")
    assert (words, tags) == (("to", "go"), ("TO", "VB"))
    assert phrases == ((0, 2, ""), (0, 2, "S"), (0, 2, "VP"))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("(S (NP (NN a))", "1 brackets are not closed"),
        ("(S (NN a)) (S (NN b))", "more than one tree"),
        ("(S (NN a)))", r"'\)' outside all brackets"),
        ("a b", "'a' outside all brackets"),
        ("(S (NN a) b)", "token 'b' has no bracket of its own"),
        ("(S (NN a b))", "token 'b' has no bracket of its own"),
    ],
)
def test_malformed(line, reason):
    with pytest.raises(DataError, match=reason):
        parse_bracketing(line)
