"""BLEU and chrF, 0 to 100, from statistics that sacrebleu counts; and all metrics by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from sacrebleu.metrics import BLEU, CHRF, base

from preorder.metrics.metric import DEFAULTS, Metric, MetricOptions, Score, check_same_length
from preorder.metrics.ribes import Ribes
from preorder.metrics.ter import Ter
from preorder.metrics.words import check_tokenizer

MAX_NGRAM = 4  # words, of BLEU
CHRF_BETA = 2.0  # of chrF's F-score: how much more recall weighs than precision


class SacrebleuMetric(Metric):
    """A metric whose statistics sacrebleu counts, by a private method that is called here only.

    Scores are computed here, for any number of sums at a time: significance tests take tens of thousands.
    """

    def __init__(self, metric: base.Metric, references: Sequence[Sequence[str]]) -> None:
        self._metric = metric
        self._references = references
        self.signature = str(metric.get_signature())

    def statistics(self, hypotheses: Sequence[str]) -> np.ndarray:
        """Return the statistics of each hypothesis: ``[sentences, numbers]``."""
        check_same_length(hypotheses, self._references)
        return np.array(self._metric._extract_corpus_statistics(hypotheses, None), float)


def bleu_precisions(totals: np.ndarray) -> np.ndarray:
    """Return BLEU's n-gram precisions in per cent, ``[…, numbers]`` → ``[…, 4]``.

    The k-th n-gram length that has no match counts as 1 / 2^k matches ("exp" smoothing);
    all are 0 without any match.
    """
    matches, ngrams = totals[..., 2 : 2 + MAX_NGRAM], totals[..., 2 + MAX_NGRAM :]
    none = (matches == 0) & (ngrams > 0)
    smoothed = np.where(none, 0.5 ** np.cumsum(none, -1), matches)
    known = (ngrams > 0) & matches.any(-1, keepdims=True)
    return 100 * np.where(known, smoothed / np.where(known, ngrams, 1), 0)


def bleu_brevity_penalty(totals: np.ndarray) -> np.ndarray:
    """Return exp(1 - reference's length / hypothesis's) where the hypothesis is shorter, else 1."""
    length, reference = totals[..., 0], totals[..., 1]
    ratio = np.divide(reference, length, out=np.full(length.shape, np.inf), where=length > 0)
    return np.where(length < reference, np.exp(1 - ratio), 1.0)


def bleu(totals: np.ndarray) -> np.ndarray:
    """Return BLEU, 0 to 100: brevity penalty times the geometric mean of the precisions."""
    precisions = bleu_precisions(totals)
    some = (precisions > 0).all(-1)
    mean = np.exp(np.log(np.where(some[..., None], precisions, 1)).mean(-1))
    return np.where(some, bleu_brevity_penalty(totals) * mean, 0)


def chrf(totals: np.ndarray) -> np.ndarray:
    """Return chrF, 0 to 100: the F-score of precision and recall, each the mean over n-gram lengths."""
    hypothesis, reference, matches = np.moveaxis(totals.reshape(*totals.shape[:-1], -1, 3), -1, 0)
    known = (hypothesis > 0) & (reference > 0)
    lengths = np.maximum(known.sum(-1), 1)
    precision = (known * matches / np.where(known, hypothesis, 1)).sum(-1) / lengths
    recall = (known * matches / np.where(known, reference, 1)).sum(-1) / lengths
    some = precision + recall > 0
    weighted = np.where(some, CHRF_BETA**2 * precision + recall, 1)
    return 100 * (1 + CHRF_BETA**2) * precision * recall / weighted


class Bleu(SacrebleuMetric):
    """BLEU; statistics: lengths of hypothesis and reference, matches of 1- to 4-grams, their numbers."""

    name: ClassVar[str] = "bleu"
    scores: ClassVar[tuple[Score, ...]] = (Score("bleu", bleu),)

    def __init__(self, references: Sequence[Sequence[str]], options: MetricOptions = DEFAULTS) -> None:
        check_tokenizer(options.tokenize)
        super().__init__(BLEU(tokenize=options.tokenize, force=True, references=references), references)

    def details(self, totals: np.ndarray) -> dict[str, Any]:
        """Return the n-gram precisions, n = 1 … 4, in per cent, and the brevity penalty, 0 to 1."""
        return {
            "bleu_precisions": bleu_precisions(totals).tolist(),
            "bleu_brevity_penalty": float(bleu_brevity_penalty(totals)),
        }


class Chrf(SacrebleuMetric):
    """chrF; statistics: for 1 to 6 characters the n-grams of hypothesis and reference, and matches."""

    name: ClassVar[str] = "chrf"
    scores: ClassVar[tuple[Score, ...]] = (Score("chrf", chrf),)

    def __init__(self, references: Sequence[Sequence[str]], options: MetricOptions = DEFAULTS) -> None:  # noqa: ARG002
        super().__init__(CHRF(references=references), references)


METRIC_CLASSES: dict[str, Callable[[Sequence[Sequence[str]], MetricOptions], Metric]] = {
    metric.name: metric for metric in (Bleu, Chrf, Ter, Ribes)
}
