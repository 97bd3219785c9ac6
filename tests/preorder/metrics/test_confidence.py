"""Confidences of orders against the trees that they are expected over, and calibration against SciPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, mannwhitneyu, spearmanr

from preorder.data import Permutation
from preorder.metrics import RIGHT_TAU
from preorder.metrics.confidence import calibration, order_confidence
from tests.support.brute_force import BruteForce, by_parts, draw_parts, order


@pytest.mark.parametrize("n", range(2, 7))
def test_expected_tau_is_the_mean_over_all_trees(n):
    (parts,) = draw_parts(n, 1)
    twin = BruteForce(n, by_parts(parts))
    positions = np.random.default_rng(n).permutation(n)
    taus = [kendalltau(positions, np.argsort(order(tree, 0, n))).statistic for tree in twin.trees]
    found = order_confidence(Permutation(tuple(positions.tolist())), [twin.inversions()])
    assert found.expected_tau == pytest.approx(np.dot(twin.probabilities(), taus))


matrices = st.integers(2, 8).flatmap(
    lambda n: st.tuples(st.permutations(range(n)), st.lists(st.floats(0, 1), min_size=n * n, max_size=n * n))
)


@given(matrices)
@settings(deadline=None)
def test_tokens_and_reversed_orders(drawn):
    order, numbers = drawn
    n = len(order)
    inverted = np.triu(np.reshape(numbers, (n, n)), 1)
    found = order_confidence(Permutation(tuple(order)), [inverted])
    reverse = order_confidence(Permutation(tuple(n - 1 - p for p in order)), [inverted])
    assert reverse.expected_tau == pytest.approx(-found.expected_tau)
    assert found.expected_tau == pytest.approx(np.mean(found.tokens))
    for i, one in enumerate(found.tokens):
        pairs = [(min(i, j), max(i, j)) for j in range(n) if j != i]
        errors = [abs((order[a] > order[b]) - inverted[a, b]) for a, b in pairs]
        assert one == pytest.approx(1 - 2 * np.mean(errors))


def test_pieces_and_short_sentences():
    assert order_confidence(Permutation(()), []) == (1, ())
    assert order_confidence(Permutation((0,)), []) == (1, (1,))
    piece = np.array([[0, 0.5], [0, 0]])
    found = order_confidence(Permutation((0, 1, 3, 2)), [piece, piece])
    assert found.expected_tau == pytest.approx(1 - 4 / 12 * (0.5 + 0.5))


def test_calibration():
    generator = np.random.default_rng(0)
    rows, taus, expected = [], [], []
    pairs, sums, inverted_pairs = {}, {}, {}
    for number in range(40):
        n = int(generator.integers(2, 6))
        positions = generator.permutation(n)
        inverted = np.triu(generator.random((n, n)), 1)
        gold = generator.permutation(n) if number % 2 else positions
        permutation = Permutation(tuple(positions.tolist()))
        rows.append((tuple(gold.tolist()), permutation, [inverted]))
        taus.append(round(kendalltau(gold, positions).statistic, 9))  # equal ones are equal
        expected.append(order_confidence(permutation, [inverted]).expected_tau)
        for i in range(n):
            for j in range(i + 1, n):
                which = int(inverted[i, j] * 10)
                pairs[which] = pairs.get(which, 0) + 1
                sums[which] = sums.get(which, 0) + inverted[i, j]
                inverted_pairs[which] = inverted_pairs.get(which, 0) + (gold[i] > gold[j])
    rows.append((None, Permutation((0, 1)), [np.zeros((2, 2))]))
    found = calibration(rows)
    right = np.array(taus) > RIGHT_TAU
    scores = np.array(expected)
    area = mannwhitneyu(scores[right], scores[~right]).statistic / (right.sum() * (~right).sum())
    assert (found.sentences, found.auc) == (40, pytest.approx(area))
    assert (found.tau, found.expected_tau) == (pytest.approx(np.mean(taus)), pytest.approx(np.mean(expected)))
    assert found.spearman == pytest.approx(spearmanr(expected, taus).statistic)
    assert [(one.pairs, one.marginal, one.frequency) for one in found.bins] == [
        (pairs[k], pytest.approx(sums[k] / pairs[k]), inverted_pairs[k] / pairs[k]) for k in sorted(pairs)
    ]


def test_ties_unaligned_tokens_and_pieces_do_not_count():
    certain = np.triu(np.ones((2, 2)), 1)
    found = calibration([((1, 1), Permutation((0, 1)), [certain]), ((1, -1), Permutation((0, 1)), [certain])])
    assert (found.bins, found.sentences) == ((), 2)
    found = calibration([((1, 0, 0, 1), Permutation((0, 1, 2, 3)), [certain, certain])])
    assert [(one.pairs, one.marginal, one.frequency) for one in found.bins] == [(2, 1, 0.5)]
    assert (found.spearman, found.auc) == (None, None)
    assert calibration([(None, Permutation((0,)), [])]) is None
