import itertools
import time

import numpy as np
import pytest

from preorder.btg.pieces import EXACT
from preorder.data.errors import DataError, UsageError
from preorder.data.types import Alignment, Bitext, Permutation, Sentence
from preorder.methods.perceptron.model import BTGPreorderer
from preorder.methods.perceptron.options import Options

SUBJECTS, VERBS, OBJECTS = ("I", "you", "we"), ("see", "eat", "hear"), ("fish", "birds", "trees")


def links(*targets):
    """Align token i with the i-th target."""
    return Alignment(frozenset(enumerate(targets)))


def svo(subject, verb, *objects):
    """Make a sentence whose verb belongs to the end, and the places of its tokens then."""
    words = (subject, verb, *objects)
    tags = ("S", "V", *("O" for _ in objects))
    return Sentence(words, tags), (0, len(words) - 1, *range(1, len(words) - 1))


CORPUS = [
    svo(s, v, *objects)
    for s, v in itertools.product(SUBJECTS, VERBS)
    for objects in ((OBJECTS[0],), OBJECTS[:2])
]


@pytest.fixture(scope="module")
def model():
    sentences, positions = zip(*CORPUS, strict=True)
    return BTGPreorderer.fit(Bitext(sentences, [links(*p) for p in positions]), Options(iterations=5))[0]


def test_learns_a_pattern_exactly(model):
    assert [p.positions for p in model.order([s for s, _ in CORPUS])] == [p for _, p in CORPUS]


def test_carries_over_to_unseen_words(model):
    sentence, positions = svo("they", "grow", "apples", "and", "pears")
    assert model.order([sentence])[0].positions == positions


def test_tree_is_behind_the_order(model):
    sentences = [s for s, _ in CORPUS]
    assert [tree.permutation for tree in model.trees(sentences)] == model.order(sentences)


def test_short_sentences(model):
    sentences = [Sentence((), ()), Sentence(("fish",), ("O",)), Sentence((), ())]
    assert [len(p) for p in model.order(sentences)] == [0, 1, 0]
    assert [tree.nodes for tree in model.trees(sentences)] == [(), (), ()]
    assert model.order([]) == []


def test_threads_give_the_same(model):
    sentences = [s for s, _ in CORPUS] * 10
    assert model.order(sentences, threads=3) == model.order(sentences)
    assert model.trees(sentences, threads=2) == model.trees(sentences)


@pytest.mark.parametrize("clauses", [1, 100, 500])
def test_any_length_in_bounded_time(model, clauses):
    """A sentence beyond EXACT is cut where the order stays: here, between clauses of four tokens."""
    clause, positions = svo("I", "see", "fish", "birds")
    sentence = Sentence(clause.words * clauses, clause.tags * clauses)
    began = time.monotonic()
    (tree,) = model.trees([sentence])
    assert time.monotonic() - began < 20  # the first call compiles
    assert len(tree.nodes) == 4 * clauses - 1
    if len(sentence) > EXACT:
        cuts = {node.split for node in tree.nodes[:1]}
        assert all(EXACT // 2 < cut <= EXACT for cut in cuts)
    (permutation,) = model.order([sentence])
    assert permutation == tree.permutation
    assert sorted(permutation.positions) == list(range(4 * clauses))
    if clauses == 1:
        assert permutation.positions == positions


def test_state_round_trip(model):
    values, arrays = model.state()
    again = BTGPreorderer.from_state(values, arrays)
    sentences = [s for s, _ in CORPUS]
    assert again.layers == model.layers == {"tags"}
    assert again.order(sentences) == model.order(sentences)
    assert again.state()[0] == values
    for name, array in again.state()[1].items():
        np.testing.assert_array_equal(array, arrays[name])


def test_layers_that_some_sentence_lacks_are_left_out():
    sentences = [Sentence(("a", "b"), ("A", "B"), ("1", "2")), Sentence(("a", "b"), None, ("1", "2"))]
    model, _ = BTGPreorderer.fit(Bitext(sentences, [links(1, 0)] * 2), Options(iterations=1))
    assert model.layers == {"classes"}


def test_figures_count_what_was_skipped():
    words = Sentence(tuple("abcd"))
    alignments = [
        links(1, 3, 0, 2),
        links(0, 1, 2, 3),
        Alignment(frozenset({(0, 0), (0, 2), (1, 1)})),
        links(0),
    ]
    sentences = [words, words, words, Sentence(("a",))]
    _, figures = BTGPreorderer.fit(Bitext(sentences, alignments), Options(iterations=1, threads=2))
    assert (figures["trained"], figures["skipped"], figures["trivial"]) == (1, 2, 1)
    assert figures["options"]["iterations"] == 1
    assert "threads" not in figures["options"]


def test_unaligned_tokens_can_be_bound_to_the_gold_order():
    """b has no link: free, it stays where it is cheapest; bound, it follows a."""
    sentences = [Sentence(("a", "b", "c"))] * 3
    alignments = [Alignment(frozenset({(0, 1), (2, 0)}))] * 3
    model, _ = BTGPreorderer.fit(Bitext(sentences, alignments), Options(iterations=5, unaligned="gold"))
    assert model.order(sentences[:1]) == [Permutation((1, 2, 0))]


def test_nothing_to_learn_from():
    with pytest.raises(UsageError, match="no sentence has two tokens and an alignment"):
        BTGPreorderer.fit(Bitext([Sentence(tuple("abcd"))], [links(1, 3, 0, 2)]), Options())


@pytest.mark.parametrize("layers", [None, [], ["words", "smell"]])
def test_state_with_wrong_layers(model, layers):
    values, arrays = model.state()
    with pytest.raises(DataError, match="not the layers of a BTG model"):
        BTGPreorderer.from_state({**values, "layers": layers}, arrays)


def test_state_with_missing_weights(model):
    values, arrays = model.state()
    for name, array in arrays.items():
        others = {k: v for k, v in arrays.items() if k != name}
        for damaged in ({}, {name: array[:-1]}):
            with pytest.raises(DataError, match="not the weights of a BTG model"):
                BTGPreorderer.from_state(values, others | damaged)
