"""Both networks: what they learn, give and keep."""

from dataclasses import replace

import numpy as np
import pytest

from tests.support.trees import random_sentence

torch = pytest.importorskip("torch")

from preorder.data import NO_LINES, Bitext, Sentence  # noqa: E402
from preorder.data.trees import ConstituencyTree, DependencyTree  # noqa: E402
from preorder.errors import UsageError  # noqa: E402
from preorder.methods.base import Training  # noqa: E402
from preorder.methods.registry import all_options, method_class  # noqa: E402
from preorder.methods.tree_swap.model import SwapLearner, weights_in_loss  # noqa: E402
from preorder.syntax.read import parse_bracketing  # noqa: E402
from tests.support.verb_last import CORPUS, bitext, links  # noqa: E402

METHODS = ("rvnn", "swap-lstm")
SMALL = {"iterations": 12, "minibatch": 6, "size": 12, "dropout": 0.1, "learning_rate": 0.02}


def options_of(method, **changes):
    return all_options()[method](**SMALL | changes)


def trained(method, lines=None, held=NO_LINES, **changes):
    return method_class(method).fit(Training(lines or bitext(), options_of(method, **changes), held))


@pytest.fixture(scope="module", params=METHODS)
def model(request):
    return trained(request.param)[0]


def test_best_orders_against_all(model):
    """The scores of all orders of a tree are the logs of probabilities that sum to one."""
    generator = np.random.default_rng(2)
    sentences = [random_sentence(generator, n) for n in (1, 2, 6, 0, 5)]
    for sentence, orders in zip(sentences, model.best_orders(sentences, 1000), strict=True):
        scores = [score for score, _ in orders]
        assert len({order for _, order in orders}) == len(orders) == 2 ** max(0, len(sentence) - 1)
        assert np.exp(scores).sum() == pytest.approx(1)
        assert model.best_orders([sentence], 3)[0] == orders[:3]


@pytest.mark.parametrize("tree", [ConstituencyTree(3, ()), DependencyTree((-1,) * 3, ("_",) * 3)])
@pytest.mark.parametrize("method", METHODS)
def test_sentences_without_a_parse_keep_their_order(method, tree):
    """Every parsed sentence is turned round; the others would be, too, and would teach the contrary."""
    words, tags = tuple("abc"), ("X",) * 3
    flat = Sentence(words, tags, tree=tree)
    parsed = replace(flat, tree=ConstituencyTree(3, ((0, 3, ""),)))
    if isinstance(tree, DependencyTree):
        parsed = replace(flat, tree=DependencyTree((-1, 0, 0), ("root", "_", "_")))
    model, statistics = trained(method, Bitext([parsed, flat] * 12, [links(2, 1, 0), links(0, 1, 2)] * 12))
    assert statistics["nodes"] == 24
    assert [p.positions for p in model.order([parsed, flat])] == [(2, 1, 0), (0, 1, 2)]
    assert [order.positions for _, order in model.best_orders([flat], 9)[0]] == [(0, 1, 2)]
    assert model.trees([flat])[0].permutation.positions == (0, 1, 2)


@pytest.mark.parametrize("method", METHODS)
def test_statistics(method):
    lines = bitext()
    nothing = [parse_bracketing("(S (NN a) (NN b))"), parse_bracketing("(S (NN a))")]
    lines = Bitext([*lines.sentences, *nothing], [*lines.alignments, links(), links(0)])
    _, statistics = trained(method, lines, bitext(CORPUS[:4]))
    assert statistics["nodes"] == sum(len(s) - 1 for s, _ in CORPUS)
    assert statistics["inverted"] == len(CORPUS)
    assert statistics["allowed_aligned"] == statistics["allowed_all"] == 1
    assert statistics["held_out"] == 4
    assert statistics["options"]["binarisation"] == "head"


@pytest.mark.parametrize("method", METHODS)
def test_the_best_orders_that_trees_allow(method):
    """Over aligned tokens, and over all."""
    sentence = parse_bracketing("(S (X a) (X b) (X c) (X d) (X e))")
    _, statistics = trained(method, Bitext([sentence], [links(1, 3, 0, 2)]), iterations=1)
    assert statistics["allowed_aligned"] == pytest.approx(5 / 6)
    assert statistics["allowed_all"] == pytest.approx(8 / 10)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([Sentence(("a", "b"), ("X", "Y"))], r"needs syntax trees \(`trees`\)"),
        ([CORPUS[0][0], Sentence(("a", "b"), ("X", "Y"))], r"needs syntax trees \(`trees`\)"),
        ([Sentence(("a",), tree=ConstituencyTree(1, ()))], r"needs POS tags \(`tags`\)"),
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


def test_random_numbers_of_others_stay_as_they_are():
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    trained("rvnn", iterations=1)
    assert torch.rand(1) == expected


@pytest.mark.parametrize("method", METHODS)
def test_options(method):
    usual, nodes, dropped, without = (
        trained(method, iterations=1, **changes)
        for changes in ({}, {"weighting": "nodes"}, {"dropout": 0.3}, {"category": "off", "vocabulary": 2})
    )
    arrays = [model.state()[1] for model, _ in (usual, nodes, dropped)]
    for other in arrays[1:]:
        assert any(arrays[0][name].tobytes() != other[name].tobytes() for name in other)
    assert len(without[0].state()[1]) < len(arrays[0])
    assert [len(k) for k in without[0].state()[0]["vocabulary"].values()] == [2, 2]
    again = type(without[0]).from_state(*without[0].state())
    unknown = parse_bracketing("(XX (YY (ZZ they)) (WW (VV grow) (UU apples)))")
    assert again.order([CORPUS[0][0], unknown]) == without[0].order([CORPUS[0][0], unknown])
    assert without[1]["history"][0]["errors"] > 0


@pytest.mark.parametrize("method", METHODS)
def test_trees_are_made_binary_as_in_training(method):
    """Those of held-out lines, too: no tree that branches to the left gives this order."""
    lines = Bitext([parse_bracketing("(S (X a) (X b) (X c))")] * 24, [links(2, 0, 1)] * 24)
    model, statistics = trained(method, lines, lines.take(range(4)), binarisation="right")
    assert statistics["history"][-1]["tau_nakagawa"] == 1
    assert model.order(lines.sentences[:1])[0].positions == (2, 0, 1)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("rarity", "is_learned"), [(1e-9, True), (1e9, False)])
def test_rare_words_are_hidden_in_training(method, monkeypatch, rarity, is_learned):
    """Where words alone tell which order is right."""
    monkeypatch.setattr("preorder.learning.network.RARITY", rarity)
    sentences = [parse_bracketing(f"(S (X {word}) (X b))") for word in "ac"] * 12
    _, statistics = trained(method, Bitext(sentences, [links(0, 1), links(1, 0)] * 12))
    assert (statistics["history"][-1]["loss"] < 0.5) == is_learned


def test_every_iteration_goes_on_with_the_rate_and_draws_its_own_order(monkeypatch):
    done, drawn, loss = [], [], SwapLearner._loss
    monkeypatch.setattr("preorder.learning.network.share_of_rate", lambda share: done.append(share) or 1e-9)
    monkeypatch.setattr(SwapLearner, "_loss", lambda *given: drawn.append(given[1].tolist()) or loss(*given))
    trained("rvnn", iterations=4)
    assert done == pytest.approx(np.arange(len(done)) / len(done))
    each = [drawn[k : k + 4] for k in range(0, len(drawn), 4)]  # two minibatches of each length
    lengths = {tuple(len(CORPUS[one[0]][0]) for one in minibatches) for minibatches in each}
    together = {tuple(map(tuple, sorted(minibatches))) for minibatches in each}
    assert len(lengths) > 1
    assert len(together) == 4


def test_weights_of_nodes():
    counts = np.array([[3, 1, 0], [1, 3, 0], [0, 4, 0], [2, 2, 0], [0, 0, 1], [0, 0, 0]])
    assert weights_in_loss(counts, "nodes").tolist() == [1, 1, 1, 1, 1, 0]
    assert weights_in_loss(counts, "pairs").tolist() == [2, 2, 4, 0, 0, 0]
