"""Is word order the problem? How far two languages are from the same order, and what an order could gain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from preorder.alignment.gold import gold_permutation, target_groups
from preorder.analysis.curves import by_length, fitting_width, grouped_curves
from preorder.analysis.headroom import reorder_translations
from preorder.analysis.results import SCORE_FORMATS, Curves, Estimate, Table, estimate_cell
from preorder.data import Alignment, Permutation
from preorder.metrics import MetricOptions
from preorder.metrics.orders import OrderEvaluation, Tau, evaluation
from preorder.metrics.scoring import Scoring, Systems, Text, measure, measure_translations, score_systems

HEADROOM_METRICS = ("bleu", "chrf", "ribes")
BEST, BEST_BTG = "best order", "best BTG order"
UNORDERED, PREDICTED = "unreordered", "predicted"
MOST_WORDS = 10  # words or tags that a table shows


@dataclass(frozen=True)
class Case:
    """A pair of languages on which translation models were trained, measured by ``preorder diagnose``."""

    name: str
    tau: float  # of the source's order
    share_of_the_way: float
    outcome: str


GAINED = "predicted positions gained {} BLEU (p = {}), the gold order {}"
CASES = (
    Case("a made-up verb-final language", 0.30, 0.96, "predicted positions gained 17 BLEU"),
    Case("enja, En→Ja, 8 words", 0.60, 0.69, GAINED.format(1.1, 0.08, 2.8)),
    Case("enja, Ja→En, 8 words", 0.60, 0.63, GAINED.format(0.9, 0.14, 3.8)),
    Case("KFTT, En→Ja, 22 words", 0.59, 0.41, GAINED.format(0.5, 0.009, 3.3)),
    Case("KFTT, Ja→En, 22 words", 0.59, 0.29, GAINED.format(0.4, 0.11, 3.4)),
    Case("Multi30k, German–English", 0.94, 0.2, "the orders are nearly the same, and none was tried"),
)
"""What an order was worth in our own runs; tau and share are of 20,000 lines (the first: 6,000)."""


@dataclass(frozen=True)
class MovedWord:
    """How far the tokens of one word, or tag, are from their gold positions, on average, in tokens."""

    word: str
    count: int
    unreordered: float
    predicted: float


@dataclass(frozen=True)
class PairDiagnosis:
    """The order of a pair of languages, on lines that the preorderer has not seen."""

    orders: OrderEvaluation  # of the predicted orders, and of the source's own
    distance: tuple[float, float]  # of linked tokens from their gold positions: unreordered, predicted
    by_length: Curves  # tau
    words: tuple[MovedWord, ...]  # those with most distance left, the first first

    @property
    def share_of_the_way(self) -> float:
        """How much of the way from the source's order to the gold order is predicted; at most 1."""
        unordered = self.orders.monotone.tau
        return (self.orders.tau - unordered) / (1 - unordered) if unordered < 1 else 0.0

    @property
    def nearest(self) -> Case:
        """The case that is nearest by tau and share of the way."""
        tau, share = self.orders.monotone.tau, self.share_of_the_way
        return min(CASES, key=lambda case: abs(case.tau - tau) + abs(case.share_of_the_way - share))

    def as_json(self) -> dict[str, Any]:
        """Return the JSON of ``preorder diagnose``."""
        predicted = {name: getattr(self.orders, name) for name in asdict(self.orders.monotone)}
        return {
            "sentences": self.orders.sentences,
            "skipped": self.orders.skipped,
            UNORDERED: asdict(self.orders.monotone) | {"distance": self.distance[0]},
            PREDICTED: predicted | {"distance": self.distance[1]},
            "share_of_the_way": self.share_of_the_way,
            "monotone": self.orders.monotone.complete_match,
            "nearest": asdict(self.nearest),
            "by_length": asdict(self.by_length),
            "words": [asdict(word) for word in self.words],
        }


def diagnose_pair(
    names: Sequence[Sequence[str]],
    alignments: Sequence[Alignment],
    predicted: Sequence[Permutation],
    seed: int = 1,
) -> PairDiagnosis:
    """Compare the source's order and a predicted one with the order that links ask for.

    ``names``: of each token of each sentence, its word or tag. ``predicted``: by a preorderer that has not
    seen the sentences.
    """
    groups = [target_groups(links, len(row)) for links, row in zip(alignments, names, strict=True)]
    monotone = [Permutation.identity(len(row)) for row in names]
    (measured,) = measure([Tau(groups)], {UNORDERED: [monotone], PREDICTED: [predicted]})
    lengths = list(map(len, names))
    curves = grouped_curves("length", by_length(lengths, *fitting_width(lengths)), [measured], seed)
    distances = _distances(names, alignments, predicted)
    totals = np.array([total for _, *total in distances.values()]).sum(0)
    linked = max(1, sum(count for count, *_ in distances.values()))
    words = [MovedWord(word, n, one / n, other / n) for word, (n, one, other) in distances.items()]
    words.sort(key=lambda moved: (-moved.predicted * moved.count, moved.word))
    return PairDiagnosis(
        evaluation(*(measured.systems[order][0] for order in (PREDICTED, UNORDERED))),
        (float(totals[0] / linked), float(totals[1] / linked)),
        curves,
        tuple(words[:MOST_WORDS]),
    )


def _distances(
    names: Sequence[Sequence[str]], alignments: Sequence[Alignment], predicted: Sequence[Permutation]
) -> dict[str, tuple[int, int, int]]:
    """Return for each word its linked tokens, and the distance from gold of the source and the prediction."""
    sums: dict[str, tuple[int, int, int]] = {}
    for row, links, order in zip(names, alignments, predicted, strict=True):
        gold = gold_permutation(links, len(row)).positions
        for i, targets in enumerate(links.targets(len(row))):
            if targets:
                count, one, other = sums.get(row[i], (0, 0, 0))
                sums[row[i]] = count + 1, one + abs(gold[i] - i), other + abs(gold[i] - order.positions[i])
    return sums


def pair_tables(found: PairDiagnosis) -> list[Table]:
    """Return the tables of a pair: orders, then words."""
    tau = SCORE_FORMATS["tau"].format
    rows = tuple(
        (name, tau(scores.tau), tau(scores.tau_nakagawa), f"{scores.complete_match:.1%}", f"{distance:.2f}")
        for name, scores, distance in zip(
            (UNORDERED, PREDICTED), (found.orders.monotone, found.orders), found.distance, strict=True
        )
    )
    columns = ("order", "tau", "tau of Nakagawa", "sentences in order", "distance (tokens)")
    case = found.nearest
    note = (
        f"A quick preorderer goes {found.share_of_the_way:.0%} of the way to the order of the links.\n"
        f"The nearest of our cases: {case.name} (tau {case.tau:.2f}, {case.share_of_the_way:.0%} of it). "
        f"There {case.outcome}. Other text may differ."
    )
    caption = f"Order of {found.orders.sentences} sentences that the preorderer has not seen"
    words = tuple(
        (moved.word, str(moved.count), f"{moved.unreordered:.2f}", f"{moved.predicted:.2f}")
        for moved in found.words
    )
    heads = ("word", "linked", UNORDERED, PREDICTED)
    return [
        Table(caption, columns, rows, note),
        Table("Where most distance is left (mean tokens from the gold position)", heads, words),
    ]


@dataclass(frozen=True)
class TranslationDiagnosis:
    """What translations would score if their words stood in the best order."""

    systems: tuple[str, ...]
    scoring: Scoring  # of each system as it is, in its best order, and in its best BTG order
    by_length: Curves

    def as_json(self) -> dict[str, Any]:
        """Return the JSON of ``preorder diagnose``."""
        return {name: self._system(name) for name in self.systems}

    def gain(self, name: str, order: str, metric: str) -> dict[str, Any]:
        """Return what an order of a system gains: difference, interval and p-values."""
        return asdict(self.scoring.pairwise[reordered(name, order)][name][metric])

    def words_left(self, name: str) -> dict[str, float]:
        """Return how many words a sentence are missing, too many, and others in a system's best order."""
        edits = self.scoring.systems[reordered(name, BEST)]
        parts = {"missing": "deletions", "too_many": "insertions", "others": "substitutions"}
        return {key: edits[f"ter_{kind}"] for key, kind in parts.items()}

    def _system(self, name: str) -> dict[str, Any]:
        found = self._scores(name)
        for key, order in (("best_order", BEST), ("best_btg_order", BEST_BTG)):
            gains = {metric: self.gain(name, order, metric) for metric in HEADROOM_METRICS}
            found[key] = self._scores(reordered(name, order)) | {"gain": gains}
        return found | {"words": self.words_left(name)}

    def _scores(self, name: str) -> dict[str, Any]:
        scores, bounds = (
            {metric: of_system[name][metric] for metric in HEADROOM_METRICS}
            for of_system in (self.scoring.systems, self.scoring.intervals)
        )
        return scores | {"interval": bounds}


def reordered(system: str, order: str) -> str:
    """Return how a system is called whose translations are in another order."""
    return f"{system}, {order}"


def diagnose_translations(
    references: Sequence[Text], systems: Systems, options: MetricOptions, seed: int = 1
) -> TranslationDiagnosis:
    """Score translations as they are, in the best order of their words, and in the best BTG order."""
    every: dict[str, list[Text]] = {}
    for name, runs in systems.items():
        texts = [reorder_translations(run, references) for run in runs]
        orders = {name: list(runs)}
        for k, order in enumerate((BEST, BEST_BTG)):
            orders[reordered(name, order)] = [text[k] for text in texts]
        every |= orders
    measured = measure_translations(references, every, (*HEADROOM_METRICS, "ter"), options)
    lengths = [len(line.split()) for line in references[0]]
    groups = by_length(lengths, *fitting_width(lengths), "reference length (words)")
    curves = grouped_curves("length", groups, measured[:1], seed)
    return TranslationDiagnosis(tuple(systems), score_systems(measured, None, seed), curves)


def translation_tables(found: TranslationDiagnosis) -> list[Table]:
    """Return the tables of translations: headroom, then what is left."""
    rows = []
    for name in found.systems:
        for order in (None, BEST, BEST_BTG):
            full = name if order is None else reordered(name, order)
            cells = [_cell(found, full, metric) for metric in HEADROOM_METRICS]
            gain = {} if order is None else found.gain(name, order, "bleu")
            gained = Estimate(gain["difference"], gain["interval"]) if gain else None
            rows.append((full, *cells, estimate_cell(gained, "{:+.2f}".format) if gain else ""))
    columns = ("translations", *(SCORE_FORMATS[metric].title for metric in HEADROOM_METRICS), "BLEU gained")
    note = "The words stay as they are; what is gained estimates what a better order could gain."
    left = tuple((name, *map("{:.2f}".format, found.words_left(name).values())) for name in found.systems)
    heads = ("in the best order", "missing", "too many", "others")
    return [
        Table("Order headroom, with 95 % intervals", columns, tuple(rows), note),
        Table("What is left: words a sentence", heads, left),
    ]


def _cell(found: TranslationDiagnosis, name: str, metric: str) -> str:
    estimate = Estimate(found.scoring.systems[name][metric], found.scoring.intervals[name][metric])
    return estimate_cell(estimate, SCORE_FORMATS[metric].format)
