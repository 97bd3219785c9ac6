"""BLEU and chrF, 0 to 100, from statistics that sacrebleu counts; and all metrics by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.metrics.base import Metric as SacrebleuMetric

from preorder.metrics.metric import DEFAULTS, Figure, Metric, MetricOptions, Scored, check_same_length
from preorder.metrics.ribes import Ribes
from preorder.metrics.ter import Ter
from preorder.metrics.words import check_tokenizer

ORDERS = 4  # of BLEU's n-grams
BETA = 2.0  # of chrF's F-score: how much more recall weighs than precision


class SacrebleuStatistics(Scored):
    """A metric of sacrebleu, which keeps statistics and scores apart as we do.

    It counts the statistics, in a method that begins with an underscore, called here and
    nowhere else. Scores are computed here, for any number of sums at a time: significance
    tests take tens of thousands.
    """

    def __init__(self, metric: SacrebleuMetric, references: Sequence[Sequence[str]]) -> None:
        """Take a metric that holds the references, and these: each a text of one line for each sentence."""
        self._metric = metric
        self._references = references
        self.signature = str(metric.get_signature())

    def statistics(self, hypotheses: Sequence[str]) -> np.ndarray:
        """Return the statistics of each hypothesis: ``[sentences, numbers]``."""
        check_same_length(hypotheses, self._references)
        return np.array(self._metric._extract_corpus_statistics(hypotheses, None), float)


def bleu_precisions(totals: np.ndarray) -> np.ndarray:
    """Return BLEU's n-gram precisions in per cent, ``[…, numbers]`` → ``[…, 4]``.

    The k-th order without a match has the precision of 1 / 2^k matches ("exp" smoothing);
    all are 0 without any match.
    """
    matches, ngrams = totals[..., 2 : 2 + ORDERS], totals[..., 2 + ORDERS :]
    none = (matches == 0) & (ngrams > 0)
    smoothed = np.where(none, 0.5 ** np.cumsum(none, -1), matches)
    known = (ngrams > 0) & matches.any(-1, keepdims=True)
    return 100 * np.where(known, smoothed / np.where(known, ngrams, 1), 0)


def bleu_brevity_penalty(totals: np.ndarray) -> np.ndarray:
    """Return exp(1 - reference's length / hypothesis's) where that is shorter, else 1."""
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
    """Return chrF, 0 to 100: the F-score of precision and recall, means over the orders of both sides."""
    hypothesis, reference, matches = np.moveaxis(totals.reshape(*totals.shape[:-1], -1, 3), -1, 0)
    known = (hypothesis > 0) & (reference > 0)
    orders = np.maximum(known.sum(-1), 1)
    precision = (known * matches / np.where(known, hypothesis, 1)).sum(-1) / orders
    recall = (known * matches / np.where(known, reference, 1)).sum(-1) / orders
    some = precision + recall > 0
    weighted = np.where(some, BETA**2 * precision + recall, 1)
    return 100 * (1 + BETA**2) * precision * recall / weighted


class Bleu(SacrebleuStatistics):
    """BLEU; the statistics: lengths of hypothesis and reference, 4 × matches, 4 × n-grams."""

    name: ClassVar[str] = "bleu"
    figures: ClassVar[tuple[Figure, ...]] = (Figure("bleu", bleu),)

    def __init__(self, references: Sequence[Sequence[str]], options: MetricOptions = DEFAULTS) -> None:
        """Take the references.

        Raises:
            UsageError: the tokenizer needs a package that is not installed.
        """
        check_tokenizer(options.tokenize)
        super().__init__(BLEU(tokenize=options.tokenize, force=True, references=references), references)

    def details(self, totals: np.ndarray) -> dict[str, Any]:
        """Return the n-gram precisions, n = 1 … 4, in per cent, and the brevity penalty, 0 to 1."""
        return {
            "bleu_precisions": bleu_precisions(totals).tolist(),
            "bleu_brevity_penalty": float(bleu_brevity_penalty(totals)),
        }


class Chrf(SacrebleuStatistics):
    """chrF of 6 characters; the statistics: n-grams of both sides and matches, n = 1 … 6."""

    name: ClassVar[str] = "chrf"
    figures: ClassVar[tuple[Figure, ...]] = (Figure("chrf", chrf),)

    def __init__(self, references: Sequence[Sequence[str]], options: MetricOptions = DEFAULTS) -> None:  # noqa: ARG002
        """Take the references."""
        super().__init__(CHRF(references=references), references)


CLASSES: dict[str, Callable[[Sequence[Sequence[str]], MetricOptions], Metric]] = {
    metric.name: metric for metric in (Bleu, Chrf, Ter, Ribes)
}
