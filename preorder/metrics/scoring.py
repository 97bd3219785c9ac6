"""Systems measured, resampled, and compared: is one better than another, or was it luck?

Both tests are paired: they compare two systems on the same sentences, given each sentence's sufficient
statistics under a metric (:mod:`preorder.metrics`).

A system may have several runs (trainings with different seeds): its score is their mean. A resample then
varies the runs as well as the sentences, so that a difference is significant only if other trainings would
show it, too. A single run says nothing about others.

Of n runs n - 1 are drawn with replacement, which gives their mean the right variance (Rao and Wu 1988). But
drawing the sentences covers a part of the runs' difference already (Owen 2007): :func:`run_weight_scale`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any
from zlib import crc32

import numpy as np
from scipy.stats import binomtest

from preorder.errors import UsageError
from preorder.metrics import DEFAULTS, METRICS, Metric, MetricOptions, Score
from preorder.metrics.ribes import Ribes
from preorder.metrics.translation import Bleu, Chrf, Ter

RESAMPLES = 1000
SIGNIFICANCE_LEVEL = 0.05  # p below it is significant, as in the tables of Kawara et al. 2021
MAX_DRAWN = 1 << 21  # drawn sentences held in memory at a time
NOISE = 1e-9  # rounding errors of sums may differ by this

Text = Sequence[str]  # a line for each sentence
Systems = Mapping[str, Sequence[Text]]  # the translations of each system's runs, by the system's name

METRIC_CLASSES: dict[str, Callable[[Sequence[Sequence[str]], MetricOptions], Metric]] = {
    metric.name: metric for metric in (Bleu, Chrf, Ter, Ribes)
}


@dataclass(frozen=True)
class SystemStatistics:
    """A metric, and each system's statistics under it: ``[runs, sentences, numbers]``."""

    metric: Metric
    systems: Mapping[str, np.ndarray]

    def take(self, sentences: np.ndarray) -> SystemStatistics:
        """Return the statistics of some of the sentences, given by their indices."""
        chosen = {name: runs[:, sentences] for name, runs in self.systems.items()}
        return SystemStatistics(self.metric, chosen)


@dataclass(frozen=True)
class Comparison:
    """A system compared with another."""

    difference: float  # its score less the other's
    interval: tuple[float, float]  # the bounds of 95 % of the resamples' differences
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


Comparisons = dict[str, Comparison]  # by score


@dataclass(frozen=True)
class Runs:
    """A score over the runs of a system; the sample standard deviation is None for a single run."""

    mean: float
    deviation: float | None
    values: list[float]


@dataclass(frozen=True)
class Best:
    """The best system by a score, and those that are not significantly worse, itself among them."""

    system: str
    not_worse: list[str]


@dataclass(frozen=True)
class Scoring:
    """The scores of several systems; as a dictionary, the JSON of ``preorder score``."""

    systems: dict[str, dict[str, Any]]  # system → score → its mean over runs, with the metrics' details
    signature: dict[str, str]  # metric → all that its scores depend on
    runs: dict[str, dict[str, Runs]]
    intervals: dict[str, dict[str, tuple[float, float]]]  # the bounds of 95 % of the resamples
    significance: dict[str, Comparisons]  # each system but the baseline → comparisons with the baseline
    pairwise: dict[str, dict[str, Comparisons]]  # system → every other system → comparisons with that
    best: dict[str, Best]


def check_system(name: str, systems: Iterable[str]) -> None:
    """Raise a UsageError if no system has the name."""
    if name not in systems:
        raise UsageError(f"no system is called {name!r}, only: {', '.join(systems)}")


def measure(metrics: Sequence[Metric], systems: Mapping[str, Sequence[Any]]) -> list[SystemStatistics]:
    """Count the statistics of all systems' runs under each metric."""
    return [
        SystemStatistics(
            metric, {name: np.stack(list(map(metric.statistics, runs))) for name, runs in systems.items()}
        )
        for metric in metrics
    ]


def measure_translations(
    references: Sequence[Text],
    systems: Systems,
    metrics: Sequence[str] = METRICS,
    options: MetricOptions = DEFAULTS,
) -> list[SystemStatistics]:
    """Count the statistics of translations under each named metric."""
    return measure([METRIC_CLASSES[name](references, options) for name in metrics], systems)


def score_systems(
    measured: Sequence[SystemStatistics],
    baseline: str | None = None,
    seed: int = 1,
    drawn_as: Mapping[str, str] | None = None,
) -> Scoring:
    """Score systems, the same under each metric, and test them against each other.

    ``drawn_as``: systems whose runs are drawn as those of another one, to which they belong.
    """
    if baseline is not None:
        check_system(baseline, measured[0].systems)
    scores = [score for part in measured for score in part.metric.scores]
    samples = resample(measured, seed, drawn_as=drawn_as)
    pairwise = _pairwise(scores, samples)
    return Scoring(
        {name: _means(measured, name) for name in samples},
        {part.metric.name: part.metric.signature for part in measured},
        {name: {key: _runs(one.values) for key, one in found.items()} for name, found in samples.items()},
        {name: {key: interval(one.scores) for key, one in found.items()} for name, found in samples.items()},
        {name: others[baseline] for name, others in pairwise.items() if baseline in others},
        pairwise,
        {score.name: _best(score, samples, pairwise) for score in scores},
    )


def _runs(values: np.ndarray) -> Runs:
    deviation = float(values.std(ddof=1)) if len(values) > 1 else None
    return Runs(float(values.mean()), deviation, values.tolist())


def _means(measured: Sequence[SystemStatistics], system: str) -> dict[str, Any]:
    means: dict[str, Any] = {}
    for part in measured:
        totals = part.systems[system].sum(1)
        means |= {score.name: float(score.compute(totals).mean()) for score in part.metric.scores}
        details = [part.metric.details(of_run) for of_run in totals]
        means |= {key: np.mean([of_run[key] for of_run in details], axis=0).tolist() for key in details[0]}
    return means


def resample(
    measured: Sequence[SystemStatistics],
    seed: int,
    resamples: int = RESAMPLES,
    drawn_as: Mapping[str, str] | None = None,
) -> dict[str, dict[str, Resampled]]:
    """Return each system's scores, resampled: the same sentences for all, and each system's own runs."""
    statistics = [runs for part in measured for runs in part.systems.values()]
    totals = iter(resampled_totals(statistics, seed, resamples))
    found: dict[str, dict[str, Resampled]] = {}
    for part in measured:
        for name, runs in part.systems.items():
            drawn = next(totals), draw_runs(len(runs), seed, (drawn_as or {}).get(name, name), resamples)
            scores = {score.name: resampled(score, runs, *drawn) for score in part.metric.scores}
            found.setdefault(name, {}).update(scores)
    return found


def _pairwise(
    scores: Sequence[Score], samples: Mapping[str, Mapping[str, Resampled]]
) -> dict[str, dict[str, Comparisons]]:
    pairwise: dict[str, dict[str, Comparisons]] = {name: {} for name in samples}
    for one, other in permutations(samples, 2):
        a, b = samples[one], samples[other]
        pairwise[one][other] = {each.name: compare(each, a[each.name], b[each.name]) for each in scores}
    return pairwise


def _best(
    score: Score,
    samples: Mapping[str, Mapping[str, Resampled]],
    pairwise: Mapping[str, Mapping[str, Comparisons]],
) -> Best:
    sign = 1 if score.higher_is_better else -1
    best = max(samples, key=lambda name: sign * samples[name][score.name].score)
    p_values = {name: pairwise[name][best][score.name].p_value if name != best else 1 for name in samples}
    return Best(best, [name for name, p_value in p_values.items() if p_value >= SIGNIFICANCE_LEVEL])


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
    """Return the bounds of 95 % of the values; those that are no number (NaN) do not count."""
    low, high = np.nanpercentile(values, (2.5, 97.5))
    return float(low), float(high)
