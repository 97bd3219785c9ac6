"""Is one system better than another, or was it luck? Tests over cached statistics.

Both tests are paired: they compare two systems on the same sentences, given each
sentence's sufficient statistics under a metric (:mod:`preorder.metrics.metric`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest

from preorder.metrics.metric import Metric

RESAMPLES = 1000
BLOCK = 1 << 21  # drawn sentences held at a time
NOISE = 1e-9  # what sums of floating-point numbers may differ by for no reason


@dataclass(frozen=True)
class Comparison:
    """A system against a baseline.

    Attributes:
        difference: its score less the baseline's.
        interval: 95 % of the resamples' differences lie between these.
        p_value: of the paired bootstrap.
        sign_test_p_value: of the sign test.
    """

    difference: float
    interval: tuple[float, float]
    p_value: float
    sign_test_p_value: float


class Resampled(NamedTuple):
    """A system under a metric: its statistics ``[sentences, numbers]``, the scores of its resamples."""

    statistics: np.ndarray
    scores: np.ndarray


def resample(
    systems: Sequence[tuple[Metric, np.ndarray]], seed: int, resamples: int = RESAMPLES
) -> list[Resampled]:
    """Score corpora drawn with replacement (Koehn 2004), the same for all systems and metrics.

    O(resamples × sentences × numbers) in matrix products, and one score a resample.

    Args:
        systems: a metric, and a system's statistics under it, of the same sentences each.
        seed: the same seed draws the same sentences.
        resamples: how many corpora to draw.
    """
    blocks = _resampled_totals(np.hstack([rows for _, rows in systems]), seed, resamples)
    ends = np.cumsum([rows.shape[1] for _, rows in systems])
    parts = np.split(np.concatenate(list(blocks)), ends[:-1], axis=1)
    return [
        Resampled(rows, np.array([metric.score(totals) for totals in part]))
        for (metric, rows), part in zip(systems, parts, strict=True)
    ]


def compare(metric: Metric, system: Resampled, baseline: Resampled) -> Comparison:
    """Compare two systems on the same sentences and the same resamples."""
    difference = metric.score(system.statistics.sum(0)) - metric.score(baseline.statistics.sum(0))
    differences = system.scores - baseline.scores
    low, high = np.percentile(differences, (2.5, 97.5))
    return Comparison(
        difference,
        (float(low), float(high)),
        bootstrap_p_value(differences, difference),
        sign_test_p_value(metric, system.statistics, baseline.statistics),
    )


def bootstrap_p_value(differences: np.ndarray, observed: float) -> float:
    """Return the chance of a difference this large if there were none, as sacrebleu has it.

    The resamples' absolute differences, shifted by their mean, stand for what chance does;
    p is the share of them that reach the observed one. Unlike sacrebleu's, a tie reaches
    it: two identical systems have p = 1.
    """
    chance = np.abs(differences) - np.abs(differences).mean()
    return float((np.sum(chance >= abs(observed) - NOISE) + 1) / (len(chance) + 1))


def sign_test_p_value(metric: Metric, system: np.ndarray, baseline: np.ndarray) -> float:
    """Return the p-value of the two-sided sign test of Collins et al. (2005).

    A sentence is better where putting the system's translation of it into the baseline's
    corpus raises the score. One score a sentence.
    """
    total = baseline.sum(0)
    before = metric.score(total)
    after = np.array([metric.score(row) for row in total + (system - baseline)])
    better, worse = int(np.sum(after > before)), int(np.sum(after < before))
    return float(binomtest(better, better + worse).pvalue) if better + worse else 1.0


def _resampled_totals(statistics: np.ndarray, seed: int, resamples: int) -> Iterator[np.ndarray]:
    random = np.random.default_rng(seed)
    sentences = len(statistics)
    step = max(1, BLOCK // sentences)
    for begin in range(0, resamples, step):
        rows = min(step, resamples - begin)
        drawn = random.integers(sentences, size=(rows, sentences)) + sentences * np.arange(rows)[:, None]
        times = np.bincount(drawn.ravel(), minlength=rows * sentences).reshape(rows, sentences)
        yield times.astype(float) @ statistics
