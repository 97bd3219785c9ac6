"""Scores, features in which trees differ, and parses, against the naive templates and every tree."""

from collections import Counter

import numpy as np
import pytest

from preorder.btg.grammar import CONTEXTS, LABELS
from preorder.compiled import entry_point
from preorder.learning.encode import DROPPED
from preorder.methods.perceptron_btg.difference import (
    TABLE_COUNT,
    allocate_counter,
    allocate_differences,
    count_difference,
)
from preorder.methods.perceptron_btg.features import TABLE_NAMES
from preorder.methods.perceptron_btg.scorer import score_sentence, shape_scores
from tests.support import naive_perceptron as naive
from tests.support.brute_force import by_scores
from tests.support.brute_force import trees as all_trees
from tests.support.naive_perceptron import model

CASES = [(n, layers, seed) for n in range(2, 7) for layers in (1, 3) for seed in range(3)]


@pytest.mark.parametrize(("n", "layers", "seed"), [*CASES, (26, 2, 0)])
def test_scores_equal_naive_templates(n, layers, seed):
    tokens, reference, _ = model(n, layers, seed)
    tables = reference.weights().tables()
    score = by_scores(score_sentence(tables, shape_scores(tables.shape, n), tokens, n)[0])
    ends = range(2, n + 1) if n < 8 else (2, n // 2, n)
    for end in ends:
        for begin in range(end - 1):
            for split in range(begin + 1, end):
                for label in range(LABELS):
                    for context in range(CONTEXTS):
                        node = (begin, split, end, label, context)
                        assert score(node) == pytest.approx(reference.score((node,)), abs=1e-3)


@entry_point
def count(differences, tokens, spread, plus, minus):
    n = tokens.shape[1] - 2
    counter = allocate_counter(n, tokens.shape[0])
    return count_difference(differences, 0, counter, tokens, spread, plus, minus)


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("drops", [False, True])
def test_difference_equals_naive_templates(n, layers, drops):
    """Of a token that is dropped there are no features."""
    generator = np.random.default_rng((n, layers))
    tokens = generator.integers(0, 2**64, (layers, 3), dtype=np.uint64)
    tokens = np.take_along_axis(tokens, generator.integers(0, 3, (layers, n + 2)), axis=1)
    if drops:
        tokens[0, generator.random(n + 2) < 0.4] = DROPPED
    spread = np.full((layers, 2, n + 2), 7, np.uint8)
    spreads = {
        tuple(layer[i : i + k]): 7 for layer in tokens.tolist() for k in (1, 2) for i in range(n + 3 - k)
    }
    trees = list(all_trees(0, n))
    for _ in range(30):
        plus, minus = (trees[i] for i in generator.integers(0, len(trees), 2))
        differences = allocate_differences(np.array([n]), layers, 1)
        square = count(differences, tokens, spread, np.array(plus, np.int32), np.array(minus, np.int32))
        expected = Counter()
        needed = set()  # rows that triples get in any case
        for sign, tree, other in ((1, plus, minus), (-1, minus, plus)):
            for node in tree:
                for (table, own, hashes), column in naive.joined(tokens.tolist(), node):
                    if int(DROPPED) in hashes:
                        continue
                    feature = (table, naive.key(table, own, hashes, spreads), column)
                    expected[feature] += sign
                    if table == "triple" and node not in other:
                        needed.add(feature)
                for row in naive.shapes(node):
                    expected["shape", row, node[3]] += sign
        expected = {f: c for f, c in expected.items() if c or f in needed}
        found = {}
        first = 0
        for name, last in zip((*TABLE_NAMES, "shape"), differences.ends[0], strict=True):
            for i in range(first, last):
                found[name, int(differences.key[i]), int(differences.column[i])] = differences.change[i]
            first = last
        assert found == expected
        assert square == sum(c * c for c in expected.values())
    assert differences.ends.shape == (1, TABLE_COUNT)
