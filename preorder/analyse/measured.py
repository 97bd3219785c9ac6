"""Statistics of several systems under one metric, and what the bootstrap says of their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from preorder.analyse.results import Estimate
from preorder.metrics.metric import Figure, Metric, MetricOptions
from preorder.metrics.preordering import Keys, order_statistics, sentence_scores
from preorder.metrics.scoring import Text
from preorder.metrics.significance import Resampled, resample
from preorder.metrics.translation import CLASSES
from preorder.types import Permutation


@dataclass(frozen=True)
class Measured:
    """A metric, and each system's statistics under it: ``[sentences, numbers]``."""

    metric: Metric
    systems: Mapping[str, np.ndarray]

    def take(self, indices: np.ndarray) -> Measured:
        """Return the statistics of some of the sentences."""
        return Measured(self.metric, {name: rows[indices] for name, rows in self.systems.items()})


def measure(
    name: str, references: Sequence[Text], systems: Mapping[str, Text], options: MetricOptions
) -> Measured:
    """Measure systems with a metric of :data:`preorder.metrics.translation.CLASSES`.

    Raises:
        UsageError: a tokenizer is not installed.
        DataError: the texts are not all of one length.
    """
    metric = CLASSES[name](references, options)
    return Measured(metric, {system: metric.statistics(text) for system, text in systems.items()})


class Detail:
    """A figure that a metric's statistics tell, as a metric of its own."""

    def __init__(self, metric: Metric, figure: Figure) -> None:
        """Take the metric, and the figure."""
        self.name = figure.name
        self.higher_is_better = figure.higher_is_better
        self.signature = metric.signature
        self.statistics = metric.statistics
        self.score = figure.score


class Tau:
    """Kendall's tau of orders, as a mean over sentences.

    Statistics: a sentence's tau, and 1; 0 and 0 where it has no keys.
    """

    name = "tau"
    higher_is_better = True
    signature = "ties:wrong|tokens:aligned|mean:sentences"

    def __init__(self, keys: Sequence[Keys | None]) -> None:
        """Take each sentence's keys (:mod:`preorder.metrics.preordering`), None where it has none."""
        self._keys = [() if row is None else row for row in keys]
        self._known = np.array([row is not None for row in keys], float)

    def statistics(self, orders: Sequence[Permutation]) -> np.ndarray:
        """Return ``[sentences, 2]``.

        Raises:
            DataError: a sentence's keys and positions differ in number.
        """
        positions = [
            order.positions if known else () for order, known in zip(orders, self._known, strict=True)
        ]
        scores = sentence_scores(order_statistics(self._keys, positions))[:, 0]
        return np.column_stack((scores * self._known, self._known))

    def score(self, totals: np.ndarray) -> np.ndarray:
        """Return the mean over the sentences summed up; NaN where there are none."""
        number = totals[..., 1]
        return np.divide(totals[..., 0], number, out=np.full(number.shape, np.nan), where=number > 0)


def estimates(resampled: Sequence[tuple[Metric, Resampled]]) -> list[Estimate | None]:
    """Return the score and the 95 % interval of each; None where there is no score (NaN)."""
    found: list[Estimate | None] = []
    for _, of_system in resampled:
        known = not np.isnan(of_system.score)
        found.append(Estimate(of_system.score, of_system.interval) if known else None)
    return found


def resampled_systems(measured: Sequence[Measured], seed: int) -> list[tuple[Metric, Resampled]]:
    """Return each metric with each of its systems, all resampled alike: metric by metric, system by system.

    Cost: that of :func:`preorder.metrics.significance.resample`.
    """
    pairs = [(one.metric, rows) for one in measured for rows in one.systems.values()]
    return [(metric, found) for (metric, _), found in zip(pairs, resample(pairs, seed), strict=True)]
