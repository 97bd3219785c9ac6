"""Kendall's tau of orders as a metric, and what an order gains in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from preorder.data.types import Permutation
from preorder.metrics.metric import Score
from preorder.metrics.preordering import Preordering


def _mean_tau(totals: np.ndarray) -> np.ndarray:
    number = totals[..., 4]
    return np.where(number > 0, totals[..., 0] / np.maximum(number, 1), np.nan)


class Tau(Preordering):
    """Kendall's tau of orders, the mean over sentences; NaN where no sentence can be measured."""

    name: ClassVar[str] = "tau"
    scores: ClassVar[tuple[Score, ...]] = (Score("tau", _mean_tau),)

    def gains(self, orders: Sequence[Permutation]) -> np.ndarray:
        """Return by how much each order raises the tau of its sentence, -2 to 2; NaN where none is known.

        Raises:
            DataError: a sentence and its permutation differ in length.
        """
        before = self.statistics([Permutation.identity(len(order)) for order in orders])
        after = self.statistics(orders)
        return np.where(before[:, 4] > 0, after[:, 0] - before[:, 0], np.nan)
