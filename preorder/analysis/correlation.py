"""Does a system gain in the sentences whose words an order has moved to better places?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata

from preorder.analysis.evaluation_data import EvaluationData
from preorder.analysis.results import Correlations, Estimate
from preorder.errors import DataError, UsageError
from preorder.metrics.metric import Score
from preorder.metrics.orders import Tau
from preorder.metrics.significance import RESAMPLES, interval

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
    gains = {name: tau.gains(order) for name, order in data.orders.items()}
    known = np.flatnonzero(~np.isnan(next(iter(gains.values()))))  # of any order
    if known.size < FEWEST:
        raise DataError(f"{known.size} sentences have a tau; a correlation needs {FEWEST}")
    systems: dict[str, dict[str, Estimate]] = {name: {} for name in gains if name != baseline}
    signature = {}
    for one in data.measure(metrics):
        metric = one.metric
        signature[metric.name] = metric.signature
        scores = {
            name: _sentence_scores(metric.scores[0], runs) for name, runs in one.take(known).systems.items()
        }
        for name, estimates in systems.items():
            gained = scores[name] - scores[baseline]
            estimates[metric.name] = _estimate(gains[name][known], gained, data.seed)
    return Correlations("correlation", baseline, known.size, systems, signature)


def _sentence_scores(score: Score, runs: np.ndarray) -> np.ndarray:
    """Return the score of each sentence, the mean over runs, so that more is better: ``[sentences]``."""
    means = np.nan_to_num(score.compute(runs.astype(float))).mean(axis=0)
    return means if score.higher_is_better else -means


def _estimate(x: np.ndarray, y: np.ndarray, seed: int) -> Estimate:
    drawn = np.random.default_rng(seed).integers(len(x), size=(RESAMPLES, len(x)))
    return Estimate(float(spearman(x, y)), interval(spearman(x[drawn], y[drawn])))


def spearman(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return Spearman's rank correlation along the last axis, 0 where all of a side is equal."""
    x, y = (rankdata(values, axis=-1) - (values.shape[-1] + 1) / 2 for values in (x, y))
    scale = np.sqrt((x * x).sum(-1) * (y * y).sum(-1))
    return np.divide((x * y).sum(-1), scale, out=np.zeros_like(scale), where=scale > 0)
