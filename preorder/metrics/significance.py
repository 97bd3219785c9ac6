"""Is one system better than another, or was it luck? Tests over cached statistics.

Both tests are paired: they compare two systems on the same sentences, given each
sentence's sufficient statistics under a metric (:mod:`preorder.metrics.metric`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest

from preorder.metrics.metric import Metric

RESAMPLES = 1000
BLOCK = 1 << 21  # drawn sentences held at a time


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


def compare(
    metric: Metric, system: np.ndarray, baseline: np.ndarray, seed: int, resamples: int = RESAMPLES
) -> Comparison:
    """Compare the statistics ``[sentences, numbers]`` of two systems on the same sentences."""
    difference = metric.score(system.sum(0)) - metric.score(baseline.sum(0))
    differences = bootstrap_scores(metric, system, seed, resamples) - bootstrap_scores(
        metric, baseline, seed, resamples
    )
    low, high = np.percentile(differences, (2.5, 97.5))
    return Comparison(
        difference,
        (float(low), float(high)),
        bootstrap_p_value(differences, difference),
        sign_test_p_value(metric, system, baseline),
    )


def bootstrap_scores(
    metric: Metric, statistics: np.ndarray, seed: int, resamples: int = RESAMPLES
) -> np.ndarray:
    """Return the scores of corpora drawn from a corpus with replacement (Koehn 2004).

    The same seed draws the same sentences for every system and metric. O(resamples ×
    sentences × numbers) in matrix products, and one score a resample.
    """
    totals = _resampled_totals(statistics, seed, resamples)
    return np.array([metric.score(row) for block in totals for row in block])


def bootstrap_p_value(differences: np.ndarray, observed: float) -> float:
    """Return the chance of a difference this large if there were none, as sacrebleu has it.

    The resamples' absolute differences, shifted by their mean, stand for what chance does;
    p is the share of them that reach the observed one. Unlike sacrebleu's, a tie reaches
    it: two identical systems have p = 1.
    """
    chance = np.abs(differences) - np.abs(differences).mean()
    return float((np.sum(chance >= abs(observed)) + 1) / (len(chance) + 1))


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
