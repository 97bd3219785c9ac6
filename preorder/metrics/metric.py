"""What every measure of translations has in common: sufficient statistics first.

A metric turns each sentence into a row of numbers once. Rows add up: the score of a
corpus, of a resample of it, or of a mixture of two systems comes from their sum alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from preorder.errors import DataError

if TYPE_CHECKING:
    import numpy as np

METRICS = ("bleu", "chrf", "ter", "ribes")
"""Names of the metrics; :data:`preorder.metrics.translation.CLASSES` holds what they name."""

TOKENIZERS = ("13a", "none", "intl", "char", "zh", "ja-mecab", "ko-mecab")
"""Those of sacrebleu that need no download; the first is its default and ours."""


@dataclass(frozen=True)
class MetricOptions:
    """What can be chosen about the metrics; by default each does as its reference tool.

    Attributes:
        tokenize: the tokenizer of BLEU; ``none`` takes the tokens as they are given. The
            other metrics have units of their own: characters (chrF), or what stands
            between spaces (TER, RIBES).
        case_sensitive: TER and RIBES tell upper from lower case, as BLEU and chrF always do.
    """

    tokenize: str = TOKENIZERS[0]
    case_sensitive: bool = False


DEFAULTS = MetricOptions()


class Metric(Protocol):
    """A measure against references that it holds; made from references and options."""

    name: ClassVar[str]
    higher_is_better: ClassVar[bool]

    @property
    def signature(self) -> str:
        """Everything that the figures depend on, versions included, as sacrebleu writes it."""

    def statistics(self, hypotheses: Sequence[str]) -> np.ndarray:
        """Return the statistics of each hypothesis: ``[sentences, numbers]``.

        Raises:
            DataError: there are more or fewer hypotheses than lines of a reference.
        """

    def score(self, totals: np.ndarray) -> float:
        """Return the score that goes with sums of statistics ``[numbers]``."""

    def details(self, totals: np.ndarray) -> dict[str, Any]:
        """Return further figures by name, for JSON."""


def check_same_length(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    """Check that every reference has a line for each hypothesis.

    Raises:
        DataError: one has not.
    """
    for reference in references:
        if len(reference) != len(hypotheses):
            raise DataError(f"{len(hypotheses)} hypotheses for {len(reference)} reference lines")
