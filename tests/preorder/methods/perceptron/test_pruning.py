"""Which weights a model keeps, against a count of every look-up in plain Python."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from preorder.btg.scores import node_count
from preorder.compiled import entry_point
from preorder.learning.encode import Batch
from preorder.methods.perceptron.fast.scores import score_sentence
from preorder.methods.perceptron.fast.shapes import shape_scores
from preorder.methods.perceptron.features import TABLE_NAMES
from preorder.methods.perceptron.pruning import pruned
from tests.support.naive_perceptron import FIRST, LAST, key, model

N = 9


@entry_point
def scored(tables, shape, tokens, n):
    return score_sentence(tables, shape, tokens, n)[0]


@pytest.fixture(scope="module")
def learned():
    """Return a sentence of few different tokens, and weights of most of its features."""
    tokens, reference, _ = model(N, 2, seed=1)
    return tokens, Batch(tokens, np.array([1]), np.array([N])), reference.weights()


def look_ups(tokens):
    """Yield what is looked up of a layer, as in :func:`tests.support.naive_perceptron.joined`."""
    for table, size, borders in (("token", 1, 2), ("adjacent", 2, 2), ("trigram", 3, 2)):
        for i in range(N + borders - size + 1):
            yield table, None, tuple(tokens[i : i + size])
    for m in range(2, N + 1):  # the first token of the right child; 0 is what stands before the sentence
        middle = tokens[m - 1], tokens[m]
        for b in range(1, m):
            yield "triple", FIRST, (tokens[b], *middle)
            for e in range(m, N + 1):
                yield "quad", None, (tokens[b], *middle, tokens[e])
        for e in range(m, N + 1):
            yield "triple", LAST, (*middle, tokens[e])
    for i in range(1, N + 1):
        for j in range(i, N + 1):
            yield "pair", None, (tokens[i], tokens[j])


def counted(tokens, weights):
    """Count the look-ups of each table and key."""
    spreads = [
        dict(zip(k.tolist(), s.tolist(), strict=True))
        for k, s in zip(weights.keys, weights.spread, strict=True)
    ]
    found = [look_up for layer in tokens.tolist() for look_up in look_ups(layer)]
    spread = {}
    for table, own, hashes in found:
        if table in ("token", "adjacent"):
            spread[hashes] = spreads[TABLE_NAMES.index(table)][key(table, own, hashes, {})]
    return Counter((table, key(table, own, hashes, spread)) for table, own, hashes in found)


def placed(weights):
    """Return all weights but zeros, by their table, key and column."""
    return {
        (name, int(keys[i]), int(column)): float(rows[i, column])
        for name, keys, rows in zip(TABLE_NAMES, weights.keys, weights.rows, strict=True)
        for i, column in zip(*np.nonzero(rows), strict=True)
    }


def zeroed(weights, kept):
    """Return the weights with zeros for all but some, and every row."""
    rows = [
        np.array(
            [
                [w * ((name, int(k), c) in kept) for c, w in enumerate(row)]
                for k, row in zip(keys, rows, strict=True)
            ]
        )
        for name, keys, rows in zip(TABLE_NAMES, weights.keys, weights.rows, strict=True)
    ]
    return replace(weights, rows=tuple(r.astype(np.float32) for r in rows))


def test_what_is_few_is_kept_whole(learned):
    _, text, weights = learned
    assert placed(pruned(weights, text, 1)) == placed(weights)


@pytest.mark.parametrize("most", [0, 30, 300])
def test_keeps_what_adds_most_and_all_that_it_is_found_through(learned, most):
    tokens, text, weights = learned
    few, every, counts = pruned(weights, text, 2, most=most), placed(weights), counted(tokens, weights)
    kept = placed(few)
    assert len(kept) == most
    assert kept.items() <= every.items()
    adds = {place: counts[place[:2]] * abs(weight) for place, weight in every.items()}
    ranked = sorted(every, key=adds.get, reverse=True)
    assert set(ranked[:most]) == set(kept)
    shape = shape_scores(weights.shape, N)
    ours, theirs = (scored(w.tables(), shape, tokens, N) for w in (few, zeroed(weights, kept)))
    np.testing.assert_array_equal(ours.node[:, : node_count(N)], theirs.node[:, : node_count(N)])
    for one, other in zip(ours[1:], theirs[1:], strict=True):
        np.testing.assert_array_equal(one, other)
    assert sum(k.size for k in few.keys) < sum(k.size for k in weights.keys)


def test_what_training_began_from_is_kept(learned):
    """It was learned from another text, of which this one says nothing."""
    tokens, _, weights = learned
    other = Batch(tokens + np.uint64(1), np.array([1]), np.array([N]))
    assert not placed(pruned(weights, other, 1))
    few = pruned(weights, other, 1, initial=weights, most=1)
    assert placed(few) == placed(weights)
    assert [k.size for k in few.keys] == [k.size for k in weights.keys]
