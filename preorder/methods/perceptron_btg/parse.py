"""Order the sentences of a batch by the best trees of a model.

A sentence that is too long to be parsed exactly is cut (:mod:`preorder.btg.nbest`) where, in the latter half
of the longest possible piece, the model most prefers to keep the order by the tokens next to the cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import TypeVar

import numpy as np

from preorder.btg.grammar import NODE_FIELDS, ROOT_CONTEXT
from preorder.btg.inversions import inversions
from preorder.btg.nbest import EXACT, ScoredTree, context_of, join_pieces, kbest
from preorder.btg.scores import Scores
from preorder.btg.viterbi import all_positions, best_tree, positions_of
from preorder.compiled import entry_point
from preorder.learning.encode import Batch
from preorder.methods.perceptron_btg.scorer import score_boundaries, score_sentence
from preorder.methods.perceptron_btg.table import Tables

T = TypeVar("T")

CHUNKS = 8  # a thread, so that the threads end at about the same time


def parse(tables: Tables, shape: np.ndarray, batch: Batch, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the trees and positions of a batch; O(n³) a sentence, O(EXACT² n) beyond ``EXACT`` tokens."""
    tokens = int(batch.lengths.sum())
    nodes, positions = np.empty((tokens, NODE_FIELDS), np.int32), np.empty(tokens, np.int32)
    run = partial(_parse_sentences, tables, shape, batch, nodes, positions)
    if threads == 1:
        run(0, batch.lengths.size)
    else:
        boundaries = np.linspace(0, batch.lengths.size, threads * CHUNKS + 1).astype(np.int64)
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(run, boundaries[:-1], boundaries[1:]))
    is_long = batch.lengths > EXACT
    if is_long.any():
        first = (np.cumsum(batch.lengths) - batch.lengths)[is_long]
        long = batch._replace(starts=batch.starts[is_long], lengths=batch.lengths[is_long])
        for begin, ((_, tree),) in zip(first, parse_kbest(tables, shape, long, 1, threads), strict=True):
            end = begin + len(tree) + 1
            nodes[begin : end - 1], positions[begin:end] = tree, all_positions(tree[None], end - begin)
    return nodes, positions


def parse_kbest(
    tables: Tables, shape: np.ndarray, batch: Batch, k: int, threads: int
) -> list[list[ScoredTree]]:
    """Return the best trees of each sentence's k best orders; threads do not make the search faster."""

    def search(pieces: Iterator[_Piece], n: int) -> list[ScoredTree]:
        return join_pieces(((b, e, kbest(scores, e - b, root, k)) for b, e, root, scores in pieces), n, k)

    return _for_all(search, tables, shape, batch, threads)


def parse_inversions(
    tables: Tables, shape: np.ndarray, batch: Batch, temperature: float, threads: int
) -> list[list[np.ndarray]]:
    """Return what :meth:`preorder.methods.base.Preorderer.inversions` does, by probabilities of trees."""

    def search(pieces: Iterator[_Piece], _: int) -> list[np.ndarray]:
        return [inversions(scores, end - begin, root, temperature) for begin, end, root, scores in pieces]

    return _for_all(search, tables, shape, batch, threads)


_Piece = tuple[int, int, int, Scores]  # begin, end and context of a piece of a sentence, and its scores


def _for_all(
    search: Callable[[Iterator[_Piece], int], T],
    tables: Tables,
    shape: np.ndarray,
    batch: Batch,
    threads: int,
) -> list[T]:
    """Search each sentence: its pieces, and how many tokens it has."""

    def pieces(tokens: np.ndarray, n: int) -> Iterator[_Piece]:
        for begin, end in pairwise(cuts_of(tables, tokens, n) if n else ()):
            scores, _ = score_sentence(tables, shape, tokens[:, begin : end + 2], end - begin)
            yield begin, end, context_of(begin, end, n), scores

    def run(start: int, n: int) -> T:
        return search(pieces(batch.tokens[:, start - 1 : start + n + 1], n), n)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, batch.starts.tolist(), batch.lengths.tolist()))


@entry_point
def _parse_sentences(tables, shape, batch, nodes, positions, first, last):
    """Parse those of the sentences that are not cut."""
    for sentence in range(first, last):
        n = batch.lengths[sentence]
        if 0 < n <= EXACT:
            start = batch.starts[sentence]
            offset = start - sentence - 1
            tree = nodes[offset : offset + n - 1]
            if n > 1:
                scores, _ = score_sentence(tables, shape, batch.tokens[:, start - 1 : start + n + 1], n)
                best_tree(scores, n, ROOT_CONTEXT, tree)
            positions_of(tree, positions[offset : offset + n])


def cuts_of(tables: Tables, tokens: np.ndarray, n: int) -> list[int]:
    """Return the boundaries between which the pieces of a sentence lie, from 0 to n."""
    cuts = [0]
    if n > EXACT:
        split = score_boundaries(tables, tokens, n)[3]
        preference = split[:, 0] - split[:, 1]
        while n - cuts[-1] > EXACT:
            first, last = cuts[-1] + EXACT // 2 + 1, cuts[-1] + EXACT + 1
            cuts.append(first + int(preference[first:last].argmax()))
    return [*cuts, n]
