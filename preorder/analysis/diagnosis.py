"""Is word order the problem? How far two languages are from the same order, and what an order could gain."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from preorder.alignment.gold import gold_permutation, target_groups
from preorder.analysis.analyses import by_fitting_length, grouped_curves
from preorder.analysis.headroom import reorder_translations
from preorder.analysis.results import SCORE_FORMATS, Curves, Estimate, Table, estimate_cell
from preorder.data import Alignment, Permutation
from preorder.metrics import MetricOptions
from preorder.metrics.orders import Preordering, evaluation
from preorder.metrics.scoring import Systems, Text, measure, measure_translations, score_systems

HEADROOM_METRICS = ("bleu", "chrf", "ribes")
ORDERS = {"best_order": "best order", "best_btg_order": "best BTG order"}  # key in JSON → title
WORDS_LEFT = {"missing": "deletions", "too_many": "insertions", "others": "substitutions"}
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


def diagnose_pair(
    names: Sequence[Sequence[str]],
    alignments: Sequence[Alignment],
    predicted: Sequence[Permutation],
    seed: int = 1,
) -> tuple[dict[str, Any], Curves]:
    """Compare the source's order and a predicted one with the order that links ask for.

    ``names``: of each token of each sentence, its word or tag. ``predicted``: by a preorderer that has not
    seen the sentences. Returns the JSON of ``preorder diagnose``, and the curves of tau by length in it.
    """
    groups = [target_groups(links, len(row)) for links, row in zip(alignments, names, strict=True)]
    monotone = [Permutation.identity(len(row)) for row in names]
    (measured,) = measure([Preordering(groups)], {UNORDERED: [monotone], PREDICTED: [predicted]})
    curves = grouped_curves("length", by_fitting_length(list(map(len, names))), [measured], seed)
    orders = evaluation(*(measured.systems[order][0] for order in (PREDICTED, UNORDERED)))
    tau = orders.monotone.tau
    share = (orders.tau - tau) / (1 - tau) if tau < 1 else 0.0
    nearest = min(CASES, key=lambda case: abs(case.tau - tau) + abs(case.share_of_the_way - share))
    sums = _distances(names, alignments, predicted)
    linked, *totals = map(sum, zip((0, 0, 0), *sums.values(), strict=True))
    distances = [total / max(1, linked) for total in totals]
    words = [
        {"word": word, "count": count, UNORDERED: before / count, PREDICTED: after / count}
        for word, (count, before, after) in sorted(sums.items(), key=lambda item: (-item[1][2], item[0]))
    ]
    scores = asdict(orders.monotone), {name: getattr(orders, name) for name in asdict(orders.monotone)}
    found = {
        "sentences": orders.sentences,
        "skipped": orders.skipped,
        UNORDERED: scores[0] | {"distance": distances[0]},
        PREDICTED: scores[1] | {"distance": distances[1]},
        "share_of_the_way": share,
        "monotone": orders.monotone.complete_match,
        "nearest": asdict(nearest),
        "by_length": asdict(curves),
        "words": words[:MOST_WORDS],
    }
    return found, curves


def _distances(
    names: Sequence[Sequence[str]], alignments: Sequence[Alignment], predicted: Sequence[Permutation]
) -> dict[str, tuple[int, int, int]]:
    """Return for each word its linked tokens, and the distance from gold of the source and the prediction."""
    sums: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(3, int))
    for row, links, order in zip(names, alignments, predicted, strict=True):
        gold = gold_permutation(links, len(row)).positions
        for i, targets in enumerate(links.targets(len(row))):
            if targets:
                sums[row[i]] += 1, abs(gold[i] - i), abs(gold[i] - order.positions[i])
    return {word: tuple(numbers.tolist()) for word, numbers in sums.items()}


def pair_tables(found: Mapping[str, Any]) -> list[Table]:
    """Return the tables of what :func:`diagnose_pair` found: orders, then words."""
    tau = SCORE_FORMATS["tau"].format
    columns = ("order", "tau", "tau of Nakagawa", "sentences in order", "distance (tokens)")
    rows = []
    for name in (UNORDERED, PREDICTED):
        of = found[name]
        in_order, distance = f"{of['complete_match']:.1%}", f"{of['distance']:.2f}"
        rows.append((name, tau(of["tau"]), tau(of["tau_nakagawa"]), in_order, distance))
    case = Case(**found["nearest"])
    note = (
        f"A quick preorderer goes {found['share_of_the_way']:.0%} of the way to the order of the links.\n"
        f"The nearest of our cases: {case.name} (tau {case.tau:.2f}, {case.share_of_the_way:.0%} of it). "
        f"There {case.outcome}. Other text may differ."
    )
    caption = f"Order of {found['sentences']} sentences that the preorderer has not seen"
    words = tuple(
        (one["word"], str(one["count"]), f"{one[UNORDERED]:.2f}", f"{one[PREDICTED]:.2f}")
        for one in found["words"]
    )
    heads = ("word", "linked", UNORDERED, PREDICTED)
    return [
        Table(caption, columns, tuple(rows), note),
        Table("Where most distance is left (mean tokens from the gold position)", heads, words),
    ]


def diagnose_translations(
    references: Sequence[Text], systems: Systems, options: MetricOptions, seed: int = 1
) -> tuple[dict[str, Any], Curves]:
    """Score translations as they are, in the best order of their words, and in the best BTG order.

    Returns the JSON of ``preorder diagnose``, of each system, and curves by length.
    """
    every: dict[str, list[Text]] = {}
    for name, runs in systems.items():
        every[name] = list(runs)
        reordered = zip(*(reorder_translations(run, references) for run in runs), strict=True)
        every |= {
            f"{name}, {title}": list(texts) for title, texts in zip(ORDERS.values(), reordered, strict=True)
        }
    measured = measure_translations(references, every, (*HEADROOM_METRICS, "ter"), options)
    scoring = score_systems(measured, None, seed)
    scored = {
        name: {metric: scoring.systems[name][metric] for metric in HEADROOM_METRICS}
        | {"interval": {metric: scoring.intervals[name][metric] for metric in HEADROOM_METRICS}}
        for name in every
    }
    found = {}
    for name in systems:
        found[name] = scored[name]
        for key, title in ORDERS.items():
            gains = scoring.pairwise[f"{name}, {title}"][name]
            gain = {metric: asdict(gains[metric]) for metric in HEADROOM_METRICS}
            found[name][key] = scored[f"{name}, {title}"] | {"gain": gain}
        left = scoring.systems[f"{name}, {ORDERS['best_order']}"]
        found[name]["words"] = {key: left[f"ter_{kind}"] for key, kind in WORDS_LEFT.items()}
    lengths = [len(line.split()) for line in references[0]]
    groups = by_fitting_length(lengths, "reference length (words)")
    return found, grouped_curves("length", groups, measured[:1], seed)


def translation_tables(found: Mapping[str, Mapping[str, Any]]) -> list[Table]:
    """Return the tables of what :func:`diagnose_translations` found: headroom, then what is left."""
    rows = []
    for name, system in found.items():
        for title, scores in ((name, system), *((f"{name}, {ORDERS[key]}", system[key]) for key in ORDERS)):
            cells = [
                estimate_cell(
                    Estimate(scores[metric], scores["interval"][metric]), SCORE_FORMATS[metric].format
                )
                for metric in HEADROOM_METRICS
            ]
            gain = scores["gain"]["bleu"] if "gain" in scores else None
            gained = Estimate(gain["difference"], gain["interval"]) if gain else None
            rows.append((title, *cells, estimate_cell(gained, "{:+.2f}".format) if gained else ""))
    columns = ("translations", *(SCORE_FORMATS[metric].title for metric in HEADROOM_METRICS), "BLEU gained")
    note = "The words stay as they are; what is gained estimates what a better order could gain."
    left = tuple((name, *map("{:.2f}".format, system["words"].values())) for name, system in found.items())
    heads = ("in the best order", *(key.replace("_", " ") for key in WORDS_LEFT))
    return [
        Table("Order headroom, with 95 % intervals", columns, tuple(rows), note),
        Table("What is left: words a sentence", heads, left),
    ]
