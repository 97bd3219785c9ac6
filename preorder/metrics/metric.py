"""What every measure has in common: sufficient statistics first.

A metric turns each sentence into a row of numbers once. Rows add up: the figures of a
corpus, of a resample of it, or of a mixture of two systems come from their sum alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from preorder.data.errors import DataError

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
        tokenize: the tokenizer of BLEU; ``none`` takes the tokens as they are given.
            chrF has a unit of its own, the character.
        case_sensitive: TER and RIBES tell upper from lower case, as BLEU and chrF always do.
        words: the tokenizer of TER and RIBES, whose reference tools take what stands
            between spaces.
    """

    tokenize: str = TOKENIZERS[0]
    case_sensitive: bool = False
    words: str = "none"


DEFAULTS = MetricOptions()


@dataclass(frozen=True)
class Figure:
    """One number that sums of a metric's statistics give, and that can be tested.

    Attributes:
        name: its key in JSON.
        score: sums of statistics ``[…, numbers]`` → the figures ``[…]``.
        higher_is_better: which way is up.
    """

    name: str
    score: Callable[[np.ndarray], np.ndarray]
    higher_is_better: bool = True


class Metric(Protocol):
    """A measure against references that it holds; made from references and options."""

    name: ClassVar[str]
    figures: ClassVar[tuple[Figure, ...]]
    """The metric's score first, then whatever else its statistics tell."""

    @property
    def signature(self) -> str:
        """Everything that the figures depend on, versions included, as sacrebleu writes it."""

    @property
    def higher_is_better(self) -> bool:
        """Which way of the score is up."""

    def statistics(self, hypotheses: Sequence[str]) -> np.ndarray:
        """Return the statistics of each hypothesis: ``[sentences, numbers]``.

        Raises:
            DataError: there are more or fewer hypotheses than lines of a reference.
        """

    def score(self, totals: np.ndarray) -> np.ndarray:
        """Return the scores that go with sums of statistics: ``[…, numbers]`` → ``[…]``."""

    def details(self, totals: np.ndarray) -> dict[str, Any]:
        """Return what else describes sums of statistics ``[numbers]``, and is not tested; for JSON."""


class Scored:
    """A metric's score is the first of its figures; it has no details."""

    figures: ClassVar[tuple[Figure, ...]]

    @property
    def higher_is_better(self) -> bool:
        """Which way of the score is up."""
        return self.figures[0].higher_is_better

    def score(self, totals: np.ndarray) -> np.ndarray:
        """Return the scores that go with sums of statistics: ``[…, numbers]`` → ``[…]``."""
        return self.figures[0].score(totals)[()]

    def details(self, totals: np.ndarray) -> dict[str, Any]:  # noqa: ARG002
        """Return no details."""
        return {}


def check_same_length(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    """Check that every reference has a line for each hypothesis.

    Raises:
        DataError: one has not.
    """
    for reference in references:
        if len(reference) != len(hypotheses):
            raise DataError(f"{len(hypotheses)} hypotheses for {len(reference)} reference lines")
