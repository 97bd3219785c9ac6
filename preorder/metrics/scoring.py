"""Systems measured, resampled, and compared with each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from tqdm import tqdm

from preorder.data.errors import UsageError
from preorder.metrics.metric import DEFAULTS, METRICS, Figure, Metric, MetricOptions
from preorder.metrics.significance import (
    LEVEL,
    RESAMPLES,
    Comparison,
    Resampled,
    compare,
    draw_runs,
    resampled,
    resampled_totals,
)
from preorder.metrics.translation import CLASSES

Text = Sequence[str]
"""One line for each sentence."""

Comparisons = dict[str, Comparison]
"""By figure."""


@dataclass(frozen=True)
class Measured:
    """A metric, and what it measures: for each system one output or more, of as many runs."""

    metric: Metric
    outputs: Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Runs:
    """A figure over the runs of a system; the sample standard deviation is None of a single one."""

    mean: float
    deviation: float | None
    values: list[float]


@dataclass(frozen=True)
class Best:
    """The best system under a figure, and those that are not significantly worse, itself among them."""

    system: str
    not_worse: list[str]


@dataclass(frozen=True)
class Scoring:
    """The figures of several systems; as a dictionary, the JSON of ``preorder score``.

    Attributes:
        systems: system → figure → its mean over runs, with the metrics' details.
        signature: metric → everything that its figures depend on.
        runs: system → figure → mean, deviation and values over its runs.
        intervals: system → figure → 95 % of the resamples lie between these.
        significance: each system but the baseline → figure → comparison with the baseline.
        pairwise: system → every other system → figure → comparison with that.
        best: figure → the best system, and those not significantly worse.
    """

    systems: dict[str, dict[str, Any]]
    signature: dict[str, str]
    runs: dict[str, dict[str, Runs]]
    intervals: dict[str, dict[str, tuple[float, float]]]
    significance: dict[str, Comparisons]
    pairwise: dict[str, dict[str, Comparisons]]
    best: dict[str, Best]


def translations(
    references: Sequence[Text],
    systems: Mapping[str, Sequence[Text]],
    metrics: Sequence[str] = METRICS,
    options: MetricOptions = DEFAULTS,
) -> list[Measured]:
    """Return the named metrics, against the references, of systems of one text or more each.

    Raises:
        UsageError: a tokenizer is not installed.
    """
    return [Measured(CLASSES[name](references, options), systems) for name in metrics]


def score_systems(
    measured: Sequence[Measured], baseline: str | None = None, seed: int = 1, resamples: int = RESAMPLES
) -> Scoring:
    """Score systems, the same under each metric, and test them against each other.

    Raises:
        UsageError: there is no such baseline.
        DataError: the texts are not all of one length.
    """
    systems = list(measured[0].outputs)
    if baseline is not None and baseline not in systems:
        raise UsageError(f"no system is called {baseline!r}, only: {', '.join(systems)}")
    figures = [figure for part in measured for figure in part.metric.figures]
    statistics = _statistics(measured)
    samples = _resampled(measured, statistics, seed, resamples)
    pairwise = _pairwise(figures, samples)
    return Scoring(
        {name: _figures(measured, of_metrics) for name, of_metrics in statistics.items()},
        {part.metric.name: part.metric.signature for part in measured},
        {name: {key: _runs(of.values) for key, of in found.items()} for name, found in samples.items()},
        {name: {key: of.interval for key, of in found.items()} for name, found in samples.items()},
        {name: others[baseline] for name, others in pairwise.items() if baseline in others},
        pairwise,
        {figure.name: _best(figure, samples, pairwise) for figure in figures},
    )


def _statistics(measured: Sequence[Measured]) -> dict[str, list[np.ndarray]]:
    """Return for each system its statistics under each metric: ``[runs, sentences, numbers]``."""
    texts = sum(len(runs) for part in measured for runs in part.outputs.values())
    statistics: dict[str, list[np.ndarray]] = {name: [] for name in measured[0].outputs}
    with tqdm(total=texts, desc="scoring", unit=" texts", disable=None) as progress:
        for part in measured:
            for name, runs in part.outputs.items():
                rows = []
                for run in runs:
                    rows.append(part.metric.statistics(run))
                    progress.update()
                statistics[name].append(np.stack(rows))
    return statistics


def _figures(measured: Sequence[Measured], statistics: Sequence[np.ndarray]) -> dict[str, Any]:
    """Return a system's figures and details, each the mean over its runs."""
    means: dict[str, Any] = {}
    for part, of_runs in zip(measured, statistics, strict=True):
        totals = of_runs.sum(1)
        means |= {figure.name: float(figure.score(totals).mean()) for figure in part.metric.figures}
        details = [part.metric.details(of_run) for of_run in totals]
        means |= {key: np.mean([of_run[key] for of_run in details], axis=0).tolist() for key in details[0]}
    return means


def _resampled(
    measured: Sequence[Measured], statistics: Mapping[str, Sequence[np.ndarray]], seed: int, resamples: int
) -> dict[str, dict[str, Resampled]]:
    """Return each system's figures, resampled: the same sentences for all, and each system's own runs."""
    every = [of_runs for of_metrics in statistics.values() for of_runs in of_metrics]
    totals = iter(resampled_totals(every, seed, resamples))
    found: dict[str, dict[str, Resampled]] = {}
    for index, (name, of_metrics) in enumerate(statistics.items()):
        found[name] = {}
        for part, of_runs in zip(measured, of_metrics, strict=True):
            drawn = next(totals), draw_runs(len(of_runs), (seed, index), resamples)
            for figure in part.metric.figures:
                found[name][figure.name] = resampled(figure, of_runs, *drawn)
    return found


def _runs(values: np.ndarray) -> Runs:
    deviation = float(values.std(ddof=1)) if len(values) > 1 else None
    return Runs(float(values.mean()), deviation, values.tolist())


def _pairwise(
    figures: Sequence[Figure], samples: Mapping[str, Mapping[str, Resampled]]
) -> dict[str, dict[str, Comparisons]]:
    """Compare every system with every other; each pair is tested once and told both ways."""
    pairwise: dict[str, dict[str, Comparisons]] = {name: {} for name in samples}
    for one, other in combinations(samples, 2):
        found = {
            figure.name: compare(figure, samples[one][figure.name], samples[other][figure.name])
            for figure in figures
        }
        pairwise[one][other] = found
        pairwise[other][one] = {key: comparison.reversed() for key, comparison in found.items()}
    return pairwise


def _best(
    figure: Figure,
    samples: Mapping[str, Mapping[str, Resampled]],
    pairwise: Mapping[str, Mapping[str, Comparisons]],
) -> Best:
    sign = 1 if figure.higher_is_better else -1
    best = max(samples, key=lambda name: sign * samples[name][figure.name].score)
    return Best(
        best,
        [name for name in samples if name == best or pairwise[name][best][figure.name].p_value >= LEVEL],
    )
