"""Results of analyses. As dictionaries, these are the JSON of ``preorder analyse``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from preorder.errors import DataError
from preorder.metrics.significance import Comparison


@dataclass(frozen=True)
class Estimate:
    """A score, and the bounds of 95 % of its bootstrap resamples.

    The interval is too narrow where there are few sentences; of one it is the score itself.
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
    """Scores over groups of sentences: a line for each system.

    Attributes:
        kind: ``length``, ``gain`` or ``robustness``.
        axis: what distinguishes the groups, with its unit.
        groups: the groups in order, without empty ones.
        measures: name of the score → system → its estimate in each group, None where it has no score.
        skipped: sentences that belong to no group.
        signature: metric → everything that its scores depend on.
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
        DataError: it is anything else.
    """
    try:
        measures = {
            name: {system: tuple(map(_estimate, line)) for system, line in lines.items()}
            for name, lines in value["measures"].items()
        }
        groups = tuple(Group(**group) for group in value["groups"])
        if any(len(line) != len(groups) for lines in measures.values() for line in lines.values()):
            raise ValueError("not an estimate for each group")
        return Curves(value["kind"], value["axis"], groups, measures, value["skipped"], value["signature"])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise DataError(f"not what preorder analyse --json writes of curves: {error!r}") from None


def _estimate(value: Any) -> Estimate | None:
    if value is None:
        return None
    low, high = map(float, value["interval"])
    return Estimate(float(value["score"]), (low, high))


@dataclass(frozen=True)
class Breakdown:
    """The parts of a score of each system, each compared with the baseline's.

    Attributes:
        kind: ``precision`` or ``generation``.
        systems: system → name of the part → estimate.
        significance: system, but not the baseline → name of the part → comparison with the baseline.
        signature: metric → everything that its scores depend on.
    """

    kind: str
    systems: dict[str, dict[str, Estimate]]
    significance: dict[str, dict[str, Comparison]]
    signature: dict[str, str]


@dataclass(frozen=True)
class Correlations:
    """How far the sentences that an order helps are those where a system gains over a baseline.

    Attributes:
        kind: ``correlation``.
        baseline: the system with which the others are compared.
        sentences: how many have a tau; the others are left out.
        systems: system → metric → Spearman's rank correlation, -1 to 1.
        signature: metric → everything that its scores depend on.
    """

    kind: str
    baseline: str
    sentences: int
    systems: dict[str, dict[str, Estimate]]
    signature: dict[str, str]
