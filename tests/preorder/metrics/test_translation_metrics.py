import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER

from preorder.errors import DataError, UsageError
from preorder.metrics import DEFAULTS, METRICS, TOKENIZERS, MetricOptions
from preorder.metrics.scoring import METRIC_CLASSES

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
