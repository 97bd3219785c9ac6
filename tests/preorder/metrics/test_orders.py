import math
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preorder.alignment.gold import target_groups
from preorder.data import Permutation
from preorder.data.formats import parse_order, read_alignments
from preorder.errors import DataError
from preorder.io.files import read_parsed
from preorder.metrics.orders import Preordering, evaluate


@st.composite
def sentences(draw):
    """Target groups from 0 without gaps, some tokens unaligned (-1), and a permutation."""
    raw = draw(st.lists(st.integers(-1, 6), max_size=12))
    rank = {group: index for index, group in enumerate(sorted(set(raw) - {-1}))}
    groups = tuple(rank.get(group, -1) for group in raw)
    return groups, Permutation(tuple(draw(st.permutations(range(len(groups))))))


def by_definition(groups, permutation):
    """The module's definitions, pair by pair and step by step."""
    k = [groups[token] for token in permutation.order if groups[token] >= 0]
    if len(k) < 2:
        return 1, 1, 1, 1
    pairs = list(combinations(k, 2))
    path = [-1, *k, max(k) + 1]
    breaks = sum(b not in (a, a + 1) for a, b in pairwise(path))
    reversed_pairs = sum(a > b for a, b in pairs)
    return (
        4 * sum(a < b for a, b in pairs) / (len(k) * (len(k) - 1)) - 1,
        1 - reversed_pairs / len(pairs),
        1 - breaks / (len(k) + 1),
        float(reversed_pairs == 0),
    )


@given(st.lists(sentences(), min_size=1, max_size=8))
def test_corpus_is_the_mean_of_its_sentences(corpus):
    groups, permutations = zip(*corpus, strict=True)
    result = evaluate(groups, permutations)
    means = [
        math.fsum(column) / len(corpus) for column in zip(*(by_definition(*s) for s in corpus), strict=True)
    ]
    assert [result.tau, result.tau_nakagawa, result.frs, result.complete_match] == pytest.approx(means)
    identity = evaluate(groups, [Permutation.identity(len(k)) for k in groups])
    assert result.monotone == identity.monotone
    assert (identity.tau, identity.frs) == (identity.monotone.tau, identity.monotone.frs)


@pytest.mark.parametrize(
    ("pair", "nakagawa", "frs", "complete"),
    [("enja", 0.9448, 0.8511, 0.7041), ("jaen", 0.9360, 0.8399, 0.6861)],
)
def test_scores_of_googles_evaluator_on_real_text(shared, pair, nakagawa, frs, complete):
    permutations = list(read_parsed(str(shared(f"data/btg/{pair}.held.topdown-btg.order")), parse_order))
    alignments = list(read_alignments(str(shared(f"data/btg/{pair}.held.align"))))
    groups = [target_groups(one, len(order)) for one, order in zip(alignments, permutations, strict=True)]
    result = evaluate(groups, permutations)
    assert result.sentences == 4998
    assert result.tau_nakagawa == pytest.approx(nakagawa, abs=5e-5)
    assert result.frs == pytest.approx(frs, abs=5e-5)
    assert result.complete_match == pytest.approx(complete, abs=5e-5)


def test_sentences_without_target_groups_are_skipped_and_counted():
    groups, orders = [None, (1, 0), None], [Permutation((0,)), Permutation((1, 0)), Permutation(())]
    result = evaluate(groups, orders)
    assert (result.sentences, result.skipped, result.tau, result.monotone.tau) == (1, 2, 1, -1)
    tau = Preordering(groups)
    assert tau.signature == "sentences:1|skipped:2"
    rows = tau.statistics(orders)
    assert np.isnan(tau.score(rows[0]))
    assert (tau.score(rows.sum(0)), tau.gains(orders)[1]) == (1, 2)
    with pytest.raises(DataError, match="none of 1 alignments can be sorted"):
        evaluate([None], [Permutation((0,))])
    with pytest.raises(DataError, match="more or fewer target groups than positions"):
        tau.statistics([Permutation((0,))] * 3)
