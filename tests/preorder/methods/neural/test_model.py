import itertools
import sys
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from preorder.data.errors import DataError, MissingExtraError, UsageError  # noqa: E402
from preorder.data.types import Alignment, Bitext, Permutation, Sentence  # noqa: E402
from preorder.learning.training_loop import HeldOut  # noqa: E402
from preorder.methods.base import method_class  # noqa: E402
from preorder.methods.neural.model import NeuralBTGPreorderer  # noqa: E402
from preorder.methods.neural.options import Options  # noqa: E402
from preorder.methods.perceptron.model import BTGPreorderer  # noqa: E402
from preorder.methods.perceptron.options import Options as PerceptronOptions  # noqa: E402

SUBJECTS, VERBS, OBJECTS = ("I", "you", "we"), ("see", "eat", "hear"), ("fish", "birds", "trees")
OPTIONS = Options(iterations=12, minibatch=6, hidden=16, depth=1, learning_rate=0.02, dropout=0.1)


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


def bitext(corpus=CORPUS):
    sentences, positions = zip(*corpus, strict=True)
    return Bitext(sentences, [links(*p) for p in positions])


@pytest.fixture(scope="module")
def model():
    return NeuralBTGPreorderer.fit(bitext(), OPTIONS)[0]


def test_learns_a_pattern_exactly(model):
    assert [p.positions for p in model.order([s for s, _ in CORPUS])] == [p for _, p in CORPUS]


def test_carries_over_to_unseen_words(model):
    sentence, positions = svo("they", "grow", "apples")
    assert model.order([sentence])[0].positions == positions


def test_tree_is_behind_the_order(model):
    sentences = [s for s, _ in CORPUS]
    assert [tree.permutation for tree in model.trees(sentences, threads=2)] == model.order(sentences)


def test_the_perceptron_has_a_vote(model, monkeypatch):
    monkeypatch.setattr("preorder.btg.risk.PARTNER_WEIGHT", 1.0)
    sentences = [s for s, _ in CORPUS]
    perceptron = BTGPreorderer.fit(bitext(), PerceptronOptions())[0]
    assert model.order(sentences) == perceptron.order(sentences)


def test_no_adviser():
    alone, _ = NeuralBTGPreorderer.fit(bitext(), replace(OPTIONS, iterations=1, adviser="none"))
    values, arrays = alone.state()
    assert "perceptron" not in values
    sentences = [s for s, _ in CORPUS]
    assert NeuralBTGPreorderer.from_state(values, arrays).order(sentences) == alone.order(sentences)


def test_short_sentences(model):
    sentences = [Sentence((), ()), Sentence(("fish",), ("O",)), Sentence((), ())]
    assert [len(p) for p in model.order(sentences)] == [0, 1, 0]
    assert [tree.nodes for tree in model.trees(sentences)] == [(), (), ()]
    assert model.order([]) == []


def test_state_round_trip(model):
    values, arrays = model.state()
    again = NeuralBTGPreorderer.from_state(values, arrays)
    sentences = [s for s, _ in CORPUS]
    assert again.layers == model.layers == {"tags"}
    assert again.order(sentences) == model.order(sentences)
    assert again.state()[0] == values
    for name, array in again.state()[1].items():
        np.testing.assert_array_equal(array, arrays[name])


def test_held_out_lines_choose_the_iteration():
    held = bitext(CORPUS[:4])
    model, figures = NeuralBTGPreorderer.fit(bitext(CORPUS[4:]), OPTIONS, held)
    taus = [one["tau_nakagawa"] for one in figures["history"]]
    assert figures["held_out"] == 4
    assert taus.index(max(taus)) == figures["iteration"] - 1
    assert HeldOut(held).tau(model.order(held.sentences)) == max(taus)


def test_figures_count_what_was_skipped():
    words = Sentence(tuple("abcd"))
    alignments = [links(1, 3, 0, 2), links(0, 1, 2, 3), links(0)]
    lines = Bitext([words, words, Sentence(("a",))], alignments)
    model, figures = NeuralBTGPreorderer.fit(lines, Options(iterations=1, hidden=4, adviser="none"))
    assert (figures["trained"], figures["skipped"], figures["trivial"]) == (1, 1, 1)
    assert figures["options"]["hidden"] == 4
    assert figures["weights"] == sum(array.size for array in model.state()[1].values())


def test_unaligned_tokens_can_be_bound_to_the_gold_order():
    """b has no link: bound, it follows a."""
    lines = Bitext([Sentence(("a", "b", "c"))] * 30, [Alignment(frozenset({(0, 1), (2, 0)}))] * 30)
    options = Options(iterations=8, minibatch=2, hidden=8, learning_rate=0.02, unaligned="gold")
    model, _ = NeuralBTGPreorderer.fit(lines, options)
    assert model.order(lines.sentences[:1]) == [Permutation((1, 2, 0))]


def test_nothing_to_learn_from():
    with pytest.raises(UsageError, match="no sentence has two tokens and an alignment"):
        NeuralBTGPreorderer.fit(Bitext([Sentence(tuple("abcd"))], [links(1, 3, 0, 2)]), Options())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"vocabulary": None}, "not the vocabulary of a neural BTG model"),
        ({"vocabulary": {"tags": []}}, "not the vocabulary of a neural BTG model"),
        ({"vocabulary": {"words": [], "smell": []}}, "not the vocabulary of a neural BTG model"),
        ({"vocabulary": {"words": "abc"}}, "not the vocabulary of a neural BTG model"),
        ({"hidden": 0}, "not the size of a neural BTG model: hidden 0, depth 1"),
        ({"depth": "1"}, "not the size of a neural BTG model: hidden 16, depth '1'"),
        ({"hidden": 17}, "not the weights of the model's network"),
    ],
)
def test_state_of_something_else(model, change, reason):
    values, arrays = model.state()
    with pytest.raises(DataError, match=reason):
        NeuralBTGPreorderer.from_state({**values, **change}, arrays)


def test_without_torch(monkeypatch):
    for name in [
        name
        for name in sys.modules
        if name.startswith(("preorder.methods.neural", "preorder.learning.backend"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"torch is not installed; install it with: .*\[neural\]"):
        method_class("neural-btg")
