"""Is word order the problem? How far two languages are from the same order, and what an order could gain.

Order headroom is what a translation would score if its words stood in the best order. The words of a
hypothesis are matched with equal words of the reference, one to one. The best order puts them where their
partners stand; the best BTG order is the nearest to it that a BTG tree over the hypothesis gives. No word
changes: the errors that remain are missing, superfluous and wrong words. The gain is a lower bound of the
gain of the best permutation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np

from preorder.alignment.gold import gold_permutation, target_groups
from preorder.analysis.analyses import by_fitting_length, grouped_curves
from preorder.analysis.results import SCORE_FORMATS, Curves, Estimate, Table, estimate_cell
from preorder.btg.viterbi import all_positions, best_trees
from preorder.compiled import entry_point
from preorder.data import Alignment, Permutation
from preorder.errors import UsageError
from preorder.metrics import Metric, MetricOptions, Score
from preorder.metrics.orders import Preordering, evaluation, mean_of
from preorder.metrics.scoring import Systems, Text, measure, measure_translations, score_systems
from preorder.metrics.translation import tokenizer

HEADROOM_METRICS = ("bleu", "chrf", "ribes")
ORDERS = {"best_order": "best order", "best_btg_order": "best BTG order"}  # key in JSON → title
WORDS_LEFT = {"missing": "deletions", "too_many": "insertions", "others": "substitutions"}
ORDERED = UNORDERED, PREDICTED = "unreordered", "predicted"
MOST_WORDS = 10  # words or tags that a table shows
LONGEST = 256  # words: longer hypotheses keep their order in place of the best BTG order


class Distance(Metric):
    """How many tokens linked words stand from their gold position: the mean over words; NaN without any."""

    name: ClassVar[str] = "distance"
    scores: ClassVar[tuple[Score, ...]] = (
        Score("distance", lambda sums: mean_of(sums[..., 0], sums[..., 1]), higher_is_better=False),
    )
    signature = "words:linked"

    def __init__(self, alignments: Sequence[Alignment], lengths: Sequence[int]) -> None:
        self._gold = [gold_permutation(links, n) for links, n in zip(alignments, lengths, strict=True)]
        targets = (links.targets(n) for links, n in zip(alignments, lengths, strict=True))
        self.linked = [np.flatnonzero([bool(one) for one in row]) for row in targets]  # indices of words

    def distances(self, orders: Sequence[Permutation]) -> list[np.ndarray]:
        """Return the distances of each sentence's linked words."""
        rows = zip(self._gold, orders, self.linked, strict=True)
        return [np.abs(np.subtract(gold.positions, order.positions))[linked] for gold, order, linked in rows]

    def statistics(self, hypotheses: Sequence[Permutation]) -> np.ndarray:
        """Return ``[sentences, 2]``: the sum of the distances, and how many words have one."""
        return np.array([(row.sum(), len(row)) for row in self.distances(hypotheses)], float)


def diagnose_pair(
    names: Sequence[Sequence[str]],
    alignments: Sequence[Alignment],
    predicted: Sequence[Permutation],
    seed: int = 1,
) -> tuple[dict[str, Any], Curves]:
    """Compare the source's order and a predicted one with the order that links ask for.

    ``names``: of each token of each sentence, its word or tag. ``predicted``: by a preorderer that has not
    seen the sentences. Returns the JSON of ``preorder diagnose``, and the curves by length in it.
    """
    groups = [target_groups(links, len(row)) for links, row in zip(alignments, names, strict=True)]
    monotone = [Permutation.identity(len(row)) for row in names]
    metrics = Preordering(groups), Distance(alignments, list(map(len, names)))
    measured = measure(metrics, {UNORDERED: [monotone], PREDICTED: [predicted]})
    curves = grouped_curves("length", by_fitting_length(list(map(len, names))), measured, seed)
    orders = evaluation(*(measured[0].systems[order][0] for order in (PREDICTED, UNORDERED)))
    tau = orders.monotone.tau
    share = (orders.tau - tau) / (1 - tau) if tau < 1 else 0.0
    moved = [np.concatenate(metrics[1].distances(one)) for one in (monotone, predicted)]
    linked = [row[i] for row, indices in zip(names, metrics[1].linked, strict=True) for i in indices.tolist()]
    by_word: dict[str, list[list[int]]] = defaultdict(list)
    for word, *distances in zip(linked, *moved, strict=True):
        by_word[word].append(distances)
    most_left = sorted(by_word.items(), key=lambda item: (-sum(after for _, after in item[1]), item[0]))
    words = [
        {"word": word, "count": len(both), **dict(zip(ORDERED, np.mean(both, 0).tolist(), strict=True))}
        for word, both in most_left[:MOST_WORDS]
    ]
    before, after = (float(one.sum() / max(1, len(linked))) for one in moved)
    scores = {name: getattr(orders, name) for name in asdict(orders.monotone)}
    found = {
        "sentences": orders.sentences,
        "skipped": orders.skipped,
        UNORDERED: asdict(orders.monotone) | {"distance": before},
        PREDICTED: scores | {"distance": after},
        "share_of_the_way": share,
        "monotone": orders.monotone.complete_match,
        "by_length": asdict(curves),
        "words": words,
    }
    return found, curves


def pair_tables(found: Mapping[str, Any]) -> list[Table]:
    """Return the tables of what :func:`diagnose_pair` found: orders, then words."""
    tau = SCORE_FORMATS["tau"].format
    columns = ("order", "tau", "tau_nakagawa", "sentences in order", "distance (tokens)")
    forms = {"tau": tau, "tau_nakagawa": tau, "complete_match": "{:.1%}".format, "distance": "{:.2f}".format}
    rows = tuple(
        (name, *(form(found[name][key]) for key, form in forms.items())) for name in (UNORDERED, PREDICTED)
    )
    note = (
        f"A quick preorderer goes {found['share_of_the_way']:.0%} of the way to the order of the links.\n"
        "Links of a few thousand lines make tau too high and the share too low."
    )
    caption = f"Order of {found['sentences']} sentences that the preorderer has not seen"
    words = tuple(
        (one["word"], str(one["count"]), f"{one[UNORDERED]:.2f}", f"{one[PREDICTED]:.2f}")
        for one in found["words"]
    )
    heads = ("word", "linked", UNORDERED, PREDICTED)
    return [
        Table(caption, columns, rows, note),
        Table("Where most distance is left (mean tokens from the gold position)", heads, words),
    ]


def diagnose_translations(
    references: Sequence[Text], systems: Systems, options: MetricOptions, seed: int = 1
) -> tuple[dict[str, Any], Curves]:
    """Score translations as they are, in the best order of their words, and in the best BTG order.

    Words are the tokens of BLEU's tokenizer, for each metric.
    Returns the JSON of ``preorder diagnose``, of each system, and curves by length.
    """
    tokenize = tokenizer(options.tokenize)
    options = MetricOptions("none", options.case_sensitive)
    references = [list(map(tokenize, reference)) for reference in references]
    every: dict[str, list[Text]] = {}
    for name, texts in systems.items():
        runs: list[Text] = [list(map(tokenize, text)) for text in texts]
        every[name] = runs
        reordered = zip(*(reorder_translations(run, references) for run in runs), strict=True)
        for title, orders in zip(ORDERS.values(), reordered, strict=True):
            if (ordered := f"{name}, {title}") in systems:
                raise UsageError(f"{ordered}: what a table calls {name} in another order: rename the system")
            every[ordered] = list(orders)
    measured = measure_translations(references, every, (*HEADROOM_METRICS, "ter"), options)
    drawn_as = {f"{name}, {title}": name for name in systems for title in ORDERS.values()}
    scoring = score_systems(measured, None, seed, drawn_as)
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
    forms = {metric: SCORE_FORMATS[metric].format for metric in HEADROOM_METRICS}
    rows = []
    for name, system in found.items():
        for title, scores in ((name, system), *((f"{name}, {ORDERS[key]}", system[key]) for key in ORDERS)):
            bounds = scores["interval"]
            cells = [estimate_cell(Estimate(scores[key], bounds[key]), form) for key, form in forms.items()]
            gain = scores["gain"]["bleu"] if "gain" in scores else None
            gained = Estimate(gain["difference"], gain["interval"]) if gain else None
            rows.append((title, *cells, estimate_cell(gained, "{:+.2f}".format)))
    columns = ("translations", *(SCORE_FORMATS[metric].title for metric in HEADROOM_METRICS), "BLEU gained")
    note = "The words stay as they are; what is gained estimates what a better order could gain."
    left = tuple((name, *map("{:.2f}".format, system["words"].values())) for name, system in found.items())
    heads = ("in the best order", *(key.replace("_", " ") for key in WORDS_LEFT))
    return [
        Table("Order headroom, with 95% intervals", columns, tuple(rows), note),
        Table("What is left: words a sentence", heads, left),
    ]


def reorder_translations(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]]
) -> tuple[list[str], list[str]]:
    """Return each hypothesis in its best order, and in its best BTG order. O(m³) for m words.

    Of several references the one with most matching words counts.
    """
    best: list[str] = []
    best_btg: list[str] = []
    for hypothesis, *others in zip(hypotheses, *references, strict=True):
        words = hypothesis.split()
        matches = max((match(words, other.split()) for other in others), key=lambda found: (found >= 0).sum())
        for lines, order in ((best, best_order(matches)), (best_btg, best_btg_order(matches))):
            lines.append(" ".join(words[index] for index in order))
    return best, best_btg


def match(hypothesis: Sequence[str], reference: Sequence[str]) -> np.ndarray:
    """Return for each word of a hypothesis the index of its partner in the reference, or -1.

    There are as many pairs of equal words as there can be. Pairs in the longest common context are
    chosen first, then those that cross the fewest chosen ones.
    """
    numbers: dict[str, int] = {}
    encoded = [
        np.array([numbers.setdefault(word, len(numbers)) for word in words], np.int64)
        for words in (hypothesis, reference)
    ]
    return _match(*encoded)


def best_order(matches: np.ndarray) -> np.ndarray:
    """Return the indices of a hypothesis's words in their best order, given what :func:`match` returns.

    A word without a partner stays behind the word that precedes it; before all at the beginning.
    """
    return np.argsort(_ranks(matches), kind="stable")


def best_btg_order(matches: np.ndarray) -> np.ndarray:
    """Return the indices by the BTG tree with most pairs in order; of over ``LONGEST`` words as they are."""
    ranks = _ranks(matches)
    heads = np.flatnonzero((matches >= 0) | (np.arange(len(matches)) == 0))
    if not 2 <= len(heads) <= LONGEST:
        return np.arange(len(matches))
    of_heads = ranks[heads]
    gains = np.triu(np.sign(of_heads[None, :] - of_heads[:, None]), 1).astype(np.float32)
    sums = np.pad(gains.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    straight = np.stack((sums - np.diag(sums), sums, -sums))  # FIRST, SECOND, WHOLE, as in chart.py
    trees = best_trees(np.stack((straight, -straight), 1)[None])
    positions = all_positions(trees, len(heads))
    units = np.split(np.arange(len(matches)), heads[1:])
    return np.concatenate([units[index] for index in np.argsort(positions[0])])


def _ranks(matches: np.ndarray) -> np.ndarray:
    """Return the index of each word's partner, or of the partner of the word before; -1 before all."""
    last = np.maximum.accumulate(np.where(matches >= 0, np.arange(len(matches)), -1))
    return np.where(last >= 0, matches[last], -1)


@entry_point
def _match(hypothesis: np.ndarray, reference: np.ndarray) -> np.ndarray:
    m, n = len(hypothesis), len(reference)
    context = np.zeros((m + 2, n + 2), np.int64)  # [i + 1, j + 1]: of the pair i, j; 0: other words
    for i in range(m):
        for j in range(n):
            if hypothesis[i] == reference[j]:
                context[i + 1, j + 1] = context[i, j] + 1
    for i in range(m, 0, -1):  # a run of pairs has the length that it has at its end
        for j in range(n, 0, -1):
            if context[i, j] > 0 and context[i + 1, j + 1] > context[i, j]:
                context[i, j] = context[i + 1, j + 1]
    crossings = np.zeros((m, n), np.int64)
    partners = np.full(m, -1)
    while True:
        chosen, best = (-1, -1), (0, 0, 0)
        for i in range(m):
            for j in range(n):
                if context[i + 1, j + 1] > 0:
                    value = (context[i + 1, j + 1], -crossings[i, j], -abs(i * n - j * m))
                    if chosen[0] < 0 or value > best:
                        chosen, best = (i, j), value
        if chosen[0] < 0:
            return partners
        row, column = chosen
        partners[row] = column
        context[row + 1, :] = 0
        context[:, column + 1] = 0
        for i in range(m):
            for j in range(n):
                crossings[i, j] += (i < row) == (j > column)
