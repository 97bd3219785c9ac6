from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from preorder.btg.constraint import Constraint  # noqa: E402
from preorder.data import Sentence  # noqa: E402
from preorder.learning.backend import weights_of  # noqa: E402
from preorder.learning.network_learner import share_of_rate  # noqa: E402
from preorder.methods.neural_btg.model import Learner  # noqa: E402
from preorder.methods.registry import NeuralBTGOptions  # noqa: E402

OPTIONS = NeuralBTGOptions(iterations=4, minibatch=8, hidden=8, depth=2)


def reversals(sentences=60, seed=0):
    """Draw sentences whose tokens all change places; some are free."""
    generator = np.random.default_rng(seed)
    lengths = generator.integers(2, 8, sentences)
    groups = [np.where(generator.random(n) < 0.8, np.arange(n)[::-1], -1) for n in lengths]
    words = [Sentence(tuple(map(str, generator.integers(0, 10, n)))) for n in lengths]
    return words, Constraint.certain(np.concatenate(groups))


def learner(options=OPTIONS, **changes):
    return Learner(["words"], *reversals(), replace(options, **changes))


def iterated(learner, *iterations):
    return [learner.learn(iteration, lambda _: None) for iteration in iterations]


def test_sees_every_sentence_once_an_iteration():
    sizes = []
    learner().learn(1, sizes.append)
    assert sum(sizes) == 60
    assert max(sizes) == 8


def test_average_is_between_first_and_last_weights():
    one = learner()
    before = one.model()
    iterated(one, 1)
    after, average = weights_of(one._network), one.model()
    assert all(np.isfinite(average[name]).all() for name in average)
    assert not any(np.array_equal(average[name], before[name]) for name in average)
    assert not any(np.array_equal(average[name], after[name]) for name in average)


def test_rate_rises_and_falls():
    rates = [share_of_rate(done) for done in np.linspace(0, 1, 101)]
    assert max(rates) == rates[5] == pytest.approx(1)
    assert rates[0] == pytest.approx(0)
    assert rates[-1] == pytest.approx(0)
    assert sorted(rates[:6]) == rates[:6]
    assert sorted(rates[5:], reverse=True) == rates[5:]
