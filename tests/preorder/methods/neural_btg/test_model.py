import sys
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from preorder.btg.constraint import learnable  # noqa: E402
from preorder.errors import DataError, MissingExtraError, UsageError  # noqa: E402
from preorder.learning.checkpoint import Checkpoint  # noqa: E402
from preorder.learning.network import check_bfloat16, weights_of  # noqa: E402
from preorder.methods.model_directory import Model, load_model, save_model  # noqa: E402
from preorder.methods.neural_btg.model import Learner, NeuralBTGPreorderer  # noqa: E402
from preorder.methods.perceptron.model import BTGPreorderer  # noqa: E402
from preorder.methods.registry import (  # noqa: E402
    NeuralBTGOptions,
    PerceptronOptions,
    method_class,
)
from preorder.methods.train import TrainingPlan  # noqa: E402
from tests.support.verb_last import POSITIONS, SENTENCES, bitext  # noqa: E402

OPTIONS = NeuralBTGOptions(iterations=12, minibatch=6, hidden=16, depth=1, learning_rate=0.02, dropout=0.1)


@pytest.fixture(scope="module")
def model():
    return NeuralBTGPreorderer.fit(bitext(), OPTIONS)[0]


def test_an_iteration_sees_every_sentence_once_and_averages_weights():
    sentences, constraint, _ = learnable(bitext())
    one, sizes = Learner(["words"], sentences, constraint, OPTIONS), []
    before = one.model()
    one.learn(1, sizes.append)
    after, average = weights_of(one._network), one.model()
    assert (sum(sizes), max(sizes)) == (len(SENTENCES), OPTIONS.minibatch)
    for name in average:
        assert np.isfinite(average[name]).all()
        assert not any(np.array_equal(average[name], other[name]) for other in (before, after))


def test_the_ensemble_partner_counts(model, monkeypatch):
    monkeypatch.setattr("preorder.btg.chart.PARTNER_WEIGHT", 1.0)
    perceptron = BTGPreorderer.fit(bitext(), PerceptronOptions())[0]
    assert model.order(SENTENCES) == perceptron.order(SENTENCES)


def test_several_networks_are_one_model(tmp_path):
    plan = TrainingPlan("neural-btg", replace(OPTIONS, iterations=3), members=2)
    checkpoint = Checkpoint(tmp_path / "all.safetensors")
    preorderer, statistics = plan.train(bitext(), checkpoint)
    assert (len(preorderer.members), statistics["members"]) == (2, 2)
    assert {path.name for path in tmp_path.iterdir()} == {"all-1.safetensors", "all-2.safetensors"}
    one = replace(plan, members=1, options=replace(plan.options, seed=2)).train(bitext())[0]
    second, expected = (weights_of(member.scorer) for member in (preorderer.members[1], one.members[0]))
    assert all(np.array_equal(second[name], expected[name]) for name in expected)
    save_model(Model(preorderer), str(tmp_path / "model"))
    loaded = load_model(str(tmp_path / "model")).preorderer
    assert loaded.order(SENTENCES) == preorderer.order(SENTENCES)
    assert loaded.best_orders(SENTENCES, 3) == preorderer.best_orders(SENTENCES, 3)
    with pytest.raises(UsageError, match="--init: a model of several members"):
        loaded.fixed_options()
    with pytest.raises(UsageError, match="--members: of --method neural-btg alone, not btg"):
        TrainingPlan.of("btg", members=2)
    with pytest.raises(DataError, match="not the members of a neural BTG model"):
        NeuralBTGPreorderer.from_state({"members": [1]}, {})


def has_bfloat16():
    try:
        check_bfloat16("cpu")
    except UsageError:
        return False
    return True


@pytest.mark.skipif(has_bfloat16(), reason="the processor has it")
def test_without_bfloat16():
    with pytest.raises(UsageError, match="no LSTM in bfloat16"):
        NeuralBTGPreorderer.fit(bitext(), replace(OPTIONS, bfloat16="on"))


@pytest.mark.skipif(not has_bfloat16(), reason="the processor has no LSTM in bfloat16")
@pytest.mark.parametrize("can", [True, False])
def test_bfloat16_where_it_is_faster(monkeypatch, can):
    monkeypatch.setattr("preorder.methods.neural_btg.model.multiplies_bfloat16", lambda _: can)
    plan = replace(OPTIONS, iterations=1, ensemble="none")
    chosen, on, off = (
        NeuralBTGPreorderer.fit(bitext(), replace(plan, bfloat16=choice))[0].state()[1]
        for choice in ("auto", "on", "off")
    )
    same = [all(np.array_equal(chosen[name], one[name]) for name in chosen) for one in (on, off)]
    assert same == [can, not can]
    assert {array.dtype for array in on.values()} == {np.dtype(np.float32)}


@pytest.mark.skipif(not has_bfloat16(), reason="the processor has no LSTM in bfloat16")
def test_what_is_learned_in_bfloat16():
    model, _ = NeuralBTGPreorderer.fit(bitext(), replace(OPTIONS, bfloat16="on", ensemble="none"))
    assert [p.positions for p in model.order(SENTENCES)] == POSITIONS


def test_without_torch(monkeypatch):
    for name in [
        name
        for name in sys.modules
        if name.startswith(("preorder.methods.neural", "preorder.learning.network"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"torch is not installed: pip install 'torch>=2.6'"):
        method_class("neural-btg")
