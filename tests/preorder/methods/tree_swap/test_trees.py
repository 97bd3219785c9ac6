"""Labels and orders against every assignment of straight and inverted."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preorder.alignment.gold import gold_permutation, target_groups
from preorder.data import Alignment, BinaryTree, Bitext, Node
from preorder.data.trees import BINARISATIONS
from preorder.methods.tree_swap.trees import (
    allowed,
    best_labels,
    count_pairs,
    flat_keys,
    forest,
    keys,
    labelled,
    positions,
)
from preorder.metrics.orders import evaluate
from preorder.syntax.binary import binary_branches
from tests.support.trees import constituency, dependency

WAYS = st.sampled_from(BINARISATIONS)


@st.composite
def pairs(draw, most=6):
    sentence = draw((constituency(1, most) | dependency(1, most)).filter(lambda s: not s.tree.is_flat))
    n = len(sentence)
    links = draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, 6)), max_size=8))
    return sentence, Alignment(frozenset(links))


def orders(sentence, how):
    """Yield every assignment of labels with the permutation that it gives."""
    branches = binary_branches(sentence, how)
    for labels in itertools.product((False, True), repeat=len(branches)):
        nodes = tuple(Node(b, m, e, label) for (b, m, e, _), label in zip(branches, labels, strict=True))
        yield labels, BinaryTree(len(sentence), nodes).permutation


def reversed_pairs(wanted, permutation):
    kept = [wanted[token] for token in permutation.order if wanted[token] >= 0]
    return sum(a > b for a, b in itertools.combinations(kept, 2))


@given(pairs(), WAYS, st.booleans())
def test_labels_are_the_best_of_all(pair, how, every):
    sentence, alignment = pair
    trees = forest([sentence], how)
    counts = count_pairs(trees, flat_keys(Bitext([sentence], [alignment]), every))
    wanted = keys(alignment, len(sentence), every)
    ranked = [(reversed_pairs(wanted, p), labels, p) for labels, p in orders(sentence, how)]
    # of equally good assignments the one with the fewest inverted nodes is first
    _, labels, permutation = min(ranked, key=lambda row: (row[0], sum(row[1])))
    assert tuple(best_labels(counts)) == labels
    assert positions(trees, best_labels(counts)).tolist() == list(permutation.positions)
    assert counts.sum() == sum(a >= 0 and b >= 0 for a, b in itertools.combinations(wanted, 2))


def best_order(sentence, how, wanted):
    candidates = (permutation for _, permutation in orders(sentence, how))
    return next(candidates) if wanted is None else min(candidates, key=lambda p: reversed_pairs(wanted, p))


@given(st.lists(pairs(), min_size=1, max_size=4), WAYS)
def test_allowed_tau_is_that_of_the_best_orders(lines, how):
    sentences, alignments = zip(*lines, strict=True)
    trees, bitext = forest(sentences, how), Bitext(sentences, alignments)
    groups = [target_groups(a, len(s)) for s, a in lines]
    places = [gold_permutation(a, len(s)).positions for s, a in lines]
    for every, wanted in ((False, groups), (True, places)):
        found = allowed(trees, bitext, every)
        if any(one is not None for one in wanted):
            best = [best_order(s, how, one) for s, one in zip(sentences, wanted, strict=True)]
            assert found == pytest.approx(evaluate(wanted, best).tau_nakagawa)
        else:
            assert found == 1


@given(st.lists(constituency() | dependency(), max_size=5), WAYS, st.randoms(use_true_random=False))
def test_positions_are_those_of_the_labelled_trees(lines, how, random):
    trees = forest(lines, how)
    labels = np.array([random.random() < 0.5 for _ in trees.rows], bool)
    nodes, places = labelled(trees, labels), positions(trees, labels)
    assert [trees.categories[row] for row in trees.rows] == [
        category for sentence in lines for *_, category in binary_branches(sentence, how)
    ]
    for sentence, start in zip(lines, trees.starts, strict=True):
        rows = nodes[start : start + max(0, len(sentence) - 1)].tolist()
        tree = BinaryTree(len(sentence), tuple(Node(b, m, e, bool(label)) for b, m, e, label, _ in rows))
        assert places[start : start + len(sentence)].tolist() == list(tree.permutation.positions)


def test_keys():
    enclosing = Alignment(frozenset({(0, 0), (0, 5), (1, 2), (3, 3)}))  # the first token encloses the others
    assert target_groups(enclosing, 4) is None
    assert keys(enclosing, 4) == [2, 0, -1, 3]
    assert keys(enclosing, 4, every=True) == (2, 0, 1, 3)
    assert keys(Alignment(frozenset({(0, 4), (2, 1)})), 3) == (1, -1, 0)
