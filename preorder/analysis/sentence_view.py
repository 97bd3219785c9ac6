"""Views of sentences as text and as JSON: orders and links before and after preordering."""

from __future__ import annotations

import heapq
import itertools
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from statistics import fmean
from typing import Any, NamedTuple, TypeVar

from rich.cells import cell_len

from preorder.alignment.gold import target_groups
from preorder.analysis.results import SCORE_FORMATS, Table
from preorder.data import Alignment, BinaryTree, Permutation, formats
from preorder.errors import DataError
from preorder.metrics.confidence import OrderConfidence
from preorder.metrics.orders import TAU_NAKAGAWA, sentence_scores


@dataclass(frozen=True)
class SentenceView:
    """A source sentence in its own order and in another, with what else is known of it."""

    words: tuple[str, ...]
    permutation: Permutation  # the other order
    tree: BinaryTree | None = None  # of straight and inverted nodes
    target: tuple[str, ...] | None = None
    alignment: Alignment | None = None
    confidence: OrderConfidence | None = None  # of the other order, by its model

    def __post_init__(self) -> None:
        if len(self.permutation) != len(self.words):
            raise DataError(f"positions of {len(self.permutation)} tokens for {len(self.words)} words")
        if self.alignment is not None:
            if self.target is None:
                raise DataError("an alignment links the source to a target, and none is given")
            self.alignment.check_within(len(self.words), len(self.target))

    @property
    def links(self) -> list[tuple[int, int]]:
        """The links, possible ones too, sorted."""
        if self.alignment is None:
            return []
        return sorted(self.alignment.links | self.alignment.possible)


def crossings(links: Iterable[tuple[int, int]]) -> int:
    """Count the pairs of links that cross. O(links²)."""
    return sum((i - k) * (j - m) < 0 for (i, j), (k, m) in itertools.combinations(links, 2))


def both_crossings(view: SentenceView) -> tuple[int, int] | None:
    """Count the crossing links of the source and of the other order; None: there is no alignment."""
    after = crossings((view.permutation.positions[i], j) for i, j in view.links)
    return None if view.alignment is None else (crossings(view.links), after)


BEFORE, AFTER = "as it is written", "preordered"
MEASURE = "tau_nakagawa"


def taus(view: SentenceView) -> tuple[float, float] | None:
    """Return tau_nakagawa, 0 to 1, of the source and of the other order; None: no links can be sorted."""
    groups = None if view.alignment is None else target_groups(view.alignment, len(view.words))
    if groups is None:
        return None
    scores = sentence_scores([groups] * 2, [range(len(groups)), view.permutation.positions])
    before, after = scores[:, TAU_NAKAGAWA].tolist()
    return before, after


def panel_names(view: SentenceView) -> tuple[str, str]:
    """Name the two orders of a sentence and, if it has links, say how these lie in each."""
    crossed = both_crossings(view)
    if crossed is None or not view.links:
        return BEFORE, AFTER
    found = taus(view)
    if found is None:
        measured = [f"no {MEASURE}, since the links cannot be sorted"] * 2
    else:
        measured = [f"{MEASURE} {SCORE_FORMATS[MEASURE].format(tau)}" for tau in found]
    rows = zip((BEFORE, AFTER), crossed, measured, strict=True)
    before, after = (f"{name}: {n} crossing{'s' * (n != 1)} of links, {tau}" for name, n, tau in rows)
    return before, after


def summary(view: SentenceView) -> dict[str, Any]:
    """Return the JSON object of a sentence; what is not known is None."""
    before, after = taus(view) or (None, None)
    crossed, crossed_after = both_crossings(view) or (None, None)
    return {
        "source": list(view.words),
        "preordered": list(view.permutation.apply(view.words)),
        "positions": list(view.permutation.positions),
        "order": list(view.permutation.order),
        "confidence": None if view.confidence is None else view.confidence._asdict(),
        "tree": None if view.tree is None else formats.format_tree(view.words, view.tree),
        "target": None if view.target is None else list(view.target),
        "crossings": crossed,
        "crossings_preordered": crossed_after,
        "tau_nakagawa": before,
        "tau_nakagawa_preordered": after,
    }


SURE, POSSIBLE, NO_LINK = "●", "○", "·"


def text_lines(view: SentenceView) -> Iterator[str]:
    """Yield the sentence in both orders, its tree, and its links as a matrix in both orders."""
    rows = [("source", view.words), ("preordered", view.permutation.apply(view.words))]
    rows.append(("positions", tuple(map(str, view.permutation.positions))))
    if view.confidence is not None:
        tau, tokens = view.confidence
        rows.append(("E[tau]", (f"{tau:.2f}; of each token", *(f"{one:.2f}" for one in tokens))))
    if view.target is not None:
        rows.append(("target", view.target))
    for name, words in rows:
        yield f"{name:<11} {' '.join(words)}"
    if view.tree is not None and view.tree.nodes:
        yield from ("", *_tree(view.words, view.tree))
    links = view.alignment
    if links is not None and view.links:
        targets = range(len(view.target or ()))
        marks = dict.fromkeys(links.possible, POSSIBLE) | dict.fromkeys(links.links, SURE)
        orders = range(len(view.words)), view.permutation.order
        for name, order in zip(panel_names(view), orders, strict=True):
            matrix = [[marks.get((i, j), NO_LINK) for j in targets] for i in order]
            labels = [view.words[i] for i in order]
            yield from ("", f"{name}; target tokens across", *_matrix(labels, matrix, len(targets)))


def _tree(words: Sequence[str], tree: BinaryTree) -> Iterator[str]:
    """Yield a line for each node, parents before their children."""
    splits = {(node.begin, node.end): node for node in tree.nodes}
    stack = [(0, tree.length, "", "")]  # a span, what stands before it, and before what is below it
    while stack:
        begin, end, before, below = stack.pop()
        if end - begin == 1:
            yield before + words[begin]
            continue
        node = splits[begin, end]
        yield before + ("inverted" if node.inverted else "straight")
        stack.append((node.split, end, below + "└─ ", below + "   "))
        stack.append((begin, node.split, below + "├─ ", below + "│  "))


def _matrix(names: Sequence[str], rows: Sequence[Sequence[str]], columns: int) -> Iterator[str]:
    """Yield the last digits of the columns' numbers, and a line for each row, its name before it."""
    width = max(map(cell_len, names), default=0)
    yield " " * (width + 2) + "".join(str(column % 10) for column in range(columns))
    for name, cells in zip(names, rows, strict=True):
        yield name + " " * (width - cell_len(name) + 2) + "".join(cells)


T = TypeVar("T")


def sample(items: Iterable[T], count: int, seed: int) -> tuple[list[T], int]:
    """Return ``count`` items sampled at random, or all there are, in their order; and the number of all."""
    numbers = random.Random(seed)
    chosen, total = greatest(((-numbers.random(), row) for row in enumerate(items)), count)
    return [item for _, item in sorted(chosen, key=itemgetter(0))], total


def greatest(items: Iterable[tuple[float, T]], count: int) -> tuple[list[T], int]:
    """Return the ``count`` items of the greatest numbers, of equal ones the first; and the number of all."""
    counter = itertools.count()
    chosen = heapq.nsmallest(count, ((-number, next(counter), item) for number, item in items))
    return [item for _, _, item in chosen], next(counter)


class Numbered(NamedTuple):
    """A sentence and its line number, from 1."""

    line: int
    view: SentenceView

    @property
    def title(self) -> str:
        """What stands above the sentence."""
        return f"line {self.line}"


@dataclass(frozen=True)
class Gallery:
    """Sentences, and how they were chosen, in words."""

    chosen: str
    sentences: tuple[Numbered, ...]
    is_single: bool = False  # one sentence, shown without title

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object; of a single sentence, its own."""
        sentences = [{"line": one.line} | summary(one.view) for one in self.sentences]
        if self.is_single:
            return sentences[0]
        return {"kind": "gallery", "chosen": self.chosen, "sentences": sentences}

    def lines(self) -> Iterator[str]:
        """Yield the lines of a text."""
        if self.is_single:
            yield from text_lines(self.sentences[0].view)
            return
        yield self.chosen
        for one in self.sentences:
            yield from ("", one.title, *text_lines(one.view))

    @property
    def drawn(self) -> list[Numbered]:
        """The sentences as pictures show them: of several, those with links have no tree."""
        several = len(self.sentences) > 1
        return [
            one._replace(view=replace(one.view, tree=None)) if several and one.view.links else one
            for one in self.sentences
        ]


def gallery_table(gallery: Gallery) -> Table | None:
    """Return how the links of each sentence lie in both orders; None if no sentence has an alignment."""
    form = SCORE_FORMATS[MEASURE]
    rows, known = [], []
    for line, view in gallery.sentences:
        found, tau = taus(view), ["–"] * 3
        if found is not None:
            known.append(found)
            tau = [*map(form.format, found), form.format_difference(found[1] - found[0])]
        crossed = map(str, both_crossings(view) or ["–"] * 2)
        rows.append((str(line), str(len(view.words)), *crossed, *tau))
    if not known:
        return None
    columns = ("line", "tokens", "crossings before", "crossings after", "tau before", "tau after", "gain")
    before, after = (form.format(fmean(column)) for column in zip(*known, strict=True))
    caption = f"{form.label} and crossings of links, before and after preordering"
    return Table(caption, columns, tuple(rows), f"Means of tau: {before} before, {after} after.")
