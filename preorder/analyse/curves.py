"""Scores of groups of sentences, as Figures 7 to 10 of Kawara et al. 2021 have them by length."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from preorder.analyse.groups import Grouping
from preorder.analyse.measured import Measured, Tau, estimates, resampled_systems
from preorder.analyse.results import Curves, Group
from preorder.types import Permutation


def grouped_curves(kind: str, grouping: Grouping, measured: Sequence[Measured], seed: int) -> Curves:
    """Score every system on each group of sentences."""
    parts = (
        (Group(label, len(indices)), [one.take(indices) for one in measured])
        for label, indices in grouping.groups
    )
    return curves(kind, grouping.axis, parts, grouping.skipped, seed)


def curves(
    kind: str, axis: str, parts: Iterable[tuple[Group, Sequence[Measured]]], skipped: int, seed: int
) -> Curves:
    """Make curves of groups, each with the same measures of the same systems.

    Cost: a bootstrap for each group.
    """
    groups: list[Group] = []
    columns = []
    signature: dict[str, str] = {}
    names: list[tuple[str, str]] = []
    for group, measured in parts:
        groups.append(group)
        columns.append(estimates(resampled_systems(measured, seed)))
        names = [(one.metric.name, system) for one in measured for system in one.systems]
        signature = {one.metric.name: one.metric.signature for one in measured}
    measures: dict[str, dict] = {name: {} for name in signature}
    for (name, system), line in zip(names, zip(*columns, strict=True), strict=True):
        measures[name][system] = line
    return Curves(kind, axis, tuple(groups), measures, skipped, signature)


def gains(tau: Tau, orders: Sequence[Permutation]) -> np.ndarray:
    """Return what reordering gained each sentence in tau, -2 to 2; NaN where it cannot be measured."""
    kept = [Permutation.identity(len(order)) for order in orders]
    before, after = tau.statistics(kept), tau.statistics(orders)
    return np.where(before[:, 1] > 0, after[:, 0] - before[:, 0], np.nan)
