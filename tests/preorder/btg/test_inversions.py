"""Probabilities of inversions against every tree, one by one, by scores with all terms."""

import numpy as np
import pytest

from preorder.btg.grammar import CONTEXTS, ROOT_CONTEXT
from preorder.btg.inversions import inversions
from tests.support.brute_force import BruteForce, by_scores, draw_scores


@pytest.mark.parametrize(
    ("n", "temperature", "root"),
    [
        (1, 1, ROOT_CONTEXT),
        *((n, temperature, ROOT_CONTEXT) for n in range(2, 7) for temperature in (0.4, 1, 3)),
        *((4, 1, root) for root in range(CONTEXTS)),
    ],
)
def test_against_every_tree(n, temperature, root):
    scores = draw_scores(n, 1)
    score = by_scores(scores)
    expected = BruteForce(n, lambda node: score(node) / temperature, root).inversions()
    found = inversions(scores, n, root, temperature)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert not np.tril(found).any()


def test_long_sentences_with_large_scores_stay_finite():
    scores = draw_scores(120, 0)
    scores = scores._make(100 * term for term in scores)
    assert np.isfinite(inversions(scores, 120, ROOT_CONTEXT, 0.5)).all()
