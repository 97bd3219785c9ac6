"""Systems beside a baseline: parts of their scores, and sentences that they translate most differently."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from preorder.analysis.evaluation_data import EvaluationData
from preorder.analysis.results import Breakdown, Estimate
from preorder.errors import UsageError
from preorder.metrics import Metric, Score
from preorder.metrics.scoring import check_system, measure, score_systems
from preorder.metrics.translation import Bleu, Ter, bleu_precisions

OPERATIONS = ("ter_deletions", "ter_insertions", "ter_substitutions", "ter_shifts")


class Precisions(Bleu):
    """BLEU's statistics, with the precisions of 1- to 4-grams as scores, in per cent."""

    scores: ClassVar[tuple[Score, ...]] = tuple(
        Score(f"precision_{n + 1}", lambda totals, n=n: bleu_precisions(totals)[..., n]) for n in range(4)
    )


BREAKDOWNS: dict[str, tuple[type[Metric], Sequence[str]]] = {
    "precision": (Precisions, [score.name for score in Precisions.scores]),
    "generation": (Ter, OPERATIONS),
}
"""Kind → its metric, and which scores are the parts; Kawara et al. 2021, Table VI, Tables VII and VIII."""


def break_down(kind: str, data: EvaluationData, baseline: str | None = None) -> Breakdown:
    """Compare the parts of a score with those of a system, by default the first."""
    metric, parts = BREAKDOWNS[kind]
    measured = measure([metric(data.references, data.options)], data.systems)
    found = score_systems(measured, baseline or next(iter(data.systems)), data.seed)
    systems = {
        name: {part: Estimate(runs[part].mean, found.intervals[name][part]) for part in parts}
        for name, runs in found.runs.items()
    }
    compared = {name: {part: one[part] for part in parts} for name, one in found.significance.items()}
    return Breakdown(kind, systems, compared, found.signature)


@dataclass(frozen=True)
class Example:
    """A sentence with its translations."""

    line: int  # from 1
    difference: float  # the score of the system less that of the baseline
    source: str
    reordered: dict[str, str]  # the source in each order by name
    references: tuple[str, ...]
    systems: dict[str, str]  # each system's translation
    scores: dict[str, float]  # of each, by the metric that the examples were chosen by

    def rows(self, form: Callable[[float], str]) -> list[tuple[str, str]]:
        """Return all texts, each with a title before it; ``form`` writes the scores."""
        return [
            ("source", self.source),
            *((f"in the order {name}", text) for name, text in self.reordered.items()),
            *(("reference", text) for text in self.references),
            *((f"{name} {form(self.scores[name])}", text) for name, text in self.systems.items()),
        ]


@dataclass(frozen=True)
class Examples:
    """Sentences in which a system is better and worse than a baseline, the greatest difference first."""

    kind: str
    measure: str  # the metric that scores the sentences
    baseline: str
    system: str
    better: tuple[Example, ...]
    worse: tuple[Example, ...]


def system_examples(data: EvaluationData, metric: str, baseline: str, system: str, count: int) -> Examples:
    """Choose up to ``count`` sentences of each sort, in which the first runs of two systems differ most."""
    for name in (baseline, system):
        check_system(name, data.systems)
    if baseline == system:
        raise UsageError(f"{system!r} is not to be compared with itself")
    (measured,) = data.measure([metric])
    scores = {name: measured.metric.score(runs[0]) for name, runs in measured.systems.items()}
    differences = scores[system] - scores[baseline]
    gains = differences if measured.metric.scores[0].higher_is_better else -differences

    def example(index: int) -> Example:
        words = data.source[index]
        return Example(
            line=index + 1,
            difference=float(differences[index]),
            source=" ".join(words),
            reordered={name: " ".join(orders[index].apply(words)) for name, orders in data.orders.items()},
            references=tuple(text[index] for text in data.references),
            systems={name: runs[0][index] for name, runs in data.systems.items()},
            scores={name: float(values[index]) for name, values in scores.items()},
        )

    def greatest(numbers: np.ndarray) -> tuple[Example, ...]:
        first = np.argsort(-numbers, kind="stable")[:count].tolist()
        return tuple(example(i) for i in first if numbers[i] > 0)

    return Examples("examples", metric, baseline, system, greatest(gains), greatest(-gains))
