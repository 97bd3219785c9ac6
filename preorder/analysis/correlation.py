"""Does a system gain in the sentences whose words an order has moved to better places?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata

from preorder.analysis.evaluation_data import EvaluationData
from preorder.analysis.results import Correlations, Estimate
from preorder.data.errors import DataError, UsageError
from preorder.metrics.metric import Score
from preorder.metrics.preordering import Tau
from preorder.metrics.scoring import SystemStatistics
from preorder.metrics.significance import RESAMPLES

FEWEST = 3
"""Sentences without which a correlation has no meaning."""


def gain_correlations(data: EvaluationData, metrics: Sequence[str], baseline: str) -> Correlations:
    """Correlate, over sentences, what an order gains in tau with what its system gains over the baseline.

    Spearman's rank correlation; a score that is better when lower is negated. A system with several runs
    has their mean score of a sentence.

    Args:
        data: with an alignment, and orders that are named like the systems that were told them.
        metrics: that score each sentence.
        baseline: system to compare with.

    Raises:
        UsageError: there is no such baseline or system, or a tokenizer is not installed.
        DataError: fewer than :data:`FEWEST` sentences have a tau.

    Cost: ``O(resamples · n log n)`` for each system and metric.
    """
    for name in (baseline, *data.orders):
        if name not in data.systems:
            raise UsageError(f"there is no system {name!r}, only: {', '.join(data.systems)}")
    tau = Tau(data.target_groups)
    gains = {name: tau.gains(order) for name, order in data.orders.items() if name != baseline}
    known = ~np.isnan(tau.gains(next(iter(data.orders.values()))))
    if known.sum() < FEWEST:
        raise DataError(f"{known.sum()} sentences have a tau; a correlation needs {FEWEST}")
    measured = data.measure(metrics)
    systems = {
        name: {one.metric.name: _correlate(one, name, baseline, gain, data.seed) for one in measured}
        for name, gain in gains.items()
    }
    signature = {one.metric.name: one.metric.signature for one in measured}
    return Correlations("correlation", baseline, int(known.sum()), systems, signature)


def _correlate(
    measured: SystemStatistics, system: str, baseline: str, gains: np.ndarray, seed: int
) -> Estimate:
    score, known = measured.metric.scores[0], ~np.isnan(gains)
    after, before = (_sentence_scores(score, measured.systems[name]) for name in (system, baseline))
    return _estimate(gains[known], (after - before)[known], seed)


def _sentence_scores(score: Score, runs: np.ndarray) -> np.ndarray:
    """Return the score of each sentence, the mean over runs, so that more is better: ``[sentences]``."""
    means = np.nan_to_num(score.compute(runs.astype(float))).mean(axis=0)
    return means if score.higher_is_better else -means


def _estimate(x: np.ndarray, y: np.ndarray, seed: int) -> Estimate:
    drawn = np.random.default_rng(seed).integers(len(x), size=(RESAMPLES, len(x)))
    low, high = np.nanpercentile(spearman(x[drawn], y[drawn]), (2.5, 97.5))
    return Estimate(float(spearman(x, y)), (float(low), float(high)))


def spearman(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return Spearman's rank correlation along the last axis, 0 where all of a side is equal."""
    ranks = [rankdata(values, axis=-1) - (values.shape[-1] + 1) / 2 for values in (x, y)]
    products = [
        (a * b).sum(-1) for a, b in ((ranks[0], ranks[1]), (ranks[0], ranks[0]), (ranks[1], ranks[1]))
    ]
    scale = np.sqrt(products[1] * products[2])
    return np.divide(products[0], scale, out=np.zeros_like(scale), where=scale > 0)
