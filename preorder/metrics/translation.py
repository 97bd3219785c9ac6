"""BLEU, chrF and TER, computed by sacrebleu from statistics of each sentence.

All three score 0 to 100 (TER, a rate of edits, can exceed it, and is best at 0).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.metrics.base import Metric as SacrebleuMetric

from preorder.errors import UsageError
from preorder.metrics.metric import DEFAULTS, Metric, MetricOptions, check_same_length
from preorder.metrics.ribes import Ribes


class SacrebleuStatistics:
    """A metric of sacrebleu behind :class:`preorder.metrics.metric.Metric`.

    sacrebleu keeps statistics and scores apart as we do, but in methods that begin with
    an underscore: they are called here and nowhere else.
    """

    def __init__(self, metric: SacrebleuMetric, references: Sequence[Sequence[str]]) -> None:
        """Take a metric and the references: each a text of one line for each sentence."""
        self._metric = metric
        self._references = references
        metric._ref_cache = metric._cache_references(references)
        self.signature = str(metric.get_signature())

    def statistics(self, hypotheses: Sequence[str]) -> np.ndarray:
        """Return the statistics of each hypothesis: ``[sentences, numbers]``."""
        check_same_length(hypotheses, self._references)
        return np.array(self._metric._extract_corpus_statistics(hypotheses, None), float)

    def score(self, totals: np.ndarray) -> float:
        """Return the score that goes with sums of statistics."""
        return float(self._scored(totals).score)

    def details(self, totals: np.ndarray) -> dict[str, Any]:  # noqa: ARG002
        """Return no further figures."""
        return {}

    def _scored(self, totals: np.ndarray) -> Any:
        return self._metric._compute_score_from_stats(totals.tolist())


class Bleu(SacrebleuStatistics):
    """BLEU; the statistics: lengths of hypothesis and reference, 4 × matches, 4 × n-grams."""

    name: ClassVar[str] = "bleu"
    higher_is_better: ClassVar[bool] = True

    def __init__(self, references: Sequence[Sequence[str]], options: MetricOptions = DEFAULTS) -> None:
        """Take the references.

        Raises:
            UsageError: the tokenizer needs a package that is not installed.
        """
        try:
            metric = BLEU(tokenize=options.tokenize, force=True)
        except (RuntimeError, ImportError):
            language = options.tokenize.partition("-")[0]
            raise UsageError(
                f"the tokenizer {options.tokenize} is not installed; "
                f"install it with: pip install 'sacrebleu[{language}]'"
            ) from None
        super().__init__(metric, references)

    def details(self, totals: np.ndarray) -> dict[str, Any]:
        """Return the n-gram precisions, n = 1 … 4, in per cent, and the brevity penalty, 0 to 1."""
        scored = self._scored(totals)
        return {
            "bleu_precisions": [float(precision) for precision in scored.precisions],
            "bleu_brevity_penalty": float(scored.bp),
        }


class Chrf(SacrebleuStatistics):
    """chrF of 6 characters; the statistics: n-grams of both sides and matches, n = 1 … 6."""

    name: ClassVar[str] = "chrf"
    higher_is_better: ClassVar[bool] = True

    def __init__(self, references: Sequence[Sequence[str]], options: MetricOptions = DEFAULTS) -> None:  # noqa: ARG002
        """Take the references."""
        super().__init__(CHRF(), references)


class Ter(SacrebleuStatistics):
    """TER; the statistics: edits, and the mean length of the references."""

    name: ClassVar[str] = "ter"
    higher_is_better: ClassVar[bool] = False

    def __init__(self, references: Sequence[Sequence[str]], options: MetricOptions = DEFAULTS) -> None:
        """Take the references."""
        super().__init__(TER(case_sensitive=options.case_sensitive), references)


CLASSES: dict[str, Callable[[Sequence[Sequence[str]], MetricOptions], Metric]] = {
    metric.name: metric for metric in (Bleu, Chrf, Ter, Ribes)
}
