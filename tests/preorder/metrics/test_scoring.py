import random
import re

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from preorder.analysis.results import length_warnings, verdict
from preorder.data import Permutation
from preorder.metrics import METRICS
from preorder.metrics.orders import Preordering
from preorder.metrics.scoring import measure, measure_translations, score_systems
from tests.support.texts import spoilt

EDITS = [f"ter_{kind}" for kind in ("insertions", "deletions", "substitutions", "shifts")]
SCORES = ["bleu", "bleu_precision", "bleu_brevity_penalty", "chrf", "ter", *EDITS, "ribes"]


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
            assert [name for name in found if name != "bleu_precisions"] == SCORES
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
    measured = measure_translations([["a b c d e", "", ""]], systems, ("bleu", "chrf", "ter", "ribes"))
    found = score_systems(measured, "base").significance["ours"]
    assert {"bleu", "chrf", "ter", "ribes"} < set(found)
    assert {one.p_value for one in found.values()} == {1}


def test_resamples_without_a_measured_sentence_do_not_count():
    runs = [[Permutation.identity(2)] * 4]
    measured = measure([Preordering([(1, 0), (1, 0), None, None])], {"base": runs, "twin": runs})
    assert score_systems(measured, "base").significance["twin"]["tau"].p_value == 1


def test_of_several_runs_the_sign_test_takes_the_mean():
    bad, good = [Permutation.identity(2)] * 8, [Permutation((1, 0))] * 8
    measured = measure([Preordering([(1, 0)] * 8)], {"base": [bad], "ours": [bad, good]})
    found = score_systems(measured, "base").significance["ours"]["tau"]
    assert found.sign_test_p_value == pytest.approx(2 / 2**8)


def cut(lines, share, seed):
    """Drop a share of the words at the ends of lines, at random."""
    generator = random.Random(seed)
    kept = (sum(generator.random() >= share for _ in line.split()) for line in lines)
    return [" ".join(line.split()[:count]) for line, count in zip(lines, kept, strict=True)]


def of_other_length(lines, seed):
    """Draw from 2 to 30 words of each line, of which some are repeated."""
    generator = random.Random(seed)
    return [" ".join(generator.choices(line.split(), k=generator.randint(2, 30))) for line in lines]


def parts(runs, reference):
    """Return BLEU, precision and brevity penalty by sacrebleu, the means over runs."""
    found = [BLEU(tokenize="13a", force=True).corpus_score(run, [reference]) for run in runs]
    return np.mean([(one.score, np.exp(np.log(one.precisions).mean()), one.bp) for one in found], axis=0)


def test_bleu_of_sentences_that_both_translate_equally_long(reference):
    """The twin: each sentence's words counted by hand, and sacrebleu's scores of those that agree."""
    base = [spoilt(reference, 0.2, 1), of_other_length(reference, 2)]
    other = [of_other_length(reference, seed) for seed in (3, 4, 5)]
    found = score_systems(measure_translations([reference], {"base": base, "other": other}), "base")
    equal = found.equal_length["other"]
    scores, sentences, words = [], [], np.zeros(2)
    for pair in zip(other[:2], base, strict=True):
        chosen = []
        for index, lines in enumerate(zip(*pair, strict=True)):
            short, long = sorted(len(line.split()) for line in lines)
            if 100 * (long - short) <= 5 * long:
                chosen.append(index)
        few = [[run[index] for index in chosen] for run in (reference, *pair)]
        scores.append([parts([run], few[0]) for run in few[1:]])
        words += [sum(len(line.split()) for line in run) for run in few[1:]]
        sentences.append(len(chosen))
        assert 0 < len(chosen) < len(reference)
    assert equal.sentences == sentences
    assert equal.length_ratio == pytest.approx(words[0] / words[1])
    for given, twin in zip((equal.scores, equal.baseline), np.mean(scores, axis=0), strict=True):
        assert [*given.values()] == pytest.approx(twin)
    for score, compared in equal.comparisons.items():
        assert compared.difference == pytest.approx(equal.scores[score] - equal.baseline[score])
        low, high = compared.interval
        assert low <= compared.difference <= high


def test_no_translations_of_equal_length(reference):
    systems = {"base": [reference], "longer": [[f"{line} {line}" for line in reference]]}
    found = score_systems(measure_translations([reference], systems, ["bleu"]), "base")
    assert found.equal_length == {}
    assert score_systems(measure_translations([reference], systems, ["ter"]), "base").equal_length == {}


@pytest.mark.parametrize(
    ("lost", "spoilt_words", "warns"),
    [
        (0.5, 0.2, True),  # as many words as the reference, a fifth of them wrong
        (0.5, 0, False),  # longer, and nothing wrong
        (0.5, 0.36, True),  # BLEU hardly rises, and precision falls
        (0, 0.05, False),  # not longer than the baseline, and better
        (0, 0.2, False),  # worse
    ],
)
def test_a_gain_of_length_is_announced(reference, lost, spoilt_words, warns):
    """The twin: the rule, by sacrebleu's figures."""
    base = [spoilt(cut(reference, lost, 1), 0.1, 2)]
    ours = [spoilt(reference, spoilt_words, 3)]
    found = score_systems(measure_translations([reference], {"base": base, "ours": ours}), "base")
    (bleu, precision, brevity), (before, precise, short) = parts(ours, reference), parts(base, reference)
    p = {name: one.p_value for name, one in found.significance["ours"].items()}
    no_gain = precision < precise or p["bleu_precision"] >= 0.05
    loss = precision < precise and p["bleu_precision"] < 0.05
    assert (bleu > before and (loss or (no_gain and p["bleu"] < 0.05))) == warns
    lines = length_warnings(found)
    assert len(lines) == warns
    if warns:
        assert lines[0].startswith(f"ours: BLEU {bleu - before:+.2f} (p ")
        assert f"not from precision, {precision - precise:+.2f} (p 0.001)" in lines[0]
        assert f"brevity penalty {short:.3f} → {brevity:.3f}; at equal length BLEU " in lines[0]
    assert length_warnings(score_systems(measure_translations([reference], {"a": ours}, ["ter"]), "a")) == []


WORDS = [f"w{i} x{i} y{i} z{i} v{i} u{i}" for i in range(40)]


@pytest.mark.parametrize(
    ("systems", "said"),
    [
        ({"a": WORDS}, r"a has 100\.00 BLEU\."),
        (
            {"a": WORDS, "b": [line.replace("z", "q") for line in WORDS]},
            r"No system has more BLEU than a, 100\.00\.",
        ),
        (
            {"a": [line.replace("z", "q") for line in WORDS], "b": WORDS},
            r"b is better than a: BLEU \+.* \(p 0\.001\)",
        ),
        (
            {"a": WORDS[1:] + WORDS[:1], "b": [WORDS[0], *WORDS[2:], WORDS[1]]},
            "No system is shown to be better than a",
        ),
    ],
)
def test_a_verdict_in_one_sentence(systems, said):
    found = score_systems(
        measure_translations([WORDS], {name: [lines] for name, lines in systems.items()}), "a"
    )
    assert re.match(said, verdict(found))
