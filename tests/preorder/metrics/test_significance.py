import random
from functools import partial

import numpy as np
import pytest
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest as SacrebleuPairedTest
from scipy.stats import binomtest, ttest_rel

from preorder.metrics import METRICS, Score
from preorder.metrics.scoring import METRIC_CLASSES, SystemStatistics, resample
from preorder.metrics.significance import (
    RESAMPLES,
    bootstrap_p_value,
    compare,
    draw_runs,
    interval,
    resampled,
    resampled_totals,
    run_weight_scale,
    sign_test_p_value,
)
from tests.support.texts import spoilt


@pytest.fixture(scope="module")
def texts(reference):
    """A reference and systems with a tenth, a tenth and a fifth of its words spoilt."""
    return reference, *(spoilt(reference, share, seed) for seed, share in enumerate((0.1, 0.1, 0.2)))


@pytest.fixture(scope="module", params=METRICS)
def scored(request, texts):
    """A metric, and the statistics of the three systems."""
    reference, *systems = texts
    metric = METRIC_CLASSES[request.param]([reference])
    return metric, *map(metric.statistics, systems)


def samples(metric, *systems, seed=1, resamples=RESAMPLES):
    """Resample systems, each the statistics of one run, by the metric's main score."""
    named = {str(index): rows[None] for index, rows in enumerate(systems)}
    found = resample([SystemStatistics(metric, named)], seed, resamples)
    return [found[name][metric.scores[0].name] for name in named]


def compared(metric, system, baseline, resamples=RESAMPLES):
    return compare(metric.scores[0], *samples(metric, system, baseline, resamples=resamples))


def test_no_difference_is_never_significant(scored):
    metric, system, *_ = scored
    result = compared(metric, system, system.copy())
    assert (result.difference, result.p_value, result.sign_test_p_value) == (0, 1, 1)
    assert result.interval == pytest.approx((0, 0), abs=1e-9)


def test_every_metric_tells_luck_from_a_difference(scored):
    metric, one, another, worse = scored
    luck, difference = compared(metric, one, another), compared(metric, worse, one)
    assert luck.p_value > 0.1
    assert luck.sign_test_p_value > 0.05
    assert difference.p_value < 0.05
    assert difference.sign_test_p_value < 0.05
    assert (difference.difference > 0) != metric.scores[0].higher_is_better
    low, high = difference.interval
    assert low < difference.difference < high
    assert high < 0 if metric.scores[0].higher_is_better else low > 0


def test_resamples_are_the_same_sentences_for_all_systems(texts):
    reference, system, *_ = texts
    metric = METRIC_CLASSES["ribes"]([reference])
    rows = metric.statistics(system)
    first, again, other = (samples(metric, rows, seed=seed, resamples=20)[0].scores for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    better = rows + np.array([0.125, 0])  # each sentence by the same amount
    ours, theirs = samples(metric, better, rows, seed=5)
    assert ours.scores - theirs.scores == pytest.approx(np.full(len(ours.scores), 0.125))


def test_p_of_a_clear_difference_is_twice_that_of_sacrebleu(texts):
    """Sacrebleu looks in one direction. Where resamples differ in sign its p is smaller still."""
    reference, one, *_ = texts
    other, resamples = spoilt(reference, 0.11, 9), 4000
    named, metrics = [("one", one), ("other", other)], {"bleu": BLEU(references=[reference])}
    test = SacrebleuPairedTest(named, metrics, None, test_type="bs", n_samples=resamples)
    own = test()[1]["BLEU"][1].p_value
    metric = METRIC_CLASSES["bleu"]([reference])
    found = compared(metric, metric.statistics(other), metric.statistics(one), resamples)
    assert 0.005 < own < 0.05  # otherwise there is nothing to compare
    assert found.p_value == pytest.approx(2 * own, abs=6 * (own / resamples) ** 0.5)


@pytest.mark.parametrize("share", [0.11, 0.12, 0.13])
def test_p_of_a_mean_over_sentences_is_that_of_the_paired_t_test(texts, share):
    reference, system, *_ = texts
    metric, resamples = METRIC_CLASSES["ribes"]([reference]), 4000
    rows = [metric.statistics(one) for one in (system, spoilt(reference, share, 9))]
    own = ttest_rel(*(sums / counts for sums, counts in (one.T for one in rows))).pvalue
    found = compared(metric, *rows, resamples=resamples)
    assert found.p_value == pytest.approx(own, abs=4 * (own / resamples) ** 0.5)


def test_large_corpora_are_resampled_block_by_block(monkeypatch, texts):
    reference, system, *_ = texts
    metric = METRIC_CLASSES["ter"]([reference])
    rows = metric.statistics(system)
    whole = samples(metric, rows, resamples=7)[0].scores
    monkeypatch.setattr("preorder.metrics.significance.MAX_DRAWN", 2 * len(rows))
    assert np.array_equal(whole, samples(metric, rows, resamples=7)[0].scores)


@pytest.mark.parametrize(
    ("observed", "p"),
    [(3.0, 3 / 5), (5.0, 2 / 5), (5.1, 1 / 5), (0.0, 5 / 5), (-3.0, 3 / 5), (-9.0, 1 / 5)],
)
def test_p_value_by_hand(observed, p):
    """Less their mean of -1, the differences are 2, -1, 4 and -5; the observed one counts too."""
    assert bootstrap_p_value(np.array([1.0, -2.0, 3.0, -6.0]), observed) == p


def test_an_interval_leaves_out_a_fortieth_at_either_end():
    values = np.random.default_rng(0).permutation(1001).astype(float)
    assert interval(values) == (25, 975)
    assert interval(np.append(values, [np.nan] * 500)) == (25, 975)


def test_sign_test_puts_each_sentence_into_the_corpus_of_the_other_system(reference):
    """Whose BLEU sacrebleu computes; words are missing in one system, and two for one in the other."""
    generator = random.Random(3)
    lines = reference[:12]
    short = [" ".join(word for word in line.split() if generator.random() > 0.3) for line in lines]
    long = [" ".join(word if generator.random() > 0.3 else "x y" for word in line.split()) for line in lines]
    bleu = BLEU(references=[lines])

    def p_value(one, other):
        texts = ([*other[:k], one[k], *other[k + 1 :]] for k in range(len(one)))
        before = bleu.corpus_score(other, None).score
        after = [bleu.corpus_score(text, None).score for text in texts]
        changed = [score > before for score in after if score != before]
        return binomtest(sum(changed), len(changed)).pvalue

    metric = METRIC_CLASSES["bleu"]([lines])
    for pair in ((short, long), (long, short)):
        found = sign_test_p_value(metric.scores[0], *map(metric.statistics, pair))
        assert found == pytest.approx(p_value(*pair))
    assert p_value(short, long) < 0.05 < p_value(long, short)


@pytest.mark.parametrize("runs", [2, 3, 5])
def test_spread_over_drawn_runs_is_that_of_their_mean(runs):
    values = np.random.default_rng(runs).normal(size=runs)
    weights = draw_runs(runs, 1, "a", 40_000)
    assert weights.shape == (40_000, runs)
    for seed, name in ((2, "a"), (1, "b")):
        assert not np.array_equal(draw_runs(runs, seed, name, 40_000), weights)
    assert weights.sum(1) == pytest.approx(np.ones(40_000))
    assert np.array_equal(draw_runs(1, 1, "a", 7), np.ones((7, 1)))  # a single run stays
    means = weights @ values
    assert means.mean() == pytest.approx(values.mean(), abs=0.02)
    assert means.var() == pytest.approx(values.var(ddof=1) / runs, rel=0.03)


MEAN = Score("mean", lambda totals: totals[..., 0] / totals[..., 1])


def made_up_runs(generator, sentences, runs, deviation):
    """Statistics of runs that have the sentences in common, each with luck of its own, and a skill."""
    values = sentences + generator.normal(size=(runs, len(sentences)))
    values += deviation * generator.normal(size=(runs, 1))
    return np.stack((values, np.ones_like(values)), axis=2)


@pytest.mark.parametrize(("runs", "least", "most"), [(1, 0.2, 0.4), (3, 0.02, 0.18), (5, 0.01, 0.14)])
def test_how_often_equally_good_systems_differ_significantly(runs, least, most):
    generator = np.random.default_rng(0)
    found = 0
    for seed in range(200):
        sentences = generator.normal(size=200)
        rows = [made_up_runs(generator, sentences, runs, 0.1) for _ in range(2)]
        totals = resampled_totals(rows, seed, 200)
        drawn = (draw_runs(runs, seed, name, 200) for name in "ab")
        one, other = map(partial(resampled, MEAN), rows, totals, drawn)
        low, high = compare(MEAN, one, other).interval
        found += low > 0 or high < 0
    assert least < found / 200 < most


def test_runs_vary_as_drawn_where_sentences_add_nothing_and_stay_where_they_add_all():
    generator = np.random.default_rng(0)
    noise = generator.normal(size=(1000, 3))
    values = np.array([10.0, 20.0, 30.0])
    assert run_weight_scale(values, values + np.zeros((1000, 3))) == pytest.approx(1)
    assert run_weight_scale(values, values + noise) == pytest.approx((99 / (99 + 2)) ** 0.5, abs=0.002)
    assert run_weight_scale(np.array([0.5, 0, -0.5]), noise) == 0
    assert run_weight_scale(values[:1], noise[:, :1]) == 0
