import math
from dataclasses import astuple
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preorder.alignment.target_groups import target_groups
from preorder.data.errors import DataError
from preorder.data.files import read_parsed
from preorder.data.formats import parse_alignment, parse_order, read_alignments
from preorder.data.types import Permutation
from preorder.metrics.preordering import Preordering, evaluate, mean_scores, order_statistics

README_EXAMPLE = [  # topdown-btg's README: alignment, and the order that its program prints
    ("6-8 ||| 0-0 1-5 1-6 3-2 4-3 5-7", "0 3 4 2 1 5"),
    ("7-7 ||| 0-0 1-5 2-4 3-3 4-3 5-2 6-6", "0 5 3 4 2 1 6"),
    ("7-8 ||| 0-0 2-6 3-5 4-2 5-3 6-7", "0 2 4 5 3 1 6"),
]


@st.composite
def sentences(draw):
    """Keys from 0 without gaps, some tokens unaligned (-1), and a permutation."""
    raw = draw(st.lists(st.integers(-1, 6), max_size=12))
    rank = {key: index for index, key in enumerate(sorted(set(raw) - {-1}))}
    keys = tuple(rank.get(key, -1) for key in raw)
    return keys, Permutation(tuple(draw(st.permutations(range(len(keys))))))


def by_definition(keys, permutation):
    """The module's definitions, pair by pair and step by step."""
    k = [keys[token] for token in permutation.order if keys[token] >= 0]
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


@given(sentences())
def test_scores_equal_the_definition(sentence):
    keys, permutation = sentence
    scores = mean_scores(order_statistics([keys], [permutation.positions]))
    assert astuple(scores) == pytest.approx(by_definition(keys, permutation))


@given(st.lists(sentences(), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_corpus_is_the_mean_whatever_the_order_of_its_sentences(corpus, random):
    keys, permutations = zip(*corpus, strict=True)
    result = evaluate(keys, permutations)
    means = [
        math.fsum(column) / len(corpus) for column in zip(*(by_definition(*s) for s in corpus), strict=True)
    ]
    assert [result.tau, result.tau_nakagawa, result.frs, result.complete_match] == pytest.approx(means)
    identity = evaluate(keys, [Permutation.identity(len(k)) for k in keys])
    assert result.monotone == identity.monotone
    assert (identity.tau, identity.frs) == (identity.monotone.tau, identity.monotone.frs)
    random.shuffle(corpus)
    shuffled = evaluate(*zip(*corpus, strict=True))
    assert shuffled.tau == pytest.approx(result.tau)
    assert shuffled.frs == pytest.approx(result.frs)


@given(st.permutations(range(9)))
def test_its_own_gold_order_is_perfect_and_the_reversed_one_worst(positions):
    reverse = tuple(8 - place for place in positions)
    assert astuple(mean_scores(order_statistics([positions], [positions]))) == (1, 1, 1, 1)
    worst = mean_scores(order_statistics([positions], [reverse]))
    assert (worst.tau, worst.tau_nakagawa, worst.complete_match) == (-1, 0, 0)


def test_figures_of_topdown_btgs_readme():
    permutations = [parse_order(order) for _, order in README_EXAMPLE]
    alignments = [parse_alignment(links) for links, _ in README_EXAMPLE]
    result = evaluate(
        [target_groups(a, len(p)) for a, p in zip(alignments, permutations, strict=True)], permutations
    )
    assert (result.sentences, result.skipped) == (3, 0)
    assert result.frs == pytest.approx(0.857143, abs=5e-7)
    assert result.tau_nakagawa == pytest.approx(0.933333, abs=5e-7)
    assert result.complete_match == pytest.approx(0.666667, abs=5e-7)


@pytest.mark.parametrize(
    ("pair", "nakagawa", "frs", "complete"),
    [("enja", 0.9448, 0.8511, 0.7041), ("jaen", 0.9360, 0.8399, 0.6861)],
)
def test_figures_of_googles_evaluator_on_real_text(shared, pair, nakagawa, frs, complete):
    permutations = list(read_parsed(str(shared(f"data/btg/{pair}.held.topdown-btg.order")), parse_order))
    alignments = read_alignments(str(shared(f"data/btg/{pair}.held.align")))
    result = evaluate(
        [target_groups(a, len(p)) for a, p in zip(alignments, permutations, strict=True)], permutations
    )
    assert result.sentences == 4998
    assert result.tau_nakagawa == pytest.approx(nakagawa, abs=5e-5)
    assert result.frs == pytest.approx(frs, abs=5e-5)
    assert result.complete_match == pytest.approx(complete, abs=5e-5)


def test_sentences_without_keys_are_skipped_and_counted():
    result = evaluate([None, (1, 0), None], [Permutation((0,)), Permutation((1, 0)), Permutation(())])
    assert (result.sentences, result.skipped, result.tau, result.monotone.tau) == (1, 2, 1, -1)


def test_nothing_to_evaluate():
    with pytest.raises(DataError, match="none of 1 alignments can be sorted"):
        evaluate([None], [Permutation((0,))])


def test_keys_for_another_sentence():
    with pytest.raises(DataError, match="keys and positions of different number"):
        order_statistics([(0, 1)], [(0,)])


@given(st.lists(st.tuples(sentences(), st.booleans()), min_size=1, max_size=8))
def test_as_a_metric_it_equals_the_evaluation(rows):
    keys = [row[0] if known else None for row, known in rows]
    permutations = [row[1] for row, _ in rows]
    if not any(known for _, known in rows):
        with pytest.raises(DataError, match="no order can be evaluated"):
            Preordering(keys)
        return
    metric = Preordering(keys)
    totals = metric.statistics(permutations).sum(0)
    expected = evaluate(keys, permutations)
    found = {figure.name: figure.score(totals) for figure in metric.figures}
    assert found == pytest.approx({name: getattr(expected, name) for name in found})
    assert list(found) == ["tau", "tau_nakagawa", "frs", "complete_match"]
    assert metric.signature == f"sentences:{expected.sentences}|skipped:{expected.skipped}"
