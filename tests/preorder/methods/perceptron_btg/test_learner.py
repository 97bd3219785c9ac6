from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from preorder.btg.constraint import Constraint
from preorder.data import Sentence
from preorder.methods.perceptron_btg.learner import PerceptronLearner, weights_of
from preorder.methods.perceptron_btg.weights import unpack
from preorder.methods.registry import PerceptronOptions

SWAP = (["words"], [Sentence(("a", "b"))], Constraint(np.array([1, 0], np.int32), np.ones(2)))


def random_corpus(sentences, seed, count=12):
    """Draw sentences of a few words and the order of a reversal, with gaps."""
    generator = np.random.default_rng(seed)
    lengths = generator.integers(2, 9, sentences)
    words = [tuple(map(str, generator.integers(0, count, n))) for n in lengths]
    groups = [np.where(generator.random(n) < 0.2, -1, np.arange(n)[::-1]) for n in lengths]
    flat = np.concatenate(groups).astype(np.int32)
    return ["words"], [Sentence(w) for w in words], Constraint(flat, np.ones(flat.size))


def flat(learner):
    weights = weights_of(learner.model())
    return np.concatenate([*(rows.ravel() for rows in weights.rows), weights.shape.ravel()])


def same(a, b):
    arrays = ((*w.keys, *w.rows, *w.spread, w.shape) for w in (a, b))
    return all(np.array_equal(x, y) for x, y in zip(*arrays, strict=True))


def test_first_step_makes_up_for_the_loss_within_the_aggressiveness():
    """From zero weights, step = loss / squares of the counts, so squares of the weights = loss · step."""
    options = PerceptronOptions(cost=3.0, aggressiveness=100.0)
    learner = PerceptronLearner(*SWAP, options)
    with ThreadPoolExecutor(1) as pool:
        assert learner.learn_from(np.array([0]), pool)[0] == 1
        assert learner.learn_from(np.array([0]), pool)[0] == 0  # the margin is reached exactly
    weights = flat(learner)
    changed = np.abs(weights[weights != 0])
    assert np.unique(changed).size == 1  # every feature once
    assert (changed**2).sum() == pytest.approx(3.0 * changed[0], rel=1e-5)
    learner = PerceptronLearner(*SWAP, PerceptronOptions(aggressiveness=0.001))
    with ThreadPoolExecutor(1) as pool:
        learner.learn_from(np.array([0]), pool)
    assert np.abs(flat(learner)).max() == pytest.approx(0.001)


def test_average_weighs_later_weights_more():
    learner = PerceptronLearner(*random_corpus(40, seed=1), PerceptronOptions())
    snapshots = []
    with ThreadPoolExecutor(1) as pool:
        for sentence in range(40):
            learner.learn_from(np.array([sentence]), pool)
            tables = learner._tables[:-1]
            snapshots.append(
                [{int(t.keys[r]): t.weights[r].copy() for r in range(1, int(t.used[0]))} for t in tables]
            )
    average = weights_of(learner.model())
    shares = np.diff(np.arange(41.0) ** 4)  # about the cube of the time
    for which, (keys, rows) in enumerate(zip(average.keys, average.rows, strict=True)):
        assert len(keys)
        for key, row in zip(keys.tolist(), rows, strict=True):
            over_time = [snapshot[which].get(key, np.zeros_like(row)) for snapshot in snapshots]
            np.testing.assert_allclose(row, np.average(over_time, 0, shares), atol=1e-5)


def test_each_sentence_has_its_own_time():
    """However many are learned from at once."""
    options = PerceptronOptions(minibatch=1)
    one, other = (PerceptronLearner(*random_corpus(40, seed=1), options) for _ in range(2))
    with ThreadPoolExecutor(1) as pool:
        one.learn_from(np.arange(40), pool)
        for sentence in range(40):
            other.learn_from(np.array([sentence]), pool)
    np.testing.assert_allclose(flat(one), flat(other), atol=1e-5)


def test_the_weights_of_a_file_are_as_good_to_begin_from(monkeypatch):
    """Tables grow far beyond those of the file: all of a key must have been kept."""
    monkeypatch.setattr("preorder.methods.perceptron_btg.learner.FIRST_ROWS", 8)
    first = PerceptronLearner(*random_corpus(5, seed=6), PerceptronOptions(minibatch=8))
    first.learn(1, lambda _: None)
    weights = weights_of(first.model()).compact(1e-5)
    kept = unpack(weights.pack())
    models = []
    for initial in (weights, kept):
        learner = PerceptronLearner(
            *random_corpus(100, seed=7, count=400), PerceptronOptions(minibatch=8), initial
        )
        learner.learn(1, lambda _: None)
        models.append(weights_of(learner.model()))
    assert same(*models)
    assert len(models[0].keys[-1]) > 2 * len(weights.keys[-1])
