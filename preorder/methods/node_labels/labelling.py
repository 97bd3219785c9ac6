"""What all preorderers have in common that label the nodes of given trees: from labels to orders."""

from __future__ import annotations

import heapq
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from preorder.alignment.unaligned import UnalignedTokens
from preorder.btg.results import binary_trees, permutations
from preorder.data.errors import UsageError
from preorder.data.trees import Binarisation
from preorder.data.types import BinaryTree, Bitext, Permutation, Sentence
from preorder.methods.node_labels.forest import Forest, forest, labelled, positions
from preorder.methods.node_labels.oracle import allowed, best_labels, count_pairs, flat_keys

T = TypeVar("T")

KINDS = ("constituency", "dependency")
"""Kinds of syntax trees, by the names of the attributes of a :class:`Sentence`."""

LAYERS = ("words", "tags", "classes")
"""Layers of a sentence that tell a node by its tokens; a sentence has the first two at least."""


class TreeLabeller(ABC):
    """Order sentences by labelling each node of their trees by itself."""

    def __init__(self, kind: str, binarisation: Binarisation, channels: Sequence[str]) -> None:
        """Say of which of the ``KINDS`` the trees are, how they are made binary, and what layers are read."""
        self.kind = kind
        self.binarisation = binarisation
        self.channels = tuple(channels)

    @property
    def layers(self) -> frozenset[str]:
        """Names of the layers of a :class:`Sentence` that it reads beside the words."""
        return frozenset({"tags", self.kind, *self.channels}) - {"words"}

    @abstractmethod
    def log_odds(self, sentences: Sequence[Sentence], trees: Forest, threads: int) -> np.ndarray:
        """Return for each of ``trees.rows`` how much rather it is inverted: float32 ``[nodes]``."""

    def order(self, sentences: Sequence[Sentence], threads: int = 1) -> list[Permutation]:
        """Return the reordering of each sentence."""
        trees = forest(sentences, self.binarisation)
        return permutations(positions(trees, self.log_odds(sentences, trees, threads) > 0), sentences)

    def trees(self, sentences: Sequence[Sentence], threads: int = 1) -> list[BinaryTree]:
        """Return the tree behind each reordering."""
        trees = forest(sentences, self.binarisation)
        return binary_trees(labelled(trees, self.log_odds(sentences, trees, threads) > 0), sentences)

    def best_orders(
        self, sentences: Sequence[Sentence], k: int, threads: int = 1
    ) -> list[list[tuple[float, Permutation]]]:
        """Return the likeliest reorderings of each sentence with the logs of their probabilities."""
        return self._ranked(sentences, k, threads, lambda t, x, s: permutations(positions(t, x), s))

    def best_trees(
        self, sentences: Sequence[Sentence], k: int, threads: int = 1
    ) -> list[list[tuple[float, BinaryTree]]]:
        """Return the trees behind the :meth:`best_orders`."""
        return self._ranked(sentences, k, threads, lambda t, x, s: binary_trees(labelled(t, x), s))

    def _ranked(
        self,
        sentences: Sequence[Sentence],
        most: int,
        threads: int,
        read: Callable[[Forest, np.ndarray, Sequence[Sentence]], list[T]],
    ) -> list[list[tuple[float, T]]]:
        """Return what is read off each sentence's best labels; those of one tree give as many orders."""
        odds = self.log_odds(sentences, forest(sentences, self.binarisation), threads)
        ends = np.cumsum([max(0, len(sentence) - 1) for sentence in sentences], dtype=np.int64)
        scored = [list(_best_labels(part, most)) for part in np.split(odds, ends[:-1])]
        copies = [sentence for sentence, best in zip(sentences, scored, strict=False) for _ in best]
        labels = [labels for best in scored for _, labels in best]
        items = iter(read(forest(copies, self.binarisation), np.concatenate(labels), copies))
        return [[(score, next(items)) for score, _ in best] for best in scored[: len(sentences)]]


def _best_labels(odds: np.ndarray, most: int) -> Iterator[tuple[float, np.ndarray]]:
    """Yield the likeliest labels of a tree's nodes with the logs of their probabilities, the best first.

    Each is the best one with some nodes changed, and costs what these cost. Nodes are sorted by cost: a
    change whose dearest node is k is followed by those with k + 1 as well as k, and instead of k.
    O(most · n).
    """
    odds = odds.astype(np.float64)
    best = odds > 0
    costs = np.abs(odds)
    total = -float(np.log1p(np.exp(-costs)).sum())
    order = np.argsort(costs, kind="stable").tolist()
    waiting: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    while waiting and most:
        cost, changed = heapq.heappop(waiting)
        labels = best.copy()
        nodes = [order[k] for k in changed]
        labels[nodes] = ~labels[nodes]
        yield total - cost, labels
        most -= 1
        following = changed[-1] + 1 if changed else 0
        if following < len(order):
            further = float(costs[order[following]])
            heapq.heappush(waiting, (cost + further, (*changed, following)))
            if changed:
                last = float(costs[order[changed[-1]]])
                heapq.heappush(waiting, (cost + further - last, (*changed[:-1], following)))


def kind_of(sentences: Sequence[Sentence]) -> str:
    """Return the kind of the trees of sentences to learn from.

    Raises:
        UsageError: a sentence has no tree, or no tags, or trees are of both kinds.
    """
    kinds = [kind for kind in KINDS if any(getattr(sentence, kind) is not None for sentence in sentences)]
    if not kinds or any(sentence.tree is None for sentence in sentences):
        raise UsageError("the method needs syntax trees (--trees), and none are given")
    if len(kinds) > 1:
        raise UsageError("constituency and dependency trees are mixed")
    if any(sentence.tags is None for sentence in sentences):
        raise UsageError("the method needs POS tags (--pos), and none are given")
    return kinds[0]


@dataclass(frozen=True)
class Lesson:
    """What sentences with trees and alignments teach.

    Attributes:
        sentences: those to learn from.
        trees: theirs, of ``kind``, binary.
        kind: one of the ``KINDS``.
        channels: the ``LAYERS`` that all sentences have, held-out ones too.
        counts: the pairs of :func:`.oracle.count_pairs`, of each of ``trees.rows``.
        figures: for ``model.json``: ``nodes`` that count, how many of them are ``inverted``, and the
            tau_nakagawa that the trees allow, over ``allowed_aligned`` and ``allowed_all`` tokens.
    """

    sentences: Sequence[Sentence]
    trees: Forest
    kind: str
    channels: list[str]
    counts: np.ndarray
    figures: dict[str, float]


def lesson(bitext: Bitext, held_out: Bitext, how: Binarisation, unaligned: UnalignedTokens) -> Lesson:
    """Find out what to learn, and say on standard error how good an order the trees allow.

    Raises:
        DataError: a link is out of range.
        UsageError: trees or tags are missing, or no node has an aligned token in both of its children.
    """
    lines = (*bitext.sentences, *held_out.sentences)
    kind = kind_of(lines)
    channels = [name for name in LAYERS if all(getattr(line, name) is not None for line in lines)]
    trees = forest(bitext.sentences, how)
    counts = count_pairs(trees, flat_keys(bitext, unaligned))
    if not counts.any():
        raise UsageError("no node of the trees has an aligned token in both of its children")
    aligned, everything = allowed(trees, bitext)
    print(
        f"the best order that the trees allow has a tau_nakagawa of {aligned:.4f} over aligned tokens, "
        f"{everything:.4f} over all",
        file=sys.stderr,
    )
    figures = {
        "nodes": int(counts.any(axis=1).sum()),
        "inverted": int(best_labels(counts).sum()),
        "allowed_aligned": aligned,
        "allowed_all": everything,
    }
    return Lesson(bitext.sentences, trees, kind, channels, counts, figures)
