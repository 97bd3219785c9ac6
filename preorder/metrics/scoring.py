"""Systems scored against references, and compared with a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tqdm import tqdm

from preorder.errors import UsageError
from preorder.metrics.metric import DEFAULTS, METRICS, Metric, MetricOptions
from preorder.metrics.significance import Comparison, compare, resample
from preorder.metrics.translation import CLASSES

Text = Sequence[str]
"""One line for each sentence."""


@dataclass(frozen=True)
class Scoring:
    """The figures of several systems; as a dictionary, the JSON of ``preorder score``.

    Attributes:
        systems: for each system, metric → score, with the metrics' further figures.
        signature: metric → everything that its figures depend on.
        significance: for each system but the baseline, metric → comparison with it.
    """

    systems: dict[str, dict[str, Any]]
    signature: dict[str, str]
    significance: dict[str, dict[str, Comparison]]


@dataclass(frozen=True)
class PairedTest:
    """Which comparison to make: the baseline's name, and the seed of the resampling."""

    baseline: str
    seed: int


def score_systems(
    references: Sequence[Text],
    systems: Mapping[str, Text],
    metrics: Sequence[str] = METRICS,
    options: MetricOptions = DEFAULTS,
    test: PairedTest | None = None,
) -> Scoring:
    """Score systems, each a text by name, and compare all with a baseline where one is named.

    Raises:
        UsageError: there is no such baseline, or a tokenizer is not installed.
        DataError: the texts are not all of one length.
    """
    if test is not None and test.baseline not in systems:
        raise UsageError(f"no system is called {test.baseline!r}, only: {', '.join(systems)}")
    measures = [CLASSES[name](references, options) for name in metrics]
    statistics = _statistics(measures, systems)
    return Scoring(
        {name: _figures(measures, rows) for name, rows in statistics.items()},
        {measure.name: measure.signature for measure in measures},
        _comparisons(measures, statistics, test) if test is not None else {},
    )


def _statistics(measures: Sequence[Metric], systems: Mapping[str, Text]) -> dict[str, list[np.ndarray]]:
    with tqdm(total=len(systems) * len(measures), desc="scoring", unit=" texts", disable=None) as progress:
        statistics: dict[str, list[np.ndarray]] = {}
        for name, text in systems.items():
            statistics[name] = []
            for measure in measures:
                statistics[name].append(measure.statistics(text))
                progress.update()
    return statistics


def _figures(measures: Sequence[Metric], statistics: Sequence[np.ndarray]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for measure, rows in zip(measures, statistics, strict=True):
        totals = rows.sum(0)
        figures |= {measure.name: measure.score(totals)} | measure.details(totals)
    return figures


def _comparisons(
    measures: Sequence[Metric], statistics: Mapping[str, Sequence[np.ndarray]], test: PairedTest
) -> dict[str, dict[str, Comparison]]:
    every = [pair for rows in statistics.values() for pair in zip(measures, rows, strict=True)]
    resampled = iter(resample(every, test.seed))
    systems = {name: [next(resampled) for _ in measures] for name in statistics}
    baseline = systems.pop(test.baseline)
    return {
        name: {
            measure.name: compare(measure, one, base)
            for measure, one, base in zip(measures, system, baseline, strict=True)
        }
        for name, system in systems.items()
    }
