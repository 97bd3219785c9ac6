import random
import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from preorder.data import Alignment, Bitext, Sentence
from preorder.errors import DataError, UsageError
from preorder.methods.base import Training
from preorder.methods.perceptron_btg.model import BTGPreorderer
from preorder.methods.perceptron_btg.weights import Weights
from preorder.methods.registry import PerceptronOptions
from preorder.methods.train import TrainingPlan
from tests.support.naive_perceptron import model as naive_model
from tests.support.verb_last import bitext, links, svo


@pytest.fixture(scope="module")
def model():
    return BTGPreorderer.fit(Training(bitext(), PerceptronOptions(iterations=5)))[0]


def test_a_long_sentence_is_cut_where_the_order_stays_in_bounded_time(model):
    """Here, behind the subject of a clause."""
    clause, _ = svo("I", "see", "fish", "birds")
    began = time.process_time()
    (tree,) = model.trees([Sentence(clause.words * 500, clause.tags * 500)])
    assert time.process_time() - began < 20  # the first call compiles
    assert tree.nodes[0].split % 4 == 1


def weights_by_key(weights):
    """Return every weight, by its table, key and column."""
    found = {}
    for which, (keys, rows) in enumerate(zip(weights.keys, weights.rows, strict=True)):
        found |= {(which, keys[row], column): value for (row, column), value in np.ndenumerate(rows)}
    return {place: value for place, value in found.items() if value}  # without the few of shape


def test_the_weights_of_several_members_are_their_means():
    """On text without a rule, so that the order in which it is learned matters."""
    draw = random.Random(1)
    sentences = [Sentence(tuple(draw.choices("abcdefghij", k=6))) for _ in range(50)]
    text = Bitext(sentences, [links(*draw.sample(range(6), 6)) for _ in sentences])
    plan = TrainingPlan.of("btg", iterations=3, held_out=0, members=3)
    preorderer, statistics = plan.train(text)
    assert statistics["members"] == 3
    one = replace(plan, members=1)
    plans = [replace(one, options=replace(plan.options, seed=seed)) for seed in (1, 2, 3)]
    members = [each.train(text)[0]._weights for each in plans]
    sums = Counter()
    for member in members:
        sums.update(weights_by_key(member))
    found = weights_by_key(preorderer._weights)
    assert len(found) <= max(map(len, map(weights_by_key, members)))
    dropped = [abs(value) / 3 for place, value in sums.items() if place not in found]
    kept = [abs(sums[place]) / 3 for place in found]
    assert dropped
    assert min(kept) >= max(dropped)
    assert all(value == pytest.approx(sums[place] / 3, rel=0.05) for place, value in found.items())
    shapes = [member.shape for member in members]
    assert preorderer._weights.shape == pytest.approx(np.mean(shapes, 0), abs=1e-6)
    same = weights_by_key(Weights.mean(members[:1] * 3))
    assert same == pytest.approx(weights_by_key(members[0]), rel=1e-5)


def test_layers_that_some_sentence_lacks_are_left_out():
    sentences = [Sentence(("a", "b"), ("A", "B"), ("1", "2")), Sentence(("a", "b"), None, ("1", "2"))]
    model, _ = BTGPreorderer.fit(
        Training(Bitext(sentences, [links(1, 0)] * 2), PerceptronOptions(iterations=1))
    )
    assert model.layers == {"classes"}


def test_statistics_count_what_was_skipped():
    words = Sentence(tuple("abcd"))
    alignments = [
        links(1, 3, 0, 2),
        links(0, 1, 2, 3),
        Alignment(frozenset({(0, 0), (0, 2), (1, 1)})),
        links(0),
    ]
    sentences = [words, words, words, Sentence(("a",))]
    _, statistics = BTGPreorderer.fit(
        Training(Bitext(sentences, alignments), PerceptronOptions(iterations=1, threads=2))
    )
    assert (statistics["trained"], statistics["skipped"], statistics["trivial"]) == (1, 2, 1)
    assert statistics["options"]["iterations"] == 1
    assert "threads" not in statistics["options"]


@pytest.mark.parametrize("alignment", [links(1, 3, 0, 2), Alignment(frozenset()), links(0)])
def test_nothing_to_learn_from(alignment):
    with pytest.raises(UsageError, match="no sentence has two tokens whose links ask for an order"):
        BTGPreorderer.fit(Training(Bitext([Sentence(tuple("abcd"))], [alignment]), PerceptronOptions()))


def test_a_file_keeps_the_largest_weights_and_all_that_training_began_from():
    weights = naive_model(9, 2, seed=1)[1].weights()
    sizes = np.sort(np.concatenate([np.abs(rows[rows != 0]) for rows in weights.rows]))[::-1]
    for most in (0, 30, sizes.size):
        few = weights.compact(0.0, most=most)
        assert sum(np.count_nonzero(rows) for rows in few.rows) == most
        assert all(rows.any(axis=1).all() for rows in few.rows)
        for keys, rows, all_keys, all_rows in zip(
            few.keys, few.rows, weights.keys, weights.rows, strict=True
        ):
            before = all_rows[[all_keys.tolist().index(key) for key in keys.tolist()]]
            np.testing.assert_allclose(
                rows, np.where(np.abs(before) > sizes[most:][:1].sum(), before, 0), 0.05
            )
    assert sum(np.count_nonzero(rows) for rows in weights.compact(sizes[50]).rows) == 51
    few = weights.compact(0.0, initial=weights, most=1)
    assert [rows.shape for rows in few.rows] == [rows.shape for rows in weights.rows]
    assert sum(np.count_nonzero(rows) for rows in few.rows) == sizes.size


def test_state_with_missing_weights(model):
    values, arrays = model.state()
    for name, array in arrays.items():
        others = {k: v for k, v in arrays.items() if k != name}
        for damaged in ({}, {name: array[:-1]}):
            with pytest.raises(DataError, match="not the weights of a BTG model"):
                BTGPreorderer.from_state(values, others | damaged)
