"""Scores of groups of sentences, as Figures 7 to 10 of Kawara et al. 2021 have them by length."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from preorder.analysis.groups import Grouping
from preorder.analysis.measured import Measured, estimates
from preorder.analysis.results import Curves, Group
from preorder.data.errors import DataError


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

    Raises:
        DataError: there is no group.
    """
    groups: list[Group] = []
    columns = []
    signature: dict[str, str] = {}
    names: list[tuple[str, str]] = []
    for group, measured in parts:
        groups.append(group)
        columns.append(estimates(measured, seed))
        names = [(one.metric.name, system) for one in measured for system in one.systems]
        signature = {one.metric.name: one.metric.signature for one in measured}
    if not groups:
        raise DataError(f"no sentence can be told by its {axis}")
    measures: dict[str, dict] = {name: {} for name in signature}
    for (name, system), line in zip(names, zip(*columns, strict=True), strict=True):
        measures[name][system] = line
    return Curves(kind, axis, tuple(groups), measures, skipped, signature)
