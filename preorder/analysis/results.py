"""Results of analyses, which as dictionaries are the JSON of ``preorder analyse``; and their tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

from preorder.errors import DataError
from preorder.metrics.scoring import Scoring
from preorder.metrics.significance import SIGNIFICANCE_LEVEL, Comparison


@dataclass(frozen=True)
class Estimate:
    """A score, and the bounds of 95% of its bootstrap resamples (too narrow for few sentences)."""

    score: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Group:
    """Sentences that are measured together."""

    label: str
    sentences: int


@dataclass(frozen=True)
class Curves:
    """Scores over groups of sentences: a line for each system."""

    kind: str  # length, gain or robustness
    axis: str  # what distinguishes the groups, with its unit
    groups: tuple[Group, ...]  # in order, without empty ones
    measures: dict[str, dict[str, tuple[Estimate | None, ...]]]  # score → system → its estimate in each group
    skipped: int  # sentences that belong to no group
    signature: dict[str, str]  # metric → all that its scores depend on


def parse_curves(value: Any) -> Curves:
    """Return curves from the JSON of ``preorder analyse``."""

    def estimate(value: Any) -> Estimate | None:
        if value is None:
            return None
        score, low, high = map(float, (value["score"], *value["interval"]))
        if not all(map(isfinite, (score, low, high))):
            raise ValueError("a score that is not finite")
        return Estimate(score, (low, high))

    try:
        measures = {
            name: {system: tuple(map(estimate, line)) for system, line in lines.items()}
            for name, lines in value["measures"].items()
        }
        groups = tuple(Group(one["label"], int(one["sentences"])) for one in value["groups"])
        lengths = {len(line) for lines in measures.values() for line in lines.values()}
        if lengths != {len(groups)} or not (groups and all(measures.values())):
            raise ValueError("not an estimate for each group")
        if measures.keys() - SCORE_FORMATS.keys():
            raise ValueError("an unknown score")
        kind, axis = value["kind"], value["axis"]
        if not all(isinstance(text, str) for text in (kind, axis, *(group.label for group in groups))):
            raise TypeError("a label that is no text")
        return Curves(kind, axis, groups, measures, value["skipped"], value["signature"])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise DataError(f"not what preorder analyse --json writes of curves: {error!r}") from None


@dataclass(frozen=True)
class Breakdown:
    """The parts of a score of each system, each compared with the baseline's."""

    kind: str  # precision or generation
    systems: dict[str, dict[str, Estimate]]  # system → part → estimate
    significance: dict[str, dict[str, Comparison]]  # system, but the baseline → part → comparison
    signature: dict[str, str]


@dataclass(frozen=True)
class ScoreFormat:
    """How a score is shown: its name, its unit or range, and how many digits follow the decimal point."""

    title: str
    unit: str
    digits: int
    higher_is_better: bool = True

    @property
    def label(self) -> str:
        """The title with the unit, for an axis."""
        return f"{self.title} ({self.unit})"

    def format_difference(self, difference: float) -> str:
        """Return a difference of scores as text, always with its sign."""
        return f"{difference:+.{self.digits}f}"

    def format(self, score: float) -> str:
        """Return a score as text; a minus is an ASCII hyphen, so that programs can read it."""
        return f"{score:.{self.digits}f}"


BREAKDOWN_TITLES = {
    "precision": "n-gram precision (%)",
    "generation": "edits per sentence; deletions are under-generation, insertions over-generation",
}

SCORE_FORMATS: dict[str, ScoreFormat] = {
    "bleu": ScoreFormat("BLEU", "0 to 100", 2),
    "bleu_precision": ScoreFormat("precision", "geometric mean of 1- to 4-grams, %", 2),
    "bleu_brevity_penalty": ScoreFormat("brevity", "brevity penalty, 0 to 1", 3),
    "chrf": ScoreFormat("chrF", "0 to 100", 2),
    "ter": ScoreFormat("TER", "edits per 100 reference tokens", 2, higher_is_better=False),
    "ribes": ScoreFormat("RIBES", "0 to 1", 4),
    "tau": ScoreFormat("Kendall's tau", "−1 to 1", 3),
    "tau_nakagawa": ScoreFormat("tau of Nakagawa", "0 to 1", 3),
    "frs": ScoreFormat("fuzzy reordering score", "0 to 1", 3),
    "complete_match": ScoreFormat("complete match", "0 to 1", 3),
    "distance": ScoreFormat("distance from the gold position", "tokens", 2, higher_is_better=False),
    **{
        f"ter_{kind}": ScoreFormat(kind, "per sentence", 2, higher_is_better=False)
        for kind in ("deletions", "insertions", "substitutions", "shifts")
    },
    **{f"precision_{n}": ScoreFormat(f"{n}-gram precision", "%", 1) for n in range(1, 5)},
}

BLEU_SCORES = ("bleu", "bleu_precision", "bleu_brevity_penalty")  # BLEU and its parts
TRANSLATION_SCORES = (*BLEU_SCORES, "chrf", "ter", "ribes")
SUMMARY_SCORES = (*TRANSLATION_SCORES, "tau")  # those that the table of a page shows
CURVE_SCORES = ("bleu", "chrf", "ter", "ribes", "tau", "tau_nakagawa", "complete_match", "distance")


@dataclass(frozen=True)
class Table:
    """Rows of cells; the first column names the rows. The note explains the cells."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


class ScoreCell(NamedTuple):
    """A system's score in a table, each part as text."""

    mean: str  # over the runs, with their standard deviation if there are several
    is_best: bool  # the best of several systems, or not significantly worse
    interval: str  # the bounds of 95% of the resamples
    arrow: str = ""  # significantly better or worse than the baseline
    p_values: str = ""  # by bootstrap and sign test


def score_cell(scoring: Scoring, system: str, name: str) -> ScoreCell:
    """Return the cell of a system's score; that of the baseline has no arrow and no p-values."""
    form, runs = SCORE_FORMATS[name].format, scoring.runs[system][name]
    mean = form(runs.mean) + ("" if runs.deviation is None else f" ± {form(runs.deviation)}")
    low, high = map(form, scoring.intervals[system][name])
    is_best = len(scoring.systems) > 1 and system in scoring.best[name].not_worse
    cell = ScoreCell(mean, is_best, f"[{low}, {high}]")
    comparison = scoring.significance.get(system, {}).get(name)
    return cell if comparison is None else ScoreCell(*cell[:3], arrow(name, comparison), p_values(comparison))


def score_titles(names: Iterable[str]) -> list[str]:
    """Return the titles of scores."""
    return [SCORE_FORMATS[name].title for name in names]


def arrow(name: str, comparison: Comparison) -> str:
    """Return an arrow after a space where a system is significantly better, ↑, or worse, ↓, than another."""
    if comparison.p_value >= SIGNIFICANCE_LEVEL:
        return ""
    return " ↑" if (comparison.difference > 0) == SCORE_FORMATS[name].higher_is_better else " ↓"


def difference(name: str, comparison: Comparison) -> str:
    """Return the difference of two systems, and its :func:`arrow`."""
    return SCORE_FORMATS[name].format_difference(comparison.difference) + arrow(name, comparison)


def p_values(comparison: Comparison) -> str:
    """Return the p-values of the bootstrap and of the sign test."""
    return f"{p_value(comparison.p_value)}, {p_value(comparison.sign_test_p_value)}"


def gains_by_length(compared: Mapping[str, Comparison]) -> bool:
    """Say whether a higher BLEU is due to longer translations.

    BLEU rises significantly while its precision does not, or rises while precision falls significantly.
    """
    bleu, precision, _ = (compared[name] for name in BLEU_SCORES)
    is_sure, is_other = (one.p_value < SIGNIFICANCE_LEVEL for one in (bleu, precision))
    return bleu.difference > 0 and (is_other if precision.difference < 0 else is_sure and not is_other)


def length_warnings(scoring: Scoring) -> list[str]:
    """Return a line for each system whose higher BLEU is due to longer translations."""
    lines = []
    form = SCORE_FORMATS["bleu_brevity_penalty"].format
    for system, compared in scoring.significance.items():
        if "bleu" in compared and gains_by_length(compared):
            bleu, precision, _ = (_change(name, compared[name]) for name in BLEU_SCORES)
            penalty = scoring.systems[system]["bleu_brevity_penalty"]
            before = form(penalty - compared["bleu_brevity_penalty"].difference)
            line = f"{system}: BLEU {bleu} comes from length, not from precision, {precision}; "
            line += f"brevity penalty {before} → {form(penalty)}"
            if equal := scoring.equal_length.get(system):
                line += f"; at equal length BLEU {_change('bleu', equal.comparisons['bleu'])}"
            lines.append(line)
    return lines


def verdict(scoring: Scoring) -> str:
    """Return a sentence: whether the system of the highest BLEU is better than the baseline, and by what."""
    baseline = next(name for name in scoring.systems if name not in scoring.significance)
    best = max(scoring.systems, key=lambda name: scoring.systems[name]["bleu"])
    if best == baseline:
        found = SCORE_FORMATS["bleu"].format(scoring.systems[baseline]["bleu"])
        if len(scoring.systems) == 1:
            return f"{baseline} has {found} BLEU."
        return f"No system has more BLEU than {baseline}, {found}."
    bleu, precision, _ = (scoring.significance[best][name] for name in BLEU_SCORES)
    if bleu.p_value >= SIGNIFICANCE_LEVEL:
        return f"No system is shown to be better than {baseline}: {best} has {_change('bleu', bleu)} BLEU."
    reason = f"n-gram precision {_change('bleu_precision', precision)}"
    if equal := scoring.equal_length.get(best):
        reason += f", BLEU at equal length {_change('bleu', equal.comparisons['bleu'])}"
    is_longer = gains_by_length(scoring.significance[best])
    judged = "is longer, not better, than" if is_longer else "is better than"
    return f"{best} {judged} {baseline}: BLEU {_change('bleu', bleu)}, {reason}."


def _change(name: str, comparison: Comparison) -> str:
    """Return a difference of scores and its p by the bootstrap."""
    change = SCORE_FORMATS[name].format_difference(comparison.difference)
    return f"{change} (p {p_value(comparison.p_value)})"


def p_value(number: float) -> str:
    """Return a p-value as text: ``0.012``, or ``< 0.001``."""
    return f"{number:.3f}" if number >= 0.0005 else "< 0.001"


def scoring_table(scoring: Scoring) -> Table:
    """Return a table of systems down, scores across: means over runs, with intervals and marks."""
    names = [name for name in SUMMARY_SCORES if name in scoring.best]
    rows = []
    for system in scoring.systems:
        row = [score_cell(scoring, system, name) for name in names]
        rows.append((system, *(f"{one.mean}{'*' * one.is_best}{one.arrow} {one.interval}" for one in row)))
    baseline = next(name for name in scoring.systems if name not in scoring.significance)
    units = "; ".join(
        SCORE_FORMATS[name].label + ("" if SCORE_FORMATS[name].higher_is_better else ", less is better")
        for name in names
    )
    note = (
        "Means of runs (± standard deviation), and what 95% of bootstrap resamples lie between. "
        "* The best system, and those not significantly worse. "
        f"↑ better, ↓ worse than {baseline}, p < {SIGNIFICANCE_LEVEL}. {units}."
        f"{''.join(f' {line}.' for line in length_warnings(scoring))}"
    )
    return Table("Systems", ("system", *score_titles(names)), tuple(rows), note)


FEW_SENTENCES = 30  # of a group: its score says little


def curve_tables(curves: Curves) -> list[Table]:
    """Return a table for each score: groups down, systems across."""
    skipped = f"; sentences in no group: {curves.skipped}" if curves.skipped else ""
    few = [group.label for group in curves.groups if group.sentences < FEW_SENTENCES]
    note = f"Fewer than {FEW_SENTENCES} sentences, too few to trust: {', '.join(few)}." if few else ""
    tables = []
    for name, lines in curves.measures.items():
        form = SCORE_FORMATS[name].format
        rows = tuple(
            (group.label, str(group.sentences), *(estimate_cell(line[k], form) for line in lines.values()))
            for k, group in enumerate(curves.groups)
        )
        caption = f"{SCORE_FORMATS[name].label} by {curves.axis}, with 95% intervals{skipped}"
        tables.append(Table(caption, (curves.axis, "sentences", *lines), rows, note))
    return tables


def estimate_cell(estimate: Estimate | None, form: Callable[[float], str]) -> str:
    """Return a score and its interval as text."""
    if estimate is None:
        return "–"
    return "{} [{}, {}]".format(*map(form, (estimate.score, *estimate.interval)))


def tables_of(found: Curves | Breakdown) -> list[Table]:
    """Return the tables of a result."""
    return curve_tables(found) if isinstance(found, Curves) else [breakdown_table(found)]


def breakdown_table(breakdown: Breakdown) -> Table:
    """Return a table of systems down, parts across, with differences from the baseline."""
    baseline = next(name for name in breakdown.systems if name not in breakdown.significance)
    rows = []
    for system, parts in breakdown.systems.items():
        compared = breakdown.significance.get(system, {})
        cells = {name: SCORE_FORMATS[name].format(part.score) for name, part in parts.items()}
        cells |= {name: f"{cells[name]} ({difference(name, one)})" for name, one in compared.items()}
        rows.append((system, *cells.values()))
    columns = ("system", *score_titles(next(iter(breakdown.systems.values()))))
    note = f"↑ better, ↓ worse, p < {SIGNIFICANCE_LEVEL} (paired bootstrap)."
    note = f"In brackets the difference from {baseline}. {note}" if breakdown.significance else ""
    return Table(BREAKDOWN_TITLES[breakdown.kind], columns, tuple(rows), note)
