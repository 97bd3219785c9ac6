import random

import numpy as np
import pytest

from preorder.data import Permutation
from preorder.metrics import METRICS
from preorder.metrics.orders import Preordering
from preorder.metrics.scoring import measure, measure_translations, score_systems
from tests.support.texts import spoilt

EDITS = [f"ter_{kind}" for kind in ("insertions", "deletions", "substitutions", "shifts")]
SCORES = ["bleu", "chrf", "ter", *EDITS, "ribes"]


@pytest.fixture(scope="module")
def reference():
    generator = random.Random(0)
    return [" ".join(generator.choices("abcdefghij", k=generator.randint(5, 12))) for _ in range(400)]


@pytest.fixture(scope="module")
def scoring(reference):
    shares = {"base": (0.2, 0.21, 0.19), "twin": (0.2, 0.2), "ours": (0.1, 0.11, 0.1), "bad": (0.5,)}
    seeds = iter(range(99))
    systems = {
        name: [spoilt(reference, share, next(seeds)) for share in runs] for name, runs in shares.items()
    }
    return score_systems(measure_translations([reference], systems), "base")


def test_a_system_scores_the_mean_of_its_runs(scoring):
    for of_systems in (scoring.systems, scoring.runs, scoring.intervals):
        assert list(of_systems) == ["base", "twin", "ours", "bad"]
        for found in of_systems.values():
            assert [name for name in found if not name.startswith("bleu_")] == SCORES
    assert list(scoring.best) == SCORES
    assert list(scoring.signature) == list(METRICS)
    for name, found in scoring.systems.items():
        for score in SCORES:
            runs = scoring.runs[name][score]
            assert found[score] == pytest.approx(runs.mean) == pytest.approx(np.mean(runs.values))
            low, high = scoring.intervals[name][score]
            assert low <= runs.mean <= high
            several = len(runs.values) > 1
            assert runs.deviation == (pytest.approx(np.std(runs.values, ddof=1)) if several else None)
    assert len(scoring.systems["base"]["bleu_precisions"]) == 4


def test_the_runs_of_each_system_are_drawn_by_themselves():
    """Runs of tau 1 and -1, alike in all sentences: what a system draws is its own."""
    runs = [[Permutation((1, 0))] * 4, [Permutation.identity(2)] * 4]
    measured = measure([Preordering([(1, 0)] * 4)], {"one": runs, "two": runs})
    found = score_systems(measured, "one")
    assert found.intervals["one"]["tau"] == found.intervals["two"]["tau"] == (-1, 1)
    assert found.significance["two"]["tau"].interval == (-2, 2)


def test_some_sentences_are_measured_as_if_they_were_all(reference):
    runs = [spoilt(reference, 0.2, 1), spoilt(reference, 0.4, 2)]
    chosen = [3, 7, 1]
    (found,) = measure_translations([reference], {"one": runs}, ["ter"])
    (of_chosen, *of_runs) = ([lines[index] for index in chosen] for lines in (reference, *runs))
    (alone,) = measure_translations([of_chosen], {"one": of_runs}, ["ter"])
    assert np.array_equal(found.take(np.array(chosen)).systems["one"], alone.systems["one"])


def test_further_systems_and_their_order_change_no_comparison(reference):
    runs = {name: [spoilt(reference, 0.2, ord(name) + seed) for seed in (0, 9)] for name in "abc"}
    pair, more = (
        score_systems(
            measure_translations([reference], {name: runs[name] for name in names}, ["bleu"]), names[0]
        )
        for names in ("ab", "bca")
    )
    one, other = (found.pairwise["a"]["b"]["bleu"] for found in (pair, more))
    assert one.interval == pytest.approx(other.interval)
    assert one.p_value == other.p_value


def test_pairs_are_compared_both_ways(scoring):
    for one, others in scoring.pairwise.items():
        assert set(others) == set(scoring.systems) - {one}
        for other, found in others.items():
            for score, comparison in found.items():
                back = scoring.pairwise[other][one][score]
                assert (comparison.difference, comparison.p_value) == (-back.difference, back.p_value)
                assert comparison.interval == pytest.approx([-bound for bound in back.interval[::-1]])
                difference = scoring.systems[one][score] - scoring.systems[other][score]
                assert comparison.difference == pytest.approx(difference)
    assert list(scoring.significance) == ["twin", "ours", "bad"]
    assert scoring.significance["ours"] == scoring.pairwise["ours"]["base"]


def test_best_and_not_significantly_worse(scoring):
    for score in ("bleu", "chrf", "ter", "ribes", "ter_substitutions"):
        assert (scoring.best[score].system, scoring.best[score].not_worse) == ("ours", ["ours"])
    # Every system translates each word by one word: what is never wrong cannot be worse.
    assert set(scoring.best["ter_deletions"].not_worse) >= {"base", "twin", "ours"}


def test_one_sentence_that_counts_tells_nothing():
    systems = {"base": [["a b c d e", "", ""]], "ours": [["a b c e d", "", ""]]}
    measured = measure_translations([["a b c d e", "", ""]], systems, ("bleu", "chrf", "ribes"))
    found = score_systems(measured, "base").significance["ours"]
    assert {name: one.p_value for name, one in found.items()} == {"bleu": 1, "chrf": 1, "ribes": 1}


def test_resamples_without_a_measured_sentence_do_not_count():
    runs = [[Permutation.identity(2)] * 4]
    measured = measure([Preordering([(1, 0), (1, 0), None, None])], {"base": runs, "twin": runs})
    assert score_systems(measured, "base").significance["twin"]["tau"].p_value == 1


def test_of_several_runs_the_sign_test_takes_the_mean():
    bad, good = [Permutation.identity(2)] * 8, [Permutation((1, 0))] * 8
    measured = measure([Preordering([(1, 0)] * 8)], {"base": [bad], "ours": [bad, good]})
    found = score_systems(measured, "base").significance["ours"]["tau"]
    assert found.sign_test_p_value == pytest.approx(2 / 2**8)
