"""Sentences that two systems translate most differently (Kawara et al. 2021, Table IX)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from preorder.analysis.measured import Measured
from preorder.metrics.scoring import Text


@dataclass(frozen=True)
class Corpus:
    """Texts of one line a sentence: the source as it is, and in orders by name; references; translations."""

    source: Text
    reordered: Mapping[str, Text]
    references: Sequence[Text]
    systems: Mapping[str, Text]


@dataclass(frozen=True)
class Example:
    """A sentence, all of it as text.

    Attributes:
        line: its number, from 1.
        difference: by how much the system scores more than the baseline; negative where less.
        scores: of every system's translation, by the metric that the examples were chosen by.
    """

    line: int
    difference: float
    source: str
    reordered: dict[str, str]
    references: tuple[str, ...]
    systems: dict[str, str]
    scores: dict[str, float]

    def rows(self, form: Callable[[float], str]) -> list[tuple[str, str]]:
        """Return all texts, each after what it is; ``form`` writes the scores."""
        return [
            ("source", self.source),
            *((f"in the order {name}", text) for name, text in self.reordered.items()),
            *(("reference", text) for text in self.references),
            *((f"{name} {form(self.scores[name])}", text) for name, text in self.systems.items()),
        ]


@dataclass(frozen=True)
class Examples:
    """Where a system does best and worst beside a baseline, the greatest difference first.

    Attributes:
        kind: ``examples``.
        measure: what the sentences are scored by.
        baseline, system: which two are compared.
        better, worse: sentences in which the system is better, and worse.
    """

    kind: str
    measure: str
    baseline: str
    system: str
    better: tuple[Example, ...]
    worse: tuple[Example, ...]


def examples(corpus: Corpus, measured: Measured, baseline: str, system: str, count: int) -> Examples:
    """Choose up to ``count`` sentences of each sort. O(sentences) scores for each system.

    Each sentence of the systems' first runs is scored alone. Of equal differences the earlier line is first.
    """
    metric = measured.metric
    scores = {name: metric.score(runs[0]) for name, runs in measured.systems.items()}
    differences = scores[system] - scores[baseline]
    merits = differences if metric.higher_is_better else -differences
    order = np.argsort(-merits, kind="stable")
    better = [int(i) for i in order[:count] if merits[i] > 0]
    worse = [int(i) for i in np.argsort(merits, kind="stable")[:count] if merits[i] < 0]

    def example(index: int) -> Example:
        return Example(
            line=index + 1,
            difference=float(differences[index]),
            source=corpus.source[index],
            reordered={name: text[index] for name, text in corpus.reordered.items()},
            references=tuple(text[index] for text in corpus.references),
            systems={name: text[index] for name, text in corpus.systems.items()},
            scores={name: float(values[index]) for name, values in scores.items()},
        )

    return Examples(
        "examples", metric.name, baseline, system, tuple(map(example, better)), tuple(map(example, worse))
    )
