import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preorder.data.formats import parse_alignment
from preorder.metrics.alignment import alignment_counts, alignment_scores

links = st.frozensets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12)


def scores(*pairs):
    return alignment_scores(
        [alignment_counts(parse_alignment(found), parse_alignment(gold)) for found, gold in pairs]
    )


def line(sure, possible=()):
    return " ".join([f"{i}-{j}" for i, j in sure] + [f"{i}?{j}" for i, j in possible])


@given(st.lists(st.tuples(links, links, links), min_size=1, max_size=5))
def test_equals_the_definition_in_any_order(corpus):
    pairs = [(line(a), line(s, p)) for a, s, p in corpus]
    result = scores(*pairs)
    both = [(a, s, s | p) for a, s, p in corpus]
    a, s = (sum(len(row[k]) for row in both) for k in (0, 1))
    a_s, a_p = (sum(len(row[0] & row[k]) for row in both) for k in (1, 2))
    assert result.aer == pytest.approx(1 - (a_s + a_p) / (a + s) if a + s else 0)
    assert result.precision == pytest.approx(a_p / a if a else 1)
    assert result.recall == pytest.approx(a_s / s if s else 1)
    random.Random(0).shuffle(pairs)
    assert scores(*pairs) == result
