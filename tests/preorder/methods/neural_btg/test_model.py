import sys
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from preorder.btg.constraint import learnable  # noqa: E402
from preorder.errors import DataError, MissingExtraError, UsageError  # noqa: E402
from preorder.learning.checkpoint import Checkpoint  # noqa: E402
from preorder.learning.network import weights_of  # noqa: E402
from preorder.methods.base import Training  # noqa: E402
from preorder.methods.model_directory import Model, load_model, save_model  # noqa: E402
from preorder.methods.neural_btg.model import NeuralBTGPreorderer, ScorerLearner  # noqa: E402
from preorder.methods.perceptron_btg.model import BTGPreorderer  # noqa: E402
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
    return NeuralBTGPreorderer.fit(Training(bitext(), OPTIONS))[0]


def test_an_iteration_sees_every_sentence_once_and_averages_weights():
    lines, constraint, _ = learnable(bitext())
    one, sizes = ScorerLearner(["words"], lines.sentences, constraint, OPTIONS), []
    before = one.model()
    assert one.learn(1, sizes.append).keys() == {"loss", "errors"}
    after, average = weights_of(one._network), one.model()
    assert (sum(sizes), max(sizes)) == (len(SENTENCES), OPTIONS.minibatch)
    for name in average:
        assert np.isfinite(average[name]).all()
        assert not any(np.array_equal(average[name], other[name]) for other in (before, after))


def test_the_ensemble_partner_counts(model, monkeypatch):
    monkeypatch.setattr("preorder.btg.chart.PARTNER_WEIGHT", 1.0)
    perceptron = BTGPreorderer.fit(Training(bitext(), PerceptronOptions()))[0]
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
    with pytest.raises(UsageError, match="`init`: a model of several members"):
        loaded.fixed_options()
    with pytest.raises(UsageError, match="`members`: of method btg and neural-btg alone, not rvnn"):
        TrainingPlan.of("rvnn", members=2)
    with pytest.raises(DataError, match="not the members of a neural BTG model"):
        NeuralBTGPreorderer.from_state({"members": [1]}, {})


def has_bfloat16():
    try:
        with torch.autocast("cpu", torch.bfloat16):
            torch.nn.LSTM(1, 1)(torch.zeros(1, 1, 1))
    except RuntimeError:
        return False
    return True


def learn(monkeypatch, is_fast, **options):
    """Train as if the processor multiplied bfloat16 faster, or not."""
    monkeypatch.setattr("preorder.methods.neural_btg.model.multiplies_bfloat16", lambda _: is_fast)
    return NeuralBTGPreorderer.fit(Training(bitext(), replace(OPTIONS, ensemble="none", **options)))[0]


@pytest.mark.skipif(not has_bfloat16(), reason="the processor has no LSTM in bfloat16")
def test_bfloat16_where_it_is_faster(monkeypatch):
    fast, slow, off = (
        learn(monkeypatch, is_fast, iterations=1, bfloat16=choice).state()[1]
        for is_fast, choice in ((True, "auto"), (False, "auto"), (True, "off"))
    )
    same = [all(np.array_equal(off[name], one[name]) for name in off) for one in (fast, slow)]
    assert same == [False, True]
    assert {array.dtype for array in fast.values()} == {np.dtype(np.float32)}


@pytest.mark.skipif(not has_bfloat16(), reason="the processor has no LSTM in bfloat16")
def test_what_is_learned_in_bfloat16(monkeypatch):
    assert [p.positions for p in learn(monkeypatch, True).order(SENTENCES)] == POSITIONS


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
