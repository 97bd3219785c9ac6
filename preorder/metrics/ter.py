"""Translation edit rate, and its edits by kind: what a system leaves out or adds.

Deletions are words of the reference that the hypothesis lacks: under-generation. Insertions are words that it
has too many: over-generation (Kawara et al. 2021, Tables VII and VIII). TER is all edits, shifts of blocks
among them, per 100 words of the reference; equal to sacrebleu's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from sacrebleu.metrics import TER

from preorder.metrics.edits import edit_counts
from preorder.metrics.metric import DEFAULTS, MetricOptions, Score
from preorder.metrics.words import WordMetric

EDIT_KINDS = ("insertions", "deletions", "substitutions", "shifts")
"""The first columns of the statistics; the others: mean length of the references, 1."""


def _rate(totals: np.ndarray) -> np.ndarray:
    """Return edits per hundred words of the reference; 100 where there are edits and no word."""
    edits, words = totals[..., :4].sum(-1), totals[..., 4]
    return 100 * np.where(words > 0, edits / np.where(words > 0, words, 1), np.minimum(edits, 1))


class Ter(WordMetric):
    """TER against fixed references; its further scores are the edits of each kind per sentence.

    Of several references the one that needs the fewest edits counts; of equal ones the first.
    """

    name: ClassVar[str] = "ter"
    scores: ClassVar[tuple[Score, ...]] = (
        Score("ter", _rate, higher_is_better=False),
        *(
            Score(f"ter_{kind}", lambda sums, k=k: sums[..., k] / np.maximum(sums[..., 5], 1), False)
            for k, kind in enumerate(EDIT_KINDS)
        ),
    )

    def __init__(self, references: Sequence[Sequence[str]], options: MetricOptions = DEFAULTS) -> None:
        super().__init__(references, options)
        own = TER(case_sensitive=options.case_sensitive, references=references)
        words = "" if options.words == "none" else f"|words:{options.words}"
        self.signature = f"{own.get_signature()}{words}"

    def statistics(self, hypotheses: Sequence[str]) -> np.ndarray:
        """Return ``[sentences, 6]``: the edits by :data:`EDIT_KINDS`, the references' mean length, and 1."""
        encoded = self._encode_hypotheses(hypotheses)
        counts = np.stack([edit_counts(encoded, reference) for reference in self._references])
        best = counts.sum(2).argmin(0)
        lengths = np.mean([np.diff(boundaries) for _, boundaries in self._references], axis=0)
        chosen = counts[best, np.arange(len(hypotheses))]
        return np.column_stack((chosen, lengths, np.ones(len(hypotheses)))).astype(float)
