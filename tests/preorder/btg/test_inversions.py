"""Probabilities of inversions against every tree, one by one, by scores with all terms."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preorder.btg.grammar import CONTEXTS, INVERTED, LABELS, ROOT_CONTEXT, STRAIGHT
from preorder.btg.inversions import inversions
from preorder.btg.scores import node_index
from tests.support.brute_force import BruteForce, by_scores, draw_scores

SENTENCES = given(st.integers(2, 20), st.integers(0, 1000), st.floats(0.1, 5))


@pytest.mark.parametrize(("n", "temperature"), [(1, 1), *itertools.product(range(2, 7), (0.4, 1, 3))])
def test_against_every_tree(n, temperature):
    scores = draw_scores(n, 1)
    score = by_scores(scores)
    expected = BruteForce(n, lambda node: score(node) / temperature).inversions()
    np.testing.assert_allclose(inversions(scores, n, ROOT_CONTEXT, temperature), expected, atol=1e-6)


@pytest.mark.parametrize("root", range(CONTEXTS))
def test_of_a_piece(root):
    scores = draw_scores(4, 0)
    expected = BruteForce(4, by_scores(scores), root).inversions()
    np.testing.assert_allclose(inversions(scores, 4, root, 1.0), expected, atol=1e-6)


def mirrored(scores, n):
    """Return the scores of a sentence read from its end: left children become right ones."""
    twin = scores._make(map(np.zeros_like, scores))
    lanes = [context * LABELS + label for context in (1, 0, 3, 2, ROOT_CONTEXT) for label in range(LABELS)]
    for b, m, e in itertools.combinations(range(n + 1), 3):
        there = node_index(n - m, n - b) + n - e
        twin.node[:, there] = scores.node[:, node_index(m, e) + b]
        twin.left[:, n - m, n - e] = scores.right[e, m]
        twin.right[n - b, n - m] = scores.left[:, m, b]
        twin.span[n - e, n - b] = scores.span[b, e, lanes]
        twin.pivot[n - m] = scores.pivot[m, lanes]
    return twin


def relabelled(scores):
    """Return the scores of trees whose straight nodes are inverted, and whose inverted ones are straight."""
    contexts = (2, 3, 0, 1, ROOT_CONTEXT)
    lanes = [context * LABELS + label for context in contexts for label in (INVERTED, STRAIGHT)]
    node, left, right = scores.node[::-1].copy(), scores.left[::-1].copy(), scores.right[..., ::-1].copy()
    return scores._replace(
        node=node, left=left, right=right, span=scores.span[..., lanes], pivot=scores.pivot[..., lanes]
    )


@SENTENCES
@settings(max_examples=50, deadline=None)
def test_of_a_sentence_read_from_its_end(n, seed, temperature):
    scores = draw_scores(n, seed)
    found = inversions(scores, n, ROOT_CONTEXT, temperature)
    assert ((found >= 0) & (found <= 1)).all()
    assert not np.tril(found).any()
    twin = inversions(mirrored(scores, n), n, ROOT_CONTEXT, temperature)
    np.testing.assert_allclose(twin, found[::-1, ::-1].T, atol=1e-5)


@SENTENCES
@settings(max_examples=50, deadline=None)
def test_of_trees_with_the_other_labels(n, seed, temperature):
    scores = draw_scores(n, seed)
    found = inversions(scores, n, ROOT_CONTEXT, temperature)
    twin = inversions(relabelled(scores), n, ROOT_CONTEXT, temperature)
    np.testing.assert_allclose(twin, np.triu(1 - found, 1), atol=1e-5)


def test_long_sentences_with_large_scores_stay_finite():
    scores = draw_scores(120, 0)
    scores = scores._make(100 * term for term in scores)
    assert np.isfinite(inversions(scores, 120, ROOT_CONTEXT, 0.5)).all()
