"""What analyses come to. As dictionaries, these are the JSON of ``preorder analyse``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from preorder.data.errors import DataError
from preorder.metrics.significance import Comparison


@dataclass(frozen=True)
class Estimate:
    """A score, and between what 95 % of its bootstrap resamples lie.

    The interval of very few sentences is too narrow: of one, it is the score itself.
    """

    score: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Group:
    """Sentences that are measured together."""

    label: str
    sentences: int


@dataclass(frozen=True)
class Curves:
    """Measures over groups of sentences: a line for each system.

    Attributes:
        kind: which analysis this is.
        axis: what tells the groups apart, with its unit.
        groups: the groups in order; those that no sentence falls into are left out.
        measures: for each measure, system → its estimate in each group, None where nothing can be measured.
        skipped: sentences that belong to no group.
        signature: for each metric, everything that its figures depend on.
    """

    kind: str
    axis: str
    groups: tuple[Group, ...]
    measures: dict[str, dict[str, tuple[Estimate | None, ...]]]
    skipped: int
    signature: dict[str, str]


def parse_curves(value: Any) -> Curves:
    """Return curves from the JSON of ``preorder analyse``.

    Raises:
        DataError: it is something else.
    """
    try:
        measures = {
            name: {system: tuple(map(_estimate, line)) for system, line in lines.items()}
            for name, lines in value["measures"].items()
        }
        groups = tuple(Group(**group) for group in value["groups"])
        if any(len(line) != len(groups) for lines in measures.values() for line in lines.values()):
            raise ValueError("not an estimate for each group")
        rest = (value[key] for key in ("kind", "axis"))
        return Curves(*rest, groups, measures, value["skipped"], value["signature"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"not what preorder analyse --json writes of curves: {error!r}") from None


def _estimate(value: Any) -> Estimate | None:
    if value is None:
        return None
    low, high = map(float, value["interval"])
    return Estimate(float(value["score"]), (low, high))


@dataclass(frozen=True)
class Figures:
    """Several figures of each system, each compared with the baseline's.

    Attributes:
        kind: which analysis this is.
        systems: for each system, measure → estimate.
        significance: for each system but the baseline, measure → comparison with it.
        signature: for each metric, everything that its figures depend on.
    """

    kind: str
    systems: dict[str, dict[str, Estimate]]
    significance: dict[str, dict[str, Comparison]]
    signature: dict[str, str]
