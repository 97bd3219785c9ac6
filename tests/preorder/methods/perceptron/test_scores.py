"""Scores of nodes against every template, one by one."""

import pytest

from preorder.btg.grammar import CONTEXTS, LABELS
from preorder.compiled import entry_point
from preorder.methods.perceptron.fast.scores import score_sentence
from preorder.methods.perceptron.fast.shapes import shape_scores
from tests.support.brute_force import by_scores
from tests.support.naive_perceptron import model

CASES = [(n, layers, seed) for n in range(2, 7) for layers in (1, 3) for seed in range(3)]


@entry_point
def scored(tables, shape, tokens, n):
    scores, _ = score_sentence(tables, shape, tokens, n)
    return scores


@pytest.mark.parametrize(("n", "layers", "seed"), [*CASES, (26, 2, 0)])
def test_scores_equal_naive_templates(n, layers, seed):
    tokens, reference, _ = model(n, layers, seed)
    tables = reference.weights().tables()
    score = by_scores(scored(tables, shape_scores(tables.shape, n), tokens, n))
    ends = range(2, n + 1) if n < 8 else (2, n // 2, n)
    for end in ends:
        for begin in range(end - 1):
            for split in range(begin + 1, end):
                for label in range(LABELS):
                    for context in range(CONTEXTS):
                        node = (begin, split, end, label, context)
                        assert score(node) == pytest.approx(reference.score((node,)), abs=1e-3)
