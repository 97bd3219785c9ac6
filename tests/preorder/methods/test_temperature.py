"""The temperature of the scores: what is fitted, and what a model without one refuses."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from preorder.btg.pieces import EXACT
from preorder.data.errors import DataError, UsageError
from preorder.data.types import Alignment, Bitext, Sentence
from preorder.learning.encode import Encoder
from preorder.methods.perceptron.fast.shapes import shape_scores
from preorder.methods.perceptron.model import BTGPreorderer
from preorder.methods.perceptron.options import Options
from preorder.methods.perceptron.parse import scores_of
from preorder.methods.perceptron.probabilities import log_likelihoods
from preorder.methods.temperature import GREATEST, LEAST, fitted_temperature, lines_to_fit
from tests.support.brute_force import BruteForce, by_scores, draw_scores, order
from tests.support.drawn import check_frequencies
from tests.support.verb_last import CORPUS, LINES, SENTENCES, bitext, links

OPTIONS = Options(iterations=3, aggressiveness=0.003)
HELD_OUT = bitext(CORPUS[:6])


@pytest.fixture(scope="module")
def model():
    return BTGPreorderer.fit(bitext(CORPUS[6:]), OPTIONS, HELD_OUT)[0]


def temperature(preorderer):
    return preorderer.state()[0].get("temperature")


@pytest.mark.parametrize("truth", [0.25, 2.0])
def test_the_temperature_that_orders_were_drawn_by_is_found(truth):
    """The likelihood of orders, each that of all trees that give it, by every tree one by one."""
    generator = np.random.default_rng(4)
    twins, drawn = [], []
    for seed in range(300):
        score = by_scores(draw_scores(4, seed))
        twin = BruteForce(4, score)
        scores = np.array(twin.scores) / truth
        probabilities = np.exp(scores - np.logaddexp.reduce(scores))
        twins.append(twin)
        drawn.append(order(twin.trees[generator.choice(len(scores), p=probabilities)], 0, 4))

    def likelihoods(rate):
        found = []
        for twin, given in zip(twins, drawn, strict=True):
            scores = rate * np.array(twin.scores)
            same = [order(tree, 0, 4) == given for tree in twin.trees]
            found.append(np.logaddexp.reduce(scores[same]) - np.logaddexp.reduce(scores))
        return np.array(found)

    assert fitted_temperature(likelihoods) == pytest.approx(truth, rel=0.15)


def test_bounds_of_the_temperature():
    assert fitted_temperature(lambda rate: -np.ones(2) / rate) == pytest.approx(LEAST, rel=0.01)
    assert fitted_temperature(lambda rate: -np.ones(2) * rate) == pytest.approx(GREATEST, rel=0.01)


def in_python(model, rate):
    """Return tables, batch and the trees, one by one, of four sentences under a model."""
    tables, shape = model._weights.tables(), shape_scores(model._weights.shape, EXACT)
    batch = Encoder(["words", "tags"])(SENTENCES[:4])
    twins = []
    for n, start in zip(batch.lengths, batch.starts, strict=True):
        score = by_scores(scores_of(tables, shape, batch.tokens[:, start - 1 : start + n + 1], n))
        twins.append(BruteForce(n, lambda node, score=score: rate * score(node)))
    return tables, shape, batch, twins


@pytest.mark.parametrize("rate", [0.3, 3.0])
def test_likelihoods_against_every_tree(model, rate):
    tables, shape, batch, twins = in_python(model, rate)
    groups = [[0, -1, 0], [2, 0, -1, 1], [1, 0, 1], [0, 2, 1, -1]]
    found = log_likelihoods(tables, shape, batch, np.concatenate(groups).astype(np.int32), rate, 2)
    expected = [
        twin.log_partition(row) - twin.log_partition() for twin, row in zip(twins, groups, strict=True)
    ]
    assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("given", [0.2, 1.5])
def test_drawn_orders_against_every_tree(model, given):
    values, arrays = model.state()
    warmer = BTGPreorderer.from_state(values | {"temperature": given}, arrays)
    *_, twins = in_python(model, 1 / given)
    for sentence, twin in zip(SENTENCES[:4], twins, strict=True):
        probabilities = Counter()
        for tree, probability in zip(twin.trees, twin.probabilities(), strict=True):
            probabilities[order(tree, 0, twin.n)] += probability
        drawn = warmer.sample([sentence] * 20_000, range(20_000), 1)
        check_frequencies([one.order for one in drawn], probabilities)


def test_it_is_fitted_on_held_out_lines_for_any_number_of_threads(model):
    again, _ = BTGPreorderer.fit(bitext(CORPUS[6:]), replace(OPTIONS, threads=2), HELD_OUT)
    assert LEAST <= temperature(model) == temperature(again) <= GREATEST
    values, arrays = model.state()
    loaded = BTGPreorderer.from_state(values, arrays)
    lines, numbers = LINES * 50, range(len(LINES) * 50)
    assert loaded.sample(lines, numbers, 1) == model.sample(lines, numbers, 1)


def test_lines_to_fit():
    a, long = Sentence(tuple("abc")), Sentence(("a",) * (EXACT + 1))
    none = Alignment(frozenset({(0, 0), (0, 2), (1, 1)}))  # asks for no one order
    doubtful = Alignment.weighted({(0, 1): 0.5, (1, 0): 0.5, (2, 2): 1})
    lines = Bitext(
        [a, a, Sentence(("a",)), long, *[a] * 2000],
        [links(2, 0, 1), none, links(0), none, *[doubtful] * 2000],
    )
    sentences, groups = lines_to_fit(lines, 1)
    assert sentences == [a] * 1000
    assert groups.dtype == np.int32
    rows = groups.reshape(-1, 3).tolist()
    assert rows[0] == [2, 0, 1]
    kept = sum(row[:2] == [1, 0] for row in rows[1:])
    assert all(row[2] == 2 and (row[:2] == [1, 0] or row[:2] == [-1, -1]) for row in rows[1:])
    assert 400 < kept < 600
    assert lines_to_fit(lines.take([1, 2]), 1)[0] == []


def test_lines_to_fit_are_spread_over_all():
    lines = Bitext([Sentence((str(i), "b")) for i in range(1999)], [links(1, 0)] * 1999)
    sentences, _ = lines_to_fit(lines, 1)
    assert [int(sentence.words[0]) for sentence in sentences] == list(range(0, 1999, 2))


def test_a_model_without_one_has_no_probabilities():
    """As models have it that were written before, or learned without held-out lines."""
    model, _ = BTGPreorderer.fit(bitext(), OPTIONS)
    assert temperature(model) is None
    with pytest.raises(UsageError, match=r"^the model has no probabilities of orders: train it again, "):
        model.sample([], [], 1)


@pytest.mark.parametrize("value", [0.0, -1.0, 1e9, 1, True, "0.5", float("nan"), float("inf"), [0.5]])
def test_damaged_temperatures(model, value):
    values, arrays = model.state()
    with pytest.raises(DataError, match="not the temperature of a BTG model"):
        BTGPreorderer.from_state(values | {"temperature": value}, arrays)


def test_long_sentences(model):
    """Beyond EXACT tokens they are cut, where the order stays; elsewhere the best order is the likeliest."""
    clause = SENTENCES[0]
    sentence = Sentence(clause.words * 100, clause.tags * 100)
    (best,), count = model.order([sentence]), 40
    drawn = np.array([one.positions for one in model.sample([sentence] * count, range(count), 1)])
    np.testing.assert_array_equal(np.median(drawn, 0), best.positions)
    error = drawn.std(0) / count**0.5
    np.testing.assert_array_less(abs(drawn.mean(0) - best.positions), 5 * error + 0.5)
    again = model.sample([sentence] * 2, [3, 3], 1)
    assert again[0] == again[1]
    cut = model.trees([sentence])[0].nodes[0].split
    assert (np.sort(drawn[:, :cut]) == np.arange(cut)).all()
