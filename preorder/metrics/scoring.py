"""Measure systems by several metrics, and compare each with each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from preorder.errors import UsageError
from preorder.metrics import DEFAULTS, METRICS, Metric, MetricOptions, Score
from preorder.metrics.ribes import Ribes
from preorder.metrics.significance import (
    NOISE,
    RESAMPLES,
    SIGNIFICANCE_LEVEL,
    Comparison,
    Resampled,
    compare,
    draw_runs,
    interval,
    resampled,
    resampled_totals,
)
from preorder.metrics.translation import Bleu, Chrf, Ter

LENGTH_TOLERANCE = 0.05  # of the longer of two translations: so much equally long ones may differ

Text = Sequence[str]  # a line for each sentence
Systems = Mapping[str, Sequence[Text]]  # the translations of each system's runs, by the system's name

METRIC_CLASSES: dict[str, Callable[[Sequence[Sequence[str]], MetricOptions], Metric]] = {
    metric.name: metric for metric in (Bleu, Chrf, Ter, Ribes)
}


@dataclass(frozen=True)
class SystemStatistics:
    """A metric, and each system's statistics under it: ``[runs, sentences, numbers]``."""

    metric: Metric
    systems: Mapping[str, np.ndarray]

    def take(self, sentences: np.ndarray) -> SystemStatistics:
        """Return the statistics of some of the sentences, given by their indices."""
        chosen = {name: runs[:, sentences] for name, runs in self.systems.items()}
        return SystemStatistics(self.metric, chosen)


Comparisons = dict[str, Comparison]  # by score


@dataclass(frozen=True)
class Runs:
    """A score over the runs of a system; the sample standard deviation is None for a single run."""

    mean: float
    deviation: float | None
    values: list[float]


@dataclass(frozen=True)
class Best:
    """The best system by a score, and those that are not significantly worse, itself among them."""

    system: str
    not_worse: list[str]


@dataclass(frozen=True)
class EqualLength:
    """A system and the baseline on the sentences of which both have translations of equal length."""

    sentences: list[int]  # of each pair of runs
    length_ratio: float  # tokens of the system's translations for one of the baseline's
    scores: dict[str, float]  # BLEU and its parts
    baseline: dict[str, float]
    comparisons: Comparisons


@dataclass(frozen=True)
class Scoring:
    """The scores of several systems; as a dictionary, the JSON of ``preorder score``."""

    systems: dict[str, dict[str, Any]]  # system → score → its mean over runs, with the metrics' details
    signature: dict[str, str]  # metric → all that its scores depend on
    runs: dict[str, dict[str, Runs]]
    intervals: dict[str, dict[str, tuple[float, float]]]  # the bounds of 95% of the resamples
    significance: dict[str, Comparisons]  # each system but the baseline → comparisons with the baseline
    pairwise: dict[str, dict[str, Comparisons]]  # system → every other system → comparisons with that
    best: dict[str, Best]
    equal_length: dict[str, EqualLength]  # each system but the baseline, where BLEU is measured


def check_system(name: str, systems: Iterable[str]) -> None:
    """Raise a UsageError if no system has the name."""
    if name not in systems:
        raise UsageError(f"no system is called {name!r}, only: {', '.join(systems)}")


def measure(metrics: Sequence[Metric], systems: Mapping[str, Sequence[Any]]) -> list[SystemStatistics]:
    """Count the statistics of all systems' runs under each metric."""
    return [
        SystemStatistics(
            metric, {name: np.stack(list(map(metric.statistics, runs))) for name, runs in systems.items()}
        )
        for metric in metrics
    ]


def measure_translations(
    references: Sequence[Text],
    systems: Systems,
    metrics: Sequence[str] = METRICS,
    options: MetricOptions = DEFAULTS,
) -> list[SystemStatistics]:
    """Count the statistics of translations under each named metric."""
    return measure([METRIC_CLASSES[name](references, options) for name in metrics], systems)


def score_systems(
    measured: Sequence[SystemStatistics],
    baseline: str | None = None,
    seed: int = 1,
    drawn_as: Mapping[str, str] | None = None,
) -> Scoring:
    """Score systems, the same under each metric, and test them against each other.

    ``drawn_as``: systems whose runs are drawn as those of another one, to which they belong.
    """
    if baseline is not None:
        check_system(baseline, measured[0].systems)
    scores = [score for part in measured for score in part.metric.scores]
    samples = resample(measured, seed, drawn_as=drawn_as)
    pairwise = _pairwise(scores, samples)
    return Scoring(
        {name: _means(measured, name) for name in samples},
        {part.metric.name: part.metric.signature for part in measured},
        {name: {key: _runs(one.values) for key, one in found.items()} for name, found in samples.items()},
        {name: {key: interval(one.scores) for key, one in found.items()} for name, found in samples.items()},
        {name: others[baseline] for name, others in pairwise.items() if baseline in others},
        pairwise,
        {score.name: _best(score, samples, pairwise) for score in scores},
        {} if baseline is None else _equal_length(measured, baseline, seed),
    )


def _equal_length(measured: Sequence[SystemStatistics], baseline: str, seed: int) -> dict[str, EqualLength]:
    """Compare BLEU of each system with the baseline's where their translations are equally long.

    Runs are paired, the first with the first; further ones of either system do not count. Other sentences
    add nothing to the sums. A system that has no sentence left in some pair is left out.
    """
    found: dict[str, EqualLength] = {}
    for part in (part for part in measured if part.metric.scores == Bleu.scores):
        for name in [name for name in part.systems if name != baseline]:
            pairs = min(len(part.systems[one]) for one in (name, baseline))
            both = np.stack([part.systems[one][:pairs] for one in (name, baseline)])
            lengths = both[..., 0]  # [2, pairs, sentences]
            is_equal = np.ptp(lengths, 0) <= LENGTH_TOLERANCE * lengths.max(0) + NOISE
            if not is_equal.any(-1).all():
                continue
            chosen = dict(zip((name, baseline), both * is_equal[..., None], strict=True))
            samples = resample([SystemStatistics(part.metric, chosen)], seed, drawn_as={name: baseline})
            scores, others = ({key: one.score for key, one in samples[one].items()} for one in chosen)
            length, other = (lengths * is_equal).sum((1, 2))
            compared = _pairwise(part.metric.scores, samples)[name][baseline]
            ratio = float(length / other) if other else 1.0
            found[name] = EqualLength(is_equal.sum(-1).tolist(), ratio, scores, others, compared)
    return found


def _runs(values: np.ndarray) -> Runs:
    deviation = float(values.std(ddof=1)) if len(values) > 1 else None
    return Runs(float(values.mean()), deviation, values.tolist())


def _means(measured: Sequence[SystemStatistics], system: str) -> dict[str, Any]:
    means: dict[str, Any] = {}
    for part in measured:
        totals = part.systems[system].sum(1)
        means |= {score.name: float(score.compute(totals).mean()) for score in part.metric.scores}
        details = [part.metric.details(of_run) for of_run in totals]
        means |= {key: np.mean([of_run[key] for of_run in details], axis=0).tolist() for key in details[0]}
    return means


def resample(
    measured: Sequence[SystemStatistics],
    seed: int,
    resamples: int = RESAMPLES,
    drawn_as: Mapping[str, str] | None = None,
) -> dict[str, dict[str, Resampled]]:
    """Return each system's scores, resampled: the same sentences for all, and each system's own runs."""
    statistics = [runs for part in measured for runs in part.systems.values()]
    totals = iter(resampled_totals(statistics, seed, resamples))
    found: dict[str, dict[str, Resampled]] = {}
    for part in measured:
        for name, runs in part.systems.items():
            drawn = next(totals), draw_runs(len(runs), seed, (drawn_as or {}).get(name, name), resamples)
            scores = {score.name: resampled(score, runs, *drawn) for score in part.metric.scores}
            found.setdefault(name, {}).update(scores)
    return found


def _pairwise(
    scores: Sequence[Score], samples: Mapping[str, Mapping[str, Resampled]]
) -> dict[str, dict[str, Comparisons]]:
    pairwise: dict[str, dict[str, Comparisons]] = {name: {} for name in samples}
    for one, other in permutations(samples, 2):
        a, b = samples[one], samples[other]
        pairwise[one][other] = {each.name: compare(each, a[each.name], b[each.name]) for each in scores}
    return pairwise


def _best(
    score: Score,
    samples: Mapping[str, Mapping[str, Resampled]],
    pairwise: Mapping[str, Mapping[str, Comparisons]],
) -> Best:
    sign = 1 if score.higher_is_better else -1
    best = max(samples, key=lambda name: sign * samples[name][score.name].score)
    p_values = {name: pairwise[name][best][score.name].p_value if name != best else 1 for name in samples}
    return Best(best, [name for name, p_value in p_values.items() if p_value >= SIGNIFICANCE_LEVEL])
