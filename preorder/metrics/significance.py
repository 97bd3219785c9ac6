"""Is one system better than another, or was it luck? Tests over cached statistics.

Both tests are paired: they compare two systems on the same sentences, given each
sentence's sufficient statistics under a metric (:mod:`preorder.metrics.metric`).

A system may have several runs, trainings from other seeds: its score is their mean. A
resample then varies the runs as well as the sentences, so that a difference is only
significant if other trainings would show it, too. A single run says nothing about others.

Of n runs n - 1 are drawn, with replacement: so the variance of their mean comes out right
(Rao and Wu 1988), which n draws of n would take for too small, by half with two runs. But
runs that are equally good differ on the sentences of any one test set, and that part of
their difference is drawn with the sentences already: drawing both would count it three
times over (Owen 2007). So the weights of the runs are drawn towards 1 / n, by what makes
the variances add up: see :func:`share_of_runs`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import binomtest

from preorder.metrics.metric import Figure, Metric

Measure = Figure | Metric
"""What turns sums of statistics into scores."""

RESAMPLES = 1000
LEVEL = 0.05  # p below it is significant, as in the tables of Kawara et al. 2021
BLOCK = 1 << 21  # drawn sentences held at a time
NOISE = 1e-9  # what sums of floating-point numbers may differ by for no reason


@dataclass(frozen=True)
class Comparison:
    """A system against another.

    Attributes:
        difference: its score less the other's.
        interval: 95 % of the resamples' differences lie between these.
        p_value: of the paired bootstrap.
        sign_test_p_value: of the sign test.
    """

    difference: float
    interval: tuple[float, float]
    p_value: float
    sign_test_p_value: float

    def reversed(self) -> Comparison:
        """Return the comparison of the other system with this one."""
        low, high = self.interval
        return replace(self, difference=-self.difference, interval=(-high, -low))


@dataclass(frozen=True)
class Resampled:
    """A figure of a system, and what resampling makes of it.

    Attributes:
        values: the figure of each run ``[runs]``.
        scores: of each resample the mean over runs ``[resamples]``.
        statistics: each sentence's, mean over runs ``[sentences, numbers]``.
    """

    values: np.ndarray
    scores: np.ndarray
    statistics: np.ndarray

    @property
    def score(self) -> float:
        """The mean over the runs."""
        return float(self.values.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """95 % of the resamples lie between these; resamples without a score (NaN) do not count."""
        return _interval(self.scores)


def resampled_totals(
    statistics: Sequence[np.ndarray], seed: int, resamples: int = RESAMPLES
) -> list[np.ndarray]:
    """Sum up corpora drawn with replacement (Koehn 2004), the same sentences for all.

    O(resamples × sentences × all numbers) in matrix products.

    Args:
        statistics: of a system's runs under a metric, ``[runs, sentences, numbers]`` each.
        seed: the same seed draws the same sentences.
        resamples: how many corpora to draw.

    Returns:
        For each its sums of statistics ``[resamples, runs, numbers]``.
    """
    columns = np.hstack([rows for of_runs in statistics for rows in of_runs])
    ends = np.cumsum([len(of_runs) * of_runs.shape[2] for of_runs in statistics])
    totals = np.concatenate(list(_blocks_of_totals(columns, seed, resamples)))
    return [
        part.reshape(resamples, len(of_runs), -1)
        for part, of_runs in zip(np.split(totals, ends[:-1], axis=1), statistics, strict=True)
    ]


def draw_runs(runs: int, seed: Sequence[int], resamples: int = RESAMPLES) -> np.ndarray:
    """Return the weight of each run in each resample ``[resamples, runs]``: its share of n - 1 draws."""
    if runs == 1:
        return np.ones((resamples, 1))
    return np.random.default_rng(seed).multinomial(runs - 1, np.full(runs, 1 / runs), resamples) / (runs - 1)


def share_of_runs(values: np.ndarray, scores: np.ndarray) -> float:
    """Return by how much the weights of runs should vary, from 0, not at all, to 1, as they were drawn.

    With a, the variance of runs on ever more sentences, and e, what the choice of sentences
    adds to it, the mean of n runs has the variance (a + e) / n, besides what all runs have in
    common. A resample with weights 1 / n + k (w - 1 / n) has (k² a + (1 + 2 k²) e) / n, which
    is the same for k² = a / (a + 2 e).

    Args:
        values: the figure of each run, of variance a + e ``[runs]``.
        scores: the same in each resample of sentences ``[resamples, runs]``.
    """
    if len(values) == 1:
        return 0.0
    e = (scores - scores.mean(1, keepdims=True)).var(0).sum() / (len(values) - 1)
    a = max(0.0, values.var(ddof=1) - e)
    return float(np.sqrt(a / (a + 2 * e))) if a else 0.0


def resampled(figure: Measure, statistics: np.ndarray, totals: np.ndarray, weights: np.ndarray) -> Resampled:
    """Score runs ``[runs, sentences, numbers]`` and their resampled sums ``[resamples, runs, numbers]``.

    Args:
        figure: what to score by.
        statistics, totals: of the runs, and of their resamples.
        weights: of the runs in each resample, as :func:`draw_runs` draws them ``[resamples, runs]``.
    """
    values, scores = figure.score(statistics.sum(1)), figure.score(totals)
    even = 1 / len(values)
    weights = even + share_of_runs(values, scores) * (weights - even)
    return Resampled(values, (weights * scores).sum(1), statistics.mean(0))


def compare(figure: Measure, system: Resampled, other: Resampled) -> Comparison:
    """Compare two systems on the same sentences and the same resamples.

    One sentence alone, whose resamples are all alike, has p = 1: it says nothing about others.
    """
    difference = system.score - other.score
    differences = system.scores - other.scores
    return Comparison(
        difference,
        _interval(differences),
        bootstrap_p_value(differences, difference) if len(system.statistics) > 1 else 1.0,
        sign_test_p_value(figure, system.statistics, other.statistics),
    )


def bootstrap_p_value(differences: np.ndarray, observed: float) -> float:
    """Return the chance of a difference this large if there were none, as sacrebleu has it.

    The resamples' absolute differences, shifted by their mean, stand for what chance does;
    p is the share of them that reach the observed one. Unlike sacrebleu's, a tie reaches
    it: two identical systems have p = 1.
    """
    chance = np.abs(differences) - np.abs(differences).mean()
    return float((np.sum(chance >= abs(observed) - NOISE) + 1) / (len(chance) + 1))


def sign_test_p_value(figure: Measure, system: np.ndarray, other: np.ndarray) -> float:
    """Return the p-value of the two-sided sign test of Collins et al. (2005).

    A sentence is better where putting the system's translation of it into the other's
    corpus raises the score: one score a sentence, all at once. Of several runs
    the mean statistics are taken.
    """
    total = other.sum(0)
    change = figure.score(total + (system - other)) - figure.score(total)
    up, down = int(np.sum(change > NOISE)), int(np.sum(change < -NOISE))
    return float(binomtest(up, up + down).pvalue) if up + down else 1.0


def _interval(values: np.ndarray) -> tuple[float, float]:
    low, high = np.nanpercentile(values, (2.5, 97.5))
    return float(low), float(high)


def _blocks_of_totals(statistics: np.ndarray, seed: int, resamples: int) -> Iterator[np.ndarray]:
    random = np.random.default_rng(seed)
    sentences = len(statistics)
    step = max(1, BLOCK // sentences)
    for begin in range(0, resamples, step):
        rows = min(step, resamples - begin)
        drawn = random.integers(sentences, size=(rows, sentences)) + sentences * np.arange(rows)[:, None]
        times = np.bincount(drawn.ravel(), minlength=rows * sentences).reshape(rows, sentences)
        yield times.astype(float) @ statistics
