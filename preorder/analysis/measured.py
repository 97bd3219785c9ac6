"""Statistics of several systems under one metric, and what the bootstrap says of their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from preorder.analysis.results import Estimate
from preorder.data.types import Permutation
from preorder.metrics.metric import Figure, Metric, MetricOptions
from preorder.metrics.preordering import Preordering
from preorder.metrics.scoring import Text
from preorder.metrics.significance import draw_runs, resampled, resampled_totals
from preorder.metrics.translation import CLASSES

Systems = Mapping[str, Sequence[Text]]
"""The texts of each system's runs, by the system's name."""


@dataclass(frozen=True)
class Measured:
    """A metric, and each system's statistics under it: ``[runs, sentences, numbers]``."""

    metric: Metric
    systems: Mapping[str, np.ndarray]

    @classmethod
    def of(cls, metric: Metric, outputs: Mapping[str, Sequence[Any]]) -> Measured:
        """Measure the outputs of each system's runs.

        Raises:
            DataError: they do not go with what the metric holds.
        """
        rows = {name: np.stack(list(map(metric.statistics, runs))) for name, runs in outputs.items()}
        return cls(metric, rows)

    def take(self, indices: np.ndarray) -> Measured:
        """Return the statistics of some of the sentences."""
        return Measured(self.metric, {name: rows[:, indices] for name, rows in self.systems.items()})


def measure(name: str, references: Sequence[Text], systems: Systems, options: MetricOptions) -> Measured:
    """Measure systems with a metric of :data:`preorder.metrics.translation.CLASSES`.

    Raises:
        UsageError: a tokenizer is not installed.
        DataError: the texts are not all of one length.
    """
    return Measured.of(CLASSES[name](references, options), systems)


def _mean_tau(totals: np.ndarray) -> np.ndarray:
    number = totals[..., 4]
    return np.where(number > 0, totals[..., 0] / np.maximum(number, 1), np.nan)


class Tau(Preordering):
    """Kendall's tau of orders, the mean over sentences; NaN where none can be measured."""

    name: ClassVar[str] = "tau"
    figures: ClassVar[tuple[Figure, ...]] = (Figure("tau", _mean_tau),)

    def gains(self, orders: Sequence[Permutation]) -> np.ndarray:
        """Return what orders gain each sentence, -2 to 2; NaN where it cannot be measured.

        Raises:
            DataError: a sentence and its permutation differ in length.
        """
        before = self.statistics([Permutation.identity(len(order)) for order in orders])
        after = self.statistics(orders)
        return np.where(before[:, 4] > 0, after[:, 0] - before[:, 0], np.nan)


def estimates(measured: Sequence[Measured], seed: int) -> list[Estimate | None]:
    """Return what each metric says of each of its systems, metric by metric, all resampled alike.

    None where there is no score (NaN). Cost: that of
    :func:`preorder.metrics.significance.resampled_totals`.
    """
    every = [rows for one in measured for rows in one.systems.values()]
    totals = iter(resampled_totals(every, seed))
    found: list[Estimate | None] = []
    for one in measured:
        for index, rows in enumerate(one.systems.values()):
            of_system = resampled(one.metric, rows, next(totals), draw_runs(len(rows), (seed, index)))
            known = not np.isnan(of_system.score)
            found.append(Estimate(of_system.score, of_system.interval) if known else None)
    return found
