"""The best distinct orders of a sentence, exactly and lazily (Huang and Chiang 2005, algorithm 3).

An *item* is a span in a context; its *entries* are its distinct orders, best first, found only when someone
asks for the next; its *candidates* wait in a heap, each a split, a label, and an entry of either
child. Many trees give one order, and the best of them comes first; those that follow are dropped. An
order that is not among the k best of its item cannot be part of the k best of the whole, as those k in
its place would be better and as distinct.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from preorder.btg.grammar import INVERTED, LABELS, LEFT, NODE_FIELDS, RIGHT
from preorder.btg.scores import Scores, allocate_scores, check_finite, node_index, set_parts
from preorder.btg.viterbi import best_scores
from preorder.compiled import entry_point


class ScoredTree(NamedTuple):
    """A tree of n tokens, int32 ``[n - 1, NODE_FIELDS]``, and its score, float32."""

    score: np.float32
    nodes: np.ndarray


def kbest(scores: Scores, n: int, root: int, k: int) -> list[ScoredTree]:
    """Return the best trees of the k best orders of a sentence, best first; fewer where there are fewer.

    The first is :func:`preorder.btg.viterbi.best_tree`'s, score and all. Some 25 µs a token and order.

    Args:
        scores: of all nodes.
        n: tokens, at least 1.
        root: context of the whole, ROOT but for a piece of a longer sentence.
        k: how many, at least 1.
    """
    whole = _Items(scores, *_best_scores(scores, n)).item(0, n, root)
    entries = (whole.entry(i) for i in range(k))
    return [ScoredTree(entry.score, _nodes(entry)) for entry in entries if entry is not None]


def kbest_of_parts(parts: np.ndarray, root: int, k: int) -> list[ScoredTree]:
    """Return the same by the parts of the sentence, float32 ``[PARTS, LABELS, n + 1, n + 1]``.

    Raises:
        NotFiniteError: a score is infinite or no number.
    """
    check_finite(parts)
    return kbest(_scores(parts), parts.shape[-1] - 1, root, k)


@entry_point
def _scores(parts):
    scores = allocate_scores(parts.shape[-1] - 1)
    set_parts(parts, scores)
    return scores


@entry_point
def _best_scores(scores, n):
    return best_scores(scores, n)


class _Entry(NamedTuple):
    """One order of an item."""

    score: np.float32  # of the best tree that gives it, rounded as in the search for the best tree
    loss: np.float32  # how much more it is than that of the item's best order: zero, or less
    order: tuple[int, ...]  # the tokens
    node: tuple[int, ...] = ()  # begin, split, end, label, context; of a single token nothing
    children: tuple[_Entry, ...] = ()  # left, right


_Candidate = tuple[float, int, float, int, int, int, int]
"""Negative score, age, score with the best entries of both children, split, label, ranks of the children."""


class _Items:
    """The items of a sentence."""

    def __init__(self, scores: Scores, left: np.ndarray, right: np.ndarray) -> None:
        self._scores, self._left, self._right = scores, left, right
        self._items: dict[tuple[int, int, int], _Item] = {}

    def item(self, begin: int, end: int, context: int) -> _Item:
        key = begin, end, context
        if key not in self._items:
            self._items[key] = _Item(self, *key)
        return self._items[key]

    def candidates(self, begin: int, end: int, context: int) -> list[_Candidate]:
        """Return a candidate for each label and split, with the best entries of both children."""
        splits, lanes = slice(begin + 1, end), slice(context * LABELS, (context + 1) * LABELS)
        nodes = node_index.py_func(np.arange(begin + 1, end), end) + begin
        # Summed as the search for the best tree does it, so that the first is the very same tree.
        scores = self._scores.node[:, nodes] + self._left[:, splits, begin] + self._right[end, splits].T
        scores = scores + self._scores.pivot[splits, lanes].T + self._scores.span[begin, end, lanes, None]
        count = end - begin - 1
        return [
            (-score, age, score, begin + 1 + age % count, age // count, 0, 0)
            for age, score in enumerate(scores.ravel().tolist())
        ]


class _Item:
    """The distinct orders of a span in a context, best first."""

    def __init__(self, items: _Items, begin: int, end: int, context: int) -> None:
        self._items, self._span = items, (begin, end, context)
        self._entries: list[_Entry] = []
        self._orders: set[tuple[int, ...]] = set()
        self._candidates: list[_Candidate] = []
        self._taken: _Candidate | None = None  # the last one; its successors are no candidates yet
        if end - begin == 1:
            self._entries.append(_Entry(np.float32(0), np.float32(0), (begin,)))
        else:
            self._candidates = items.candidates(begin, end, context)
            heapq.heapify(self._candidates)
        self._age = len(self._candidates)

    def entry(self, rank: int) -> _Entry | None:
        """Return the entry of a rank, from 0, if there are so many; it calls itself to the tree's depth."""
        while len(self._entries) <= rank:
            if self._taken is not None:
                *_, i, j = self._taken
                self._add_candidate(i, j + 1)
                if j == 0:  # else the other way leads here, too
                    self._add_candidate(i + 1, j)
                self._taken = None
            if not self._candidates:
                return None
            self._taken = heapq.heappop(self._candidates)
            negative, _, _, split, label, i, j = self._taken
            left, right = self._children(split, label)
            self._append(np.float32(-negative), split, label, left.entry(i), right.entry(j))
        return self._entries[rank]

    def _add_candidate(self, i: int, j: int) -> None:
        """Add the one taken last again, with these entries of its children, if there are so many."""
        _, _, best, split, label, _, _ = self._taken
        left, right = self._children(split, label)
        one, other = left.entry(i), right.entry(j)
        if one is not None and other is not None:
            score = float(np.float32(best) + one.loss + other.loss)
            heapq.heappush(self._candidates, (-score, self._age, best, split, label, i, j))
            self._age += 1

    def _children(self, split: int, label: int) -> tuple[_Item, _Item]:
        begin, end, _ = self._span
        item = self._items.item
        return item(begin, split, label * 2 + LEFT), item(split, end, label * 2 + RIGHT)

    def _append(self, score: np.float32, split: int, label: int, one: _Entry, other: _Entry) -> None:
        """Add an entry, if its order is new."""
        order = other.order + one.order if label == INVERTED else one.order + other.order
        if order in self._orders:
            return
        self._orders.add(order)
        begin, end, context = self._span
        best = self._entries[0].score if self._entries else score
        node = (begin, split, end, label, context)
        self._entries.append(_Entry(score, score - best, order, node, (one, other)))


def _nodes(whole: _Entry) -> np.ndarray:
    """Return the nodes of an entry's tree, parents before children."""
    nodes, waiting = [], [whole]
    while waiting:
        entry = waiting.pop()
        if entry.node:
            nodes.append(entry.node)
            waiting += reversed(entry.children)
    return np.array(nodes, np.int32).reshape(-1, NODE_FIELDS)
