"""Is one system better than another, or was it luck? Paired bootstrap and sign test, from sums of statistics.

Both tests are paired: they compare two systems on the same sentences, given each sentence's sufficient
statistics under a metric (:mod:`preorder.metrics`).

A system may have several runs (trainings with different seeds): its score is their mean. A resample then
varies the runs as well as the sentences, so that a difference is significant only if other trainings would
show it, too. A single run says nothing about others.

Of n runs n - 1 are drawn with replacement, which gives their mean the right variance (Rao and Wu 1988). But
drawing the sentences covers a part of the runs' difference already (Owen 2007): :func:`run_weight_scale`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from scipy.stats import binomtest

from preorder.metrics import Score

RESAMPLES = 1000
SIGNIFICANCE_LEVEL = 0.05  # p below it is significant, as in the tables of Kawara et al. 2021
MAX_DRAWN = 1 << 21  # drawn sentences held in memory at a time
NOISE = 1e-9  # rounding errors of sums may differ by this


@dataclass(frozen=True)
class Comparison:
    """A system compared with another."""

    difference: float  # its score less the other's
    interval: tuple[float, float]  # the bounds of 95% of the resamples' differences
    p_value: float  # of the paired bootstrap
    sign_test_p_value: float


@dataclass(frozen=True)
class Resampled:
    """A score of a system, as it is and resampled."""

    values: np.ndarray  # [runs]
    scores: np.ndarray  # [resamples], the weighted mean over runs
    statistics: np.ndarray  # [sentences, numbers], the mean over runs

    @property
    def score(self) -> float:
        """The mean over the runs."""
        return float(self.values.mean())


def resampled_totals(statistics: Sequence[np.ndarray], seed: int, resamples: int) -> list[np.ndarray]:
    """Sum up corpora drawn with replacement (Koehn 2004), the same sentences for all systems and metrics.

    Of each ``[runs, sentences, numbers]`` → ``[resamples, runs, numbers]``. The same seed draws the same
    sentences. O(resamples × sentences × all numbers) in matrix products.
    """
    columns = np.hstack([rows for of_runs in statistics for rows in of_runs])
    ends = np.cumsum([len(of_runs) * of_runs.shape[2] for of_runs in statistics])
    random, sentences = np.random.default_rng(seed), len(columns)
    step = max(1, MAX_DRAWN // sentences)
    blocks = []
    for begin in range(0, resamples, step):
        rows = min(step, resamples - begin)
        drawn = random.integers(sentences, size=(rows, sentences)) + sentences * np.arange(rows)[:, None]
        times = np.bincount(drawn.ravel(), minlength=rows * sentences).reshape(rows, sentences)
        blocks.append(times.astype(float) @ columns)
    totals = np.concatenate(blocks)
    return [
        part.reshape(resamples, len(of_runs), -1)
        for part, of_runs in zip(np.split(totals, ends[:-1], axis=1), statistics, strict=True)
    ]


def draw_runs(runs: int, seed: int, system: str, resamples: int = RESAMPLES) -> np.ndarray:
    """Return the weight of each run in each resample ``[resamples, runs]``: its share of n - 1 draws.

    The seed and the system's name say which: what other systems are measured beside it changes nothing.
    """
    if runs == 1:
        return np.ones((resamples, 1))
    random = np.random.default_rng((seed, crc32(system.encode())))
    return random.multinomial(runs - 1, np.full(runs, 1 / runs), resamples) / (runs - 1)


def run_weight_scale(values: np.ndarray, scores: np.ndarray) -> float:
    """Return how far the weights of runs should vary: from 0, not at all, to 1, as they were drawn.

    Let a be the variance of the runs on unlimited text, and e what the choice of sentences adds to it. Then
    the mean of n runs has the variance (a + e) / n, besides what all runs have in common. A resample with
    weights 1 / n + k (w - 1 / n) has (k² a + (1 + 2 k²) e) / n, which is the same for k² = a / (a + 2 e).

    ``values``: the score of each run, of variance a + e ``[runs]``; ``scores``: the same in each resample of
    sentences ``[resamples, runs]``.
    """
    if len(values) == 1:
        return 0.0
    e = (scores - scores.mean(1, keepdims=True)).var(0).sum() / (len(values) - 1)
    a = max(0.0, values.var(ddof=1) - e)
    return float(np.sqrt(a / (a + 2 * e))) if a else 0.0


def resampled(score: Score, statistics: np.ndarray, totals: np.ndarray, weights: np.ndarray) -> Resampled:
    """Score runs ``[runs, sentences, numbers]`` and their resampled sums ``[resamples, runs, numbers]``."""
    values, scores = score.compute(statistics.sum(1)), score.compute(totals)
    even = 1 / len(values)
    weights = even + run_weight_scale(values, scores) * (weights - even)
    return Resampled(values, (weights * scores).sum(1), statistics.mean(0))


def compare(score: Score, system: Resampled, other: Resampled) -> Comparison:
    """Compare two systems on the same sentences and the same resamples; where one alone counts, p = 1."""
    counted = np.any((system.statistics, other.statistics), axis=(0, 2)).sum()
    difference = system.score - other.score
    differences = system.scores - other.scores
    differences = differences[~np.isnan(differences)]
    return Comparison(
        difference,
        interval(differences),
        bootstrap_p_value(differences, difference) if counted > 1 else 1.0,
        sign_test_p_value(score, system.statistics, other.statistics),
    )


def bootstrap_p_value(differences: np.ndarray, observed: float) -> float:
    """Return how probable a difference this large, either way, is by chance (Koehn 2004).

    The differences of the resamples, shifted to a mean of 0, show what chance does; p is the share of those
    at least as far from 0 as the observed one, which counts too: two identical systems have p = 1.
    """
    chance = np.abs(differences - differences.mean())
    return float((np.sum(chance >= abs(observed) - NOISE) + 1) / (len(chance) + 1))


def sign_test_p_value(score: Score, system: np.ndarray, other: np.ndarray) -> float:
    """Return the p-value of the two-sided sign test of Collins et al. (2005), of several runs by their mean.

    A sentence is better where the system's translation of it, put into the other's corpus, raises the score.
    """
    total = other.sum(0)
    change = score.compute(total + (system - other)) - score.compute(total)
    up, down = int(np.sum(change > NOISE)), int(np.sum(change < -NOISE))
    return float(binomtest(up, up + down).pvalue) if up + down else 1.0


def interval(values: np.ndarray) -> tuple[float, float]:
    """Return the bounds of 95% of the values; those that are no number (NaN) do not count."""
    low, high = np.nanpercentile(values, (2.5, 97.5))
    return float(low), float(high)
