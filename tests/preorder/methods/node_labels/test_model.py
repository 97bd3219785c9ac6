"""Both networks and the logistic regression: what they learn, give and keep."""

import itertools
import sys

import numpy as np
import pytest

from tests.support.trees import random_sentence

torch = pytest.importorskip("torch")

from preorder.data.errors import DataError, UsageError  # noqa: E402
from preorder.data.trees import ConstituencyTree, DependencyTree  # noqa: E402
from preorder.data.types import NO_LINES, Alignment, Bitext, Sentence  # noqa: E402
from preorder.learning.checkpoint import Checkpoint  # noqa: E402
from preorder.methods.base import all_options, method_class  # noqa: E402
from preorder.methods.node_labels.recursive.learner import weights_of  # noqa: E402
from preorder.syntax.bracketing import parse_bracketing  # noqa: E402

NETWORKS = ("rvnn", "swap-lstm")
METHODS = (*NETWORKS, "swap-logistic")
SMALL = {"iterations": 12, "minibatch": 6, "size": 12, "dropout": 0.1, "learning_rate": 0.02}

SUBJECTS, VERBS, OBJECTS = ("I", "you", "we"), ("see", "eat", "hear"), ("fish", "birds", "trees")


def svo(subject, verb, *objects):
    """Make a sentence whose verb belongs to the end, and the places of its tokens then."""
    phrase = " ".join(f"(NN {word})" for word in objects)
    sentence = parse_bracketing(f"(ROOT (S (NP (PRP {subject})) (VP (VBP {verb}) (NP {phrase}))))")
    return sentence, (0, len(sentence) - 1, *range(1, len(sentence) - 1))


CORPUS = [svo(s, v, *o) for s, v in itertools.product(SUBJECTS, VERBS) for o in (OBJECTS[:1], OBJECTS[:2])]


def links(*targets):
    return Alignment(frozenset(enumerate(targets)))


def bitext(corpus=CORPUS):
    sentences, positions = zip(*corpus, strict=True)
    return Bitext(sentences, [links(*p) for p in positions])


def options_of(method, **changes):
    return all_options()[method](**(SMALL if method in NETWORKS else {"inverse_penalty": 5.0}) | changes)


def trained(method, lines=None, held=NO_LINES, **changes):
    return method_class(method).fit(lines or bitext(), options_of(method, **changes), held)


@pytest.fixture(scope="module", params=METHODS)
def model(request):
    return trained(request.param)[0]


def test_learns_a_pattern_exactly(model):
    assert [p.positions for p in model.order([s for s, _ in CORPUS])] == [p for _, p in CORPUS]


def test_carries_over_to_unseen_words_and_categories(model):
    sentence, positions = svo("they", "grow", "apples")
    assert model.order([sentence])[0].positions == positions
    other = parse_bracketing("(XX (YY (ZZ they)) (WW (VV grow) (UU apples)))")
    assert len(model.order([other])[0]) == 3


def test_tree_is_behind_the_order(model):
    sentences = [s for s, _ in CORPUS]
    assert [tree.permutation for tree in model.trees(sentences, threads=2)] == model.order(sentences)


def test_short_sentences(model):
    sentences = [parse_bracketing(""), parse_bracketing("(S (NN fish))"), parse_bracketing("")]
    assert [len(p) for p in model.order(sentences)] == [0, 1, 0]
    assert [tree.nodes for tree in model.trees(sentences)] == [(), (), ()]
    assert model.order([]) == []
    assert [len(best) for best in model.best_orders(sentences, 4)] == [1, 1, 1]
    assert model.best_orders([], 4) == []


def test_any_batch_and_any_order_of_sentences_gives_the_same(model, monkeypatch):
    generator = np.random.default_rng(1)
    sentences = [random_sentence(generator, int(n)) for n in generator.integers(0, 25, 80)]
    expected = model.order(sentences)
    assert [model.order([sentence])[0] for sentence in sentences] == expected
    shuffled = generator.permutation(len(sentences)).tolist()
    assert model.order([sentences[i] for i in shuffled], threads=3) == [expected[i] for i in shuffled]
    monkeypatch.setattr("preorder.methods.node_labels.recursive.model.TOKENS", 30)
    assert model.order(sentences, threads=2) == expected


def test_best_orders_against_all(model):
    """The scores of all orders of a tree are the logs of probabilities that sum to one."""
    generator = np.random.default_rng(2)
    sentences = [random_sentence(generator, n) for n in (1, 2, 6, 0, 5)]
    for sentence, orders, trees in zip(
        sentences, model.best_orders(sentences, 1000), model.best_trees(sentences, 1000), strict=True
    ):
        scores = [score for score, _ in orders]
        assert len({order for _, order in orders}) == len(orders) == 2 ** max(0, len(sentence) - 1)
        assert scores == sorted(scores, reverse=True)
        assert np.exp(scores).sum() == pytest.approx(1)
        assert [(score, tree.permutation) for score, tree in trees] == orders
        assert orders[0][1] == model.order([sentence])[0]
        assert model.best_orders([sentence], 3)[0] == orders[:3]


def test_long_and_deep_sentences(model):
    words = " ".join(f"(NN w{i})" for i in range(1000))
    assert len(model.order([parse_bracketing(f"(S {words})")])[0]) == 1000


def test_state_round_trip(model):
    values, arrays = model.state()
    again = type(model).from_state(values, arrays)
    sentences = [s for s, _ in CORPUS]
    assert again.layers == model.layers == {"tags", "constituency"}
    assert again.order(sentences) == model.order(sentences)
    assert again.state()[0] == values
    for name, array in again.state()[1].items():
        np.testing.assert_array_equal(array, arrays[name])


@pytest.mark.parametrize("method", METHODS)
def test_dependencies_and_classes(method):
    """Heads come first in the training text and belong to the end; classes are read where all have them."""

    def sentence(words):
        heads = DependencyTree((-1, 0, 0), ("root", "obj", "obl"))
        return Sentence(words, ("V", "N", "N"), ("1", "2", "3"), heads)

    lines = [sentence((v, *o)) for v in VERBS for o in itertools.permutations(OBJECTS, 2)]
    model, _ = trained(method, Bitext(lines, [links(2, 1, 0)] * len(lines)))
    assert model.layers == {"tags", "classes", "dependency"}
    assert model.order(lines[:1])[0].positions == (2, 1, 0)


@pytest.mark.parametrize("method", METHODS)
def test_figures(method):
    lines = bitext()
    nothing = [parse_bracketing("(S (NN a) (NN b))"), parse_bracketing("(S (NN a))")]
    lines = Bitext([*lines.sentences, *nothing], [*lines.alignments, links(), links(0)])
    _, figures = trained(method, lines, bitext(CORPUS[:4]))
    assert figures["nodes"] == sum(len(s) - 1 for s, _ in CORPUS)
    assert figures["inverted"] == len(CORPUS)
    assert figures["allowed_aligned"] == figures["allowed_all"] == 1
    assert figures["held_out"] == 4
    assert figures["options"]["binarisation"] == "head"


@pytest.mark.parametrize("method", METHODS)
def test_nothing_but_one_label(method):
    """Every node is straight, or every one inverted."""
    lines = [s for s, _ in CORPUS if len(s) == 3]
    for targets in ((0, 1, 2), (2, 1, 0)):
        model, _ = trained(method, Bitext(lines, [links(*targets)] * len(lines)))
        assert {p.positions for p in model.order(lines)} == {targets}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([Sentence(("a", "b"), ("X", "Y"))], r"needs syntax trees \(--trees\)"),
        ([CORPUS[0][0], Sentence(("a", "b"), ("X", "Y"))], r"needs syntax trees \(--trees\)"),
        ([Sentence(("a",), tree=ConstituencyTree(1, ()))], r"needs POS tags \(--pos\)"),
        (
            [CORPUS[0][0], Sentence(("a",), ("X",), tree=DependencyTree((-1,), ("root",)))],
            "constituency and dependency trees are mixed",
        ),
        ([CORPUS[0][0]], "no node of the trees has an aligned token in both of its children"),
    ],
)
def test_nothing_to_learn_from(method, lines, reason):
    with pytest.raises(UsageError, match=reason):
        trained(method, Bitext(lines, [links()] * len(lines)))


def test_link_out_of_range():
    with pytest.raises(DataError, match="out of range"):
        trained("rvnn", Bitext([CORPUS[0][0]], [Alignment(frozenset({(9, 0)}))]))


@pytest.mark.parametrize("method", NETWORKS)
def test_held_out_lines_choose_the_iteration(method):
    held = bitext(CORPUS[:4])
    _, figures = trained(method, bitext(CORPUS[4:]), held)
    taus = [one["tau_nakagawa"] for one in figures["history"]]
    assert taus.index(max(taus)) == figures["iteration"] - 1


@pytest.mark.parametrize("method", NETWORKS)
def test_interrupted_training_goes_on_to_the_same_model(method, tmp_path):
    changes = {"iterations": 4, "patience": 9, "learning_rate": 0.001}
    expected, _ = trained(method, **changes)
    checkpoint = Checkpoint(tmp_path / "checkpoint", 0)
    learner = sys.modules["preorder.methods.node_labels.recursive.learner"].Learner
    iterate = learner.iterate

    def interrupted(self, iteration, advance):
        if iteration == 3:
            raise KeyboardInterrupt
        return iterate(self, iteration, advance)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("preorder.learning.checkpoint.SHARE", float("inf"))
        patch.setattr(learner, "iterate", interrupted)
        with pytest.raises(KeyboardInterrupt):
            method_class(method).fit(bitext(), options_of(method, **changes), checkpoint=checkpoint)
    again, _ = method_class(method).fit(bitext(), options_of(method, **changes), checkpoint=checkpoint)
    for name, array in expected.state()[1].items():
        assert array.tobytes() == again.state()[1][name].tobytes(), name


@pytest.mark.parametrize("method", METHODS)
def test_same_seed_same_model(method):
    torch.manual_seed(7)
    expected = torch.rand(1)
    changes = {"iterations": 2} if method in NETWORKS else {}
    one, other = (trained(method, **changes)[0].state()[1] for _ in range(2))
    assert all(one[name].tobytes() == other[name].tobytes() for name in one)
    if method in NETWORKS:
        differing = trained(method, seed=2, **changes)[0].state()[1]
        assert any(one[name].tobytes() != differing[name].tobytes() for name in one)
    torch.manual_seed(7)
    assert torch.rand(1) == expected


@pytest.mark.parametrize("method", NETWORKS)
def test_options_of_the_network(method):
    with_category, _ = trained(method, iterations=1)
    without, figures = trained(
        method, iterations=1, category="off", weighting="pairs", inverted_weight=2.0, vocabulary=2
    )
    assert len(without.state()[1]) < len(with_category.state()[1])
    assert [len(k) for k in without.state()[0]["vocabulary"].values()] == [2, 2]
    again = type(without).from_state(*without.state())
    assert again.order([CORPUS[0][0]]) == without.order([CORPUS[0][0]])
    assert figures["history"][0]["errors"] > 0


def test_weights_of_nodes():
    counts = np.array([[3, 1, 0], [1, 3, 0], [0, 4, 0], [2, 2, 0], [0, 0, 1], [0, 0, 0]])
    assert weights_of(counts, "nodes", 1.0).tolist() == [1, 1, 1, 1, 1, 0]
    assert weights_of(counts, "nodes", 2.0).tolist() == [1, 2, 2, 1, 1, 0]
    assert weights_of(counts, "pairs", 2.0).tolist() == [2, 4, 8, 0, 0, 0]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"trees": "rings"}, "not the trees of a model of nodes: 'rings'"),
        ({"binarisation": "up"}, "not the trees of a model of nodes: 'constituency', 'up'"),
        ({"category": "yes"}, "not the trees of a model of nodes: 'constituency', 'head', 'yes'"),
        ({"size": -1}, "not the size of a model of nodes: -1"),
        ({"categories": 3}, "not the vocabulary of a model of nodes"),
        ({"vocabulary": {"words": 3}}, "not the vocabulary of a model of nodes"),
        ({"vocabulary": {"tags": []}}, "not the vocabulary of a model of nodes"),
        ({"size": 13}, "not the weights of the model's network"),
    ],
)
@pytest.mark.parametrize("method", NETWORKS)
def test_not_a_state(method, values, reason):
    state, arrays = trained(method, iterations=1)[0].state()
    with pytest.raises(DataError, match=reason):
        method_class(method).from_state(state | values, arrays)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"trees": "rings"}, "not the trees and layers of a regression: 'rings'"),
        ({"binarisation": None}, "not the trees and layers of a regression: 'constituency', None"),
        ({"channels": ["words"]}, r"not the trees and layers of a regression: .* \['words'\]"),
        ({}, "not the weights of a regression on nodes"),
    ],
)
def test_not_the_state_of_a_regression(values, reason):
    method = method_class("swap-logistic")
    state, _ = method.fit(bitext(), options_of("swap-logistic"))[0].state()
    with pytest.raises(DataError, match=reason):
        method.from_state(state | values, {})


def test_regression_needs_no_torch():
    import subprocess

    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from preorder.methods.base import method_class\n"
        "method_class('swap-logistic')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
