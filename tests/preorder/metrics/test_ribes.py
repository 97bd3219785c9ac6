import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preorder.api import ribes
from preorder.metrics import DEFAULTS
from preorder.metrics.ribes import Ribes, word_alignment

words = st.lists(st.sampled_from("abcde"), max_size=14)


def sentence_ribes(hypothesis, *references, options=DEFAULTS):
    return Ribes([[reference] for reference in references], options).statistics([hypothesis])[0, 0]


def aligned_index(h, r, i):
    """The index in r of word i of h, by trying ever longer contexts on either side of it."""

    def indices_of(text, words):
        return [k for k in range(len(text)) if text[k : k + len(words)] == words]

    for extra in range(len(h)):
        before, after = i - extra, i + extra + 1
        if before >= 0 and len(indices_of(h, h[before : i + 1])) == 1:
            found = indices_of(r, h[before : i + 1])
            if len(found) == 1:
                return found[0] + extra
        if after <= len(h) and len(indices_of(h, h[i:after])) == 1:
            found = indices_of(r, h[i:after])
            if len(found) == 1:
                return found[0]
    return -1


def by_definition(h, r):
    indices = [index for index in (aligned_index(h, r, i) for i in range(len(h))) if index >= 0]
    if not indices or (len(indices) == 1 and len(r) > 1):
        return 0.0
    pairs = list(combinations(indices, 2))
    order = sum(a < b for a, b in pairs) / len(pairs) if pairs else 1.0
    return order * (len(indices) / len(h)) ** 0.25 * min(1, math.exp(1 - len(r) / len(h))) ** 0.1


@given(words, words)
def test_alignment_and_score_equal_the_definition(h, r):
    numbers = [np.array([ord(word) for word in text], np.int64) for text in (h, r)]
    assert list(word_alignment(*numbers)) == [aligned_index(h, r, i) for i in range(len(h))]
    assert sentence_ribes(" ".join(h), " ".join(r)) == pytest.approx(by_definition(h, r), abs=1e-12)


@given(st.lists(st.tuples(words, words, words), min_size=1, max_size=5))
def test_best_reference_counts_and_the_corpus_is_the_mean(lines):
    hypotheses, *references = (list(map(" ".join, text)) for text in zip(*lines, strict=True))
    metric = Ribes(references)
    rows = metric.statistics(hypotheses)
    scores = [max(by_definition(h, r) for r in rs if r) for h, *rs in lines if any(rs)]
    expected = math.fsum(scores) / len(scores) if scores else 0
    assert metric.score(rows.sum(0)) == pytest.approx(expected, abs=1e-12)
    assert ribes(hypotheses, *references) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("hypothesis", "references", "score"),
    [  # printed by the reference scorer, version 1.03.1, option -z
        ("d e d b b d e b c c b", ["b b c e b d d d b e c"], 0.255187),
        ("e b b a b d e d b e", ["e e a b b e d b b d"], 0.609794),
        ("a", ["a"], 1.0),
        ("a b", ["a"], 0.840896),
        ("The Cat sat", ["the cat sat"], 1.0),
        ("a\u3000b\tc  d", [" a b c d "], 1.0),
        ("a a", ["a", "a a b"], 0.951229),
        ("", ["a b", "c"], 0.0),
        ("a b b a c", ["", "a b c"], 0.880112),
        ("the mat sat on the cat", ["the cat sat on the mat", "on the mat the cat sat"], 0.533333),
    ],
)
def test_scores_of_the_reference_scorer(hypothesis, references, score):
    assert sentence_ribes(hypothesis, *references) == pytest.approx(score, abs=6e-7)
