import random
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER, lib_ter

from preorder.errors import DataError, UsageError
from preorder.metrics import DEFAULTS, METRICS, TOKENIZERS, MetricOptions
from preorder.metrics.scoring import METRIC_CLASSES
from preorder.metrics.translation import Ter

lines = st.lists(st.sampled_from(["a", "b", "Cat", "cat.", "dog", "runs", "猫", "."]), max_size=9).map(
    " ".join
)
corpora = st.lists(st.tuples(lines, lines, lines), min_size=1, max_size=6)


def score(name, hypotheses, *references, options=DEFAULTS):
    metric = METRIC_CLASSES[name](references, options)
    return metric.score(metric.statistics(hypotheses).sum(0))


@settings(max_examples=50)
@given(corpora)
def test_scores_of_sums_equal_sacrebleus_of_the_corpus_and_of_each_sentence(corpus):
    hypotheses, *references = map(list, zip(*corpus, strict=True))
    own = {"bleu": BLEU(force=True), "chrf": CHRF(), "ter": TER()}
    for name, metric in own.items():
        measure = METRIC_CLASSES[name](references)
        rows = measure.statistics(hypotheses)
        assert measure.score(rows.sum(0)) == pytest.approx(metric.corpus_score(hypotheses, references).score)
        expected = [metric.corpus_score([h], [[line] for line in lines]).score for h, *lines in corpus]
        assert measure.score(rows) == pytest.approx(expected)
        assert measure.score(np.stack([rows, rows])) == pytest.approx(np.stack([expected, expected]))


def test_options_reach_the_metrics_and_their_signatures():
    assert score("ter", ["A b"], ["a b"], options=MetricOptions(case_sensitive=True)) == 50
    tokens = ["a b c d e ."], ["a b c d e."]
    assert score("bleu", *tokens) == pytest.approx(100)
    assert score("bleu", *tokens, options=MetricOptions(tokenize="none")) < 100
    for tokenize in ("13a", "none", "char"):
        assert f"|tok:{tokenize}|" in METRIC_CLASSES["bleu"]([["a"]], MetricOptions(tokenize)).signature
    options = [MetricOptions("13a", case, words) for case in (False, True) for words in TOKENIZERS[:5]]
    for name in ("ter", "ribes"):
        assert len({METRIC_CLASSES[name]([["a"]], one).signature for one in options}) == len(options)


@pytest.mark.parametrize("name", METRICS)
def test_every_named_metric_is_there_and_checks_lengths(name):
    assert tuple(METRIC_CLASSES) == METRICS
    with pytest.raises(DataError, match="1 hypotheses for 2 reference lines"):
        METRIC_CLASSES[name]([["a", "b"]]).statistics(["a"])


def test_names_of_tokenizers_are_sacrebleus():
    assert TOKENIZERS[0] == BLEU.TOKENIZER_DEFAULT
    assert set(TOKENIZERS) <= set(BLEU.TOKENIZERS)


def test_tokenizer_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "MeCab", None)
    monkeypatch.delitem(sys.modules, "sacrebleu.tokenizers.tokenizer_ja_mecab", raising=False)
    with pytest.raises(UsageError, match=r"pip install 'sacrebleu\[ja\]'"):
        METRIC_CLASSES["bleu"]([["a"]], MetricOptions("ja-mecab"))


words = st.lists(st.sampled_from("abcde"), max_size=12).map(" ".join)


def edits(hypothesis, *references):
    """Insertions, deletions, substitutions, shifts."""
    return tuple(Ter([[line] for line in references]).statistics([hypothesis])[0, :4])


def sacrebleus_edits(hypothesis, reference):
    """The edits by kind, out of sacrebleu's own search, whose d drops a word of the hypothesis."""
    words, goal = hypothesis.split(), reference.split()
    if not goal:
        return len(words), 0, 0, 0
    distance = lib_ter.BeamEditDistance(goal)
    shifts = tried = 0
    while True:
        gain, shifted, tried = lib_ter._shift(words, goal, distance, tried)
        if tried >= lib_ter._MAX_SHIFT_CANDIDATES or gain <= 0:
            break
        words, shifts = shifted, shifts + 1
    trace = distance(words)[1]
    return trace.count("d"), trace.count("i"), trace.count("s"), shifts


@settings(max_examples=200)
@given(words, words)
def test_kinds_and_sum_equal_sacrebleus(hypothesis, reference):
    found = edits(hypothesis, reference)
    assert found == sacrebleus_edits(hypothesis, reference)
    assert found[0] - found[1] == len(hypothesis.split()) - len(reference.split())


def test_the_first_of_the_references_that_need_the_fewest_edits_counts():
    assert edits("a b", "x y", "a", "a b c") == (1, 0, 0, 0)
    assert edits("a b", "x y", "a b c", "a") == (0, 1, 0, 0)


@pytest.mark.parametrize(
    ("hypothesis", "reference", "vocabulary"),
    [
        (60, 60, 2),  # so many shifts to try that the search gives up
        (150, 2, 5),  # one so short that the beam has to be widened
        (2, 150, 5),
        (25, 60, 8),
    ],
)
def test_limits_of_the_search_equal_sacrebleus(hypothesis, reference, vocabulary):
    generator = random.Random(0)
    texts = [" ".join(generator.choices("abcdefgh"[:vocabulary], k=k)) for k in (hypothesis, reference)]
    assert edits(*texts) == sacrebleus_edits(*texts)


@pytest.mark.parametrize("moved", [9, 10, 11, 50, 51, 55])
def test_blocks_too_long_and_too_far_equal_sacrebleus(moved):
    line = list(map(str, range(80)))
    for length in (1, 12):
        shifted = line[length : length + moved] + line[:length] + line[length + moved :]
        texts = " ".join(shifted), " ".join(line)
        assert edits(*texts) == sacrebleus_edits(*texts)
