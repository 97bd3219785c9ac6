from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from preorder.btg.encode import Encoder
from preorder.btg.options import Options
from preorder.btg.perceptron import Learner, train
from preorder.types import Sentence


def random_corpus(sentences, seed):
    """Draw sentences of a few words and the order of a reversal, with gaps."""
    generator = np.random.default_rng(seed)
    lengths = generator.integers(2, 9, sentences)
    words = [tuple(map(str, generator.integers(0, 12, n))) for n in lengths]
    groups = [np.where(generator.random(n) < 0.2, -1, np.arange(n)[::-1]) for n in lengths]
    return Encoder(["words"])([Sentence(w) for w in words]), np.concatenate(groups).astype(np.int32)


def flat(weights):
    return np.concatenate([*(rows.ravel() for rows in weights.rows), weights.shape.ravel()])


def same(a, b):
    arrays = ((np.array(w.slots), *w.keys, *w.rows, *w.spread, w.shape) for w in (a, b))
    return all(np.array_equal(x, y) for x, y in zip(*arrays, strict=True))


def test_first_step_makes_up_for_the_loss():
    """From zero weights, step = loss / squares of the counts, so squares of the weights = loss · step."""
    batch = Encoder(["words"])([Sentence(("a", "b"))])
    options = Options(cost=3.0, aggressiveness=100.0)
    learner = Learner(batch, np.array([1, 0], np.int32), options)
    with ThreadPoolExecutor(1) as pool:
        assert learner.learn(np.array([0]), pool) == 1
        assert learner.learn(np.array([0]), pool) == 0  # the margin is reached exactly
    weights = flat(learner.average())
    changed = np.abs(weights[weights != 0])
    assert np.unique(changed).size == 1  # every feature once
    assert (changed**2).sum() == pytest.approx(3.0 * changed[0], rel=1e-5)


def test_aggressiveness_bounds_the_step():
    batch = Encoder(["words"])([Sentence(("a", "b"))])
    learner = Learner(batch, np.array([1, 0], np.int32), Options(aggressiveness=0.001))
    with ThreadPoolExecutor(1) as pool:
        learner.learn(np.array([0]), pool)
    assert np.abs(flat(learner.average())).max() == pytest.approx(0.001)


def test_average_is_the_mean_over_time():
    batch, groups = random_corpus(40, seed=1)
    learner = Learner(batch, groups, Options())
    snapshots = []
    with ThreadPoolExecutor(1) as pool:
        for sentence in range(40):
            learner.learn(np.array([sentence]), pool)
            tables = learner._tables[:-1]
            snapshots.append(
                [{int(t.keys[r]): t.weights[r].copy() for r in range(1, int(t.used[0]))} for t in tables]
            )
    average = learner.average()
    for which, (keys, rows) in enumerate(zip(average.keys, average.rows, strict=True)):
        assert len(keys)
        for key, row in zip(keys.tolist(), rows, strict=True):
            mean = sum(snapshot[which].get(key, 0) for snapshot in snapshots) / len(snapshots)
            np.testing.assert_allclose(row, mean, atol=1e-5)


def test_same_seed_same_model_for_any_number_of_threads():
    batch, groups = random_corpus(150, seed=2)
    options = Options(iterations=3, seed=5, minibatch=8)
    one = train(batch, groups, options, lambda _: None)
    assert same(one, train(batch, groups, options, lambda _: None))
    assert same(one, train(batch, groups, replace(options, threads=3), lambda _: None))
    assert not same(one, train(batch, groups, replace(options, seed=6), lambda _: None))


def test_ends_early_once_nothing_is_wrong():
    batch, groups = random_corpus(20, seed=3)
    reports = []
    train(batch, groups, Options(iterations=50), reports.append)
    assert [report.iteration for report in reports] == list(range(1, len(reports) + 1))
    assert reports[-1].errors == 0
    assert len(reports) < 50
