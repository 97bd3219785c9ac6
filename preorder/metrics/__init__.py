"""Metrics of orders, translations and alignments, from sufficient statistics of each sentence.

A metric turns each sentence into a row of numbers once. Rows add up: the scores of a corpus, of a resample of
it, or of a mixture of two systems come from their sum alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import numpy as np

METRICS = ("bleu", "chrf", "ter", "ribes")
"""Names of the metrics; :data:`preorder.metrics.scoring.METRIC_CLASSES` has their classes."""

TOKENIZERS = ("13a", "none", "intl", "char", "zh", "ja-mecab", "ko-mecab")
"""Those of sacrebleu that need no download; the first is its default and ours."""

RIGHT_TAU = 0.88
"""tau above which an order counts as right, where confidences are measured."""


@dataclass(frozen=True)
class MetricOptions:
    """What can be chosen about the metrics; by default each does as its reference tool."""

    tokenize: str = TOKENIZERS[0]  # of BLEU; "none" takes the tokens as they are given
    case_sensitive: bool = False  # TER and RIBES distinguish case, as BLEU and chrF always do
    words: str = "none"  # the tokenizer of TER and RIBES; "none" splits at spaces


DEFAULTS = MetricOptions()


@dataclass(frozen=True)
class Score:
    """One of a metric's scores: its key in JSON, and its function of sums, ``[…, numbers]`` → ``[…]``."""

    name: str
    compute: Callable[[np.ndarray], np.ndarray]
    higher_is_better: bool = True


class Metric(ABC):
    """A metric of hypotheses against references that it holds; a text is a line for each sentence."""

    name: ClassVar[str]  # its key in JSON
    scores: ClassVar[tuple[Score, ...]]  # the main score, then all others that the statistics give
    signature: str  # all that the scores depend on, versions included, as sacrebleu writes it

    @abstractmethod
    def statistics(self, hypotheses: Sequence[Any]) -> np.ndarray:
        """Return the statistics of each hypothesis: ``[sentences, numbers]``."""

    def score(self, totals: np.ndarray) -> np.ndarray:
        """Return the main scores of sums of statistics: ``[…, numbers]`` → ``[…]``."""
        return self.scores[0].compute(totals)[()]

    def details(self, totals: np.ndarray) -> dict[str, Any]:  # noqa: ARG002
        """Return what JSON has beside the scores of sums of statistics ``[numbers]``; it is not tested."""
        return {}
