"""The best trees by the scores of a network.

Equally long sentences are scored together and searched one by one, by the compiled search of
:mod:`preorder.btg.viterbi`. Up to ``EXACT`` tokens the tree is the best of all: that whose order can be
expected to agree best, see :mod:`preorder.btg.risk`. A longer sentence is cut
into parts of at most that many tokens, which stay in the source's order: of the first ``EXACT`` tokens of
what is left, in the latter half, where a straight node over them most prefers to split.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from preorder.btg.inside import FIRST, SECOND, WHOLE
from preorder.btg.nbest import NBest, best_orders, join_best, no_orders, of_sentence, room_for
from preorder.btg.risk import agreement
from preorder.btg.vector import BLOCK
from preorder.btg.viterbi import NODE_FIELDS, best_tree, positions_of
from preorder.compiled import entry_point, inner
from preorder.learning import backend
from preorder.learning.backend import device, torch
from preorder.methods.neural.network import Scorer
from preorder.methods.perceptron.fast.scores import LANES, Scores
from preorder.methods.perceptron.features import CONTEXTS, LABELS, ROOT
from preorder.methods.perceptron.parse import EXACT, context_of, join

PLACES = 1 << 16
"""Pairs of places that are scored at a time, at most, unless one sentence has more."""


class Input(NamedTuple):
    """Sentences, one after another.

    Attributes:
        tokens: int64 ``[channels, tokens]``, rows of the vocabulary.
        lengths: int64, of the sentences.
        advice: int32 ``[tokens]``, positions that another preorderer gives, or None.
    """

    tokens: np.ndarray
    lengths: np.ndarray
    advice: np.ndarray | None = None

    def at(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return tokens and advice of equally long sentences, by the places of their tokens."""
        return self.tokens[:, places], None if self.advice is None else self.advice[places]


def parse(scorer: Scorer, given: Input, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the trees and positions of a batch, one sentence after another.

    The nodes, int32 ``[tokens, NODE_FIELDS]``, take n - 1 rows of the n of a sentence of n
    tokens, parents before children; the positions, int32 ``[tokens]``, all of them. The network takes
    O(n) large products and O(n²) small ones a sentence of n tokens, the search O(n³) additions;
    beyond ``EXACT`` all is linear in the length.

    Args:
        scorer: in evaluation mode, on :func:`device`.
        given: what to parse.
        threads: minibatches solved at a time.
    """
    lengths, count = given.lengths, given.tokens.shape[1]
    nodes = np.empty((count, NODE_FIELDS), np.int32)
    positions = np.empty(count, np.int32)
    starts = np.cumsum(lengths) - lengths

    def run(minibatch: np.ndarray) -> None:
        n = int(lengths[minibatch[0]])
        places = starts[minibatch, None] + np.arange(n)
        trees = nodes[places]
        if n > EXACT:
            trees[0, :-1] = _tree_in_parts(_parts(scorer, *given.at(places)), n)
        else:
            best_trees(_agreement(scorer, *given.at(places)), trees)
        order = np.empty(places.shape, np.int32)
        all_positions(trees, order)
        nodes[places], positions[places] = trees, order

    # A minibatch to a thread: what comes out does not depend on how many there are.
    with backend.threads(1), ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, _minibatches(lengths)))
    return nodes, positions


def nbest(scorer: Scorer, given: Input, most: int, threads: int) -> NBest:
    """Return the ``most`` best orders of each sentence, by the agreement that can be expected of them.

    Arguments and costs are those of :func:`parse`.
    """
    lengths = given.lengths
    best = room_for(lengths, most)
    starts = np.cumsum(lengths) - lengths

    def run(minibatch: np.ndarray) -> None:
        n = int(lengths[minibatch[0]])
        places = starts[minibatch, None] + np.arange(n)
        if n > EXACT:
            _orders_in_parts(_parts(scorer, *given.at(places)), n, best, minibatch[0])
        else:
            orders_of_minibatch(_agreement(scorer, *given.at(places)), best, minibatch)

    with backend.threads(1), ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, _minibatches(lengths)))
    return best


def _minibatches(lengths: np.ndarray) -> Iterator[np.ndarray]:
    """Yield minibatches of equally long sentences, the longest first, so that threads end together."""
    for n in np.unique(lengths[lengths > 0])[::-1].tolist():
        size = 1 if n > EXACT else max(1, PLACES // (n + 1) ** 2)
        sentences = np.flatnonzero(lengths == n)
        yield from np.split(sentences, range(size, sentences.size, size))


def _agreement(scorer: Scorer, tokens: np.ndarray, advice: np.ndarray | None) -> np.ndarray:
    """Return the parts by which to search equally long sentences: see :func:`agreement`."""
    with torch.inference_mode():
        return _searched(scorer(torch.from_numpy(tokens).to(device())), advice)


def _searched(parts: torch.Tensor, advice: np.ndarray | None) -> np.ndarray:
    positions = None if advice is None else torch.from_numpy(advice).to(parts.device)
    return agreement(parts, positions).contiguous().cpu().numpy()


Parts = Iterator[tuple[int, int, np.ndarray]]
"""Begin and end of the parts that a long sentence is cut into, and by what to search them."""


def _tree_in_parts(parts_of_sentence: Parts, n: int) -> np.ndarray:
    """Return the nodes of a sentence of more than ``EXACT`` tokens."""
    nodes = np.empty((n - 1, NODE_FIELDS), np.int32)
    for begin, end, parts in parts_of_sentence:
        count = begin + join(nodes, begin, begin, end, n)
        part = nodes[count : count + end - begin - 1]
        if end - begin > 1:
            best_part(parts, context_of(begin, end, n), part)
            part[:, :3] += begin
    return nodes


def _orders_in_parts(parts_of_sentence: Parts, n: int, best: NBest, sentence: int) -> None:
    """Find the best orders of a sentence of more than ``EXACT`` tokens."""
    known = 1
    trees, totals, positions = of_sentence(best, sentence, n)
    for begin, end, parts in parts_of_sentence:
        part, scores, found = no_orders(end - begin, totals.size)
        if end - begin > 1:
            found = best_part_orders(parts, context_of(begin, end, n), part, scores)
        known = join_best(trees, totals, known, part, scores, found, begin)
    all_positions(trees, positions)


def _parts(scorer: Scorer, tokens: np.ndarray, advice: np.ndarray | None) -> Parts:
    """Cut a sentence of more than ``EXACT`` tokens."""
    begin, n = 0, tokens.shape[2]
    while begin < n:
        size = n - begin
        with torch.inference_mode():
            parts = scorer(torch.from_numpy(tokens[:, :, begin : begin + EXACT]).to(device()))
            if size > EXACT:
                straight, inverted = (parts[0, FIRST, :, 0] + parts[0, SECOND, :, :, -1]).cpu().numpy()
                size = EXACT // 2 + 1 + int((straight - inverted)[EXACT // 2 + 1 : EXACT].argmax())
            advised = None if advice is None else advice[:, begin : begin + size]
            searched = _searched(parts[..., : size + 1, : size + 1], advised)[0]
        yield begin, begin + size, searched
        begin += size


@entry_point
def best_trees(parts, nodes):
    """Find the best tree of each sentence of a minibatch. O(n³) a sentence.

    Args:
        parts: float32 ``[batch, PARTS, LABELS, n + 1, n + 1]``; see :mod:`preorder.btg.inside`.
        nodes: int32 ``[batch, n, NODE_FIELDS]``; n - 1 rows are filled: parents before children.
    """
    n = parts.shape[-1] - 1
    scores = no_scores(n)
    for sentence in range(parts.shape[0] if n > 1 else 0):
        set_scores(parts[sentence], n, scores)
        best_tree(scores, n, ROOT, nodes[sentence, : n - 1])


@entry_point
def best_part(parts, context, nodes):
    """Find the best tree of a part of a sentence; ``parts`` are of its n tokens, of two at least."""
    n = parts.shape[-1] - 1
    scores = no_scores(n)
    set_scores(parts, n, scores)
    best_tree(scores, n, context, nodes)


@entry_point
def orders_of_minibatch(parts, best, sentences):
    """Find the best orders of equally long sentences; ``parts`` as in :func:`best_trees`."""
    n = parts.shape[-1] - 1
    scores = no_scores(n)
    for i, sentence in enumerate(sentences):
        trees, totals, positions = of_sentence(best, sentence, n)
        if n > 1:
            set_scores(parts[i], n, scores)
            best_orders(scores, n, ROOT, trees, totals)
        for k in range(totals.size):
            positions_of(trees[k], positions[k])


@entry_point
def best_part_orders(parts, context, trees, totals):
    """Find the best orders of a part of a sentence, of two tokens at least; return how many there are."""
    n = parts.shape[-1] - 1
    scores = no_scores(n)
    set_scores(parts, n, scores)
    return best_orders(scores, n, context, trees, totals)


@inner
def no_scores(n):
    """Return room for the scores of n tokens; what a network never scores is zero."""
    return Scores(
        np.zeros((LABELS, n * (n - 1) * (n + 1) // 6 + BLOCK), np.float32),
        np.empty((LABELS, n + 1, n + 1), np.float32),
        np.empty((n + 1, n + 1, LABELS), np.float32),
        np.empty((n + 1, n + 1, LANES), np.float32),
        np.zeros((n + 1, LANES), np.float32),
        np.empty((0, 0, 0), np.uint8),
    )


@inner
def set_scores(parts, n, scores):
    """Write the parts of a sentence where the search looks for them."""
    for label in range(LABELS):
        for b in range(n):
            for e in range(b + 1, n + 1):
                scores.left[label, e, b] = parts[FIRST, label, b, e]
                scores.right[e, b, label] = parts[SECOND, label, b, e]
                for context in range(CONTEXTS):
                    scores.span[b, e, context * LABELS + label] = parts[WHOLE, label, b, e]


@entry_point
def all_positions(nodes, positions):
    """Write where each token goes, ``positions[tree, i]``; ``nodes`` may have more rows than the trees."""
    for tree in range(nodes.shape[0]):
        positions_of(nodes[tree, : positions.shape[1] - 1], positions[tree])
