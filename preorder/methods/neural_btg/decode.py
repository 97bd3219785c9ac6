"""The best trees by a network: those of the greatest expected agreement (:mod:`preorder.btg.chart`).

A sentence of more than ``EXACT`` tokens is cut into pieces. Each cut lies in the latter half of the next
``EXACT`` tokens, where the scores most prefer a straight split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from preorder.btg.chart import expected_agreement, expected_inversions
from preorder.btg.grammar import NODE_FIELDS
from preorder.btg.nbest import EXACT, ScoredTree, context_of, join_pieces, kbest_of_parts
from preorder.btg.scores import FIRST, SECOND
from preorder.btg.viterbi import all_positions, best_trees
from preorder.learning.network import device, equally_long, one_torch_thread, torch
from preorder.methods.neural_btg.network import Scorer

MAX_PAIRS = 1 << 16  # of boundaries that are scored at a time, unless one sentence has more


class Input(NamedTuple):
    """Sentences, one after another."""

    tokens: np.ndarray  # int64 [channels, tokens], rows of the vocabulary
    lengths: np.ndarray  # int64
    partner: np.ndarray | None = None  # int32 [tokens], positions that the ensemble partner gives


ScorerInput = tuple[Scorer, Input]
"""A network, in evaluation mode, and what it reads of the sentences."""


def parse(members: Sequence[ScorerInput], threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Return trees and positions as :meth:`preorder.methods.base.Preorderer.parse` does.

    An order's expected agreement is the mean over the members. O(n³) additions a sentence of n tokens and
    member, linear beyond ``EXACT``. Each thread solves a minibatch.
    """
    count = members[0][1].tokens.shape[1]
    nodes, positions = np.empty((count, NODE_FIELDS), np.int32), np.zeros(count, np.int32)

    def search(_sentences: np.ndarray, indices: np.ndarray, pieces: Iterator[_Piece]) -> None:
        if indices.shape[1] > EXACT:
            scored = ((b, e, [ScoredTree(np.float32(0), *best_trees(a, root))]) for b, e, root, a in pieces)
            trees = join_pieces(scored, indices.shape[1], 1)[0].nodes[None]  # any score will do
        else:
            ((*_, agreement),) = pieces
            trees = best_trees(agreement)
        nodes[indices[:, :-1]], positions[indices] = trees, all_positions(trees, indices.shape[1])

    _for_all(search, members, threads)
    return nodes, positions


def parse_kbest(members: Sequence[ScorerInput], k: int, threads: int) -> list[list[ScoredTree]]:
    """Return the best trees of each sentence's k best orders, by expected agreement."""
    best = [join_pieces((), 0, k)] * members[0][1].lengths.size  # what sentences without a node have

    def search(sentences: np.ndarray, indices: np.ndarray, pieces: Iterator[_Piece]) -> None:
        found = [(b, e, [kbest_of_parts(one, root, k) for one in batch]) for b, e, root, batch in pieces]
        for i, sentence in enumerate(sentences.tolist()):
            of_sentence = ((begin, end, trees[i]) for begin, end, trees in found)
            best[sentence] = join_pieces(of_sentence, indices.shape[1], k)

    _for_all(search, members, threads)
    return best


def parse_inversions(members: Sequence[ScorerInput], threads: int) -> list[list[np.ndarray]]:
    """Return what :meth:`preorder.methods.base.Preorderer.inversions` does: the mean over the members."""
    found: list[list[np.ndarray]] = [[] for _ in range(members[0][1].lengths.size)]

    def collect(sentences: np.ndarray, _indices: np.ndarray, pieces: Iterator[_Piece]) -> None:
        for *_, inverted in pieces:
            for sentence, one in zip(sentences.tolist(), inverted, strict=True):
                found[sentence].append(one)

    _for_all(collect, members, threads, expected_inversions)
    return found


_Piece = tuple[int, int, int, np.ndarray]
"""Begin, end and context of a piece of equally long sentences, and its measured parts."""

_Measure = Callable[[torch.Tensor, "np.ndarray | None"], np.ndarray]  # by the parts, and an ensemble partner


def _for_all(
    search: Callable[..., None],
    members: Sequence[ScorerInput],
    threads: int,
    measure: _Measure = expected_agreement,
) -> None:
    """Search minibatches (sentences, indices of their tokens, their pieces), the longest sentences first."""
    lengths = members[0][1].lengths
    starts = np.cumsum(lengths) - lengths

    def run(sentences: np.ndarray) -> None:
        indices = starts[sentences, None] + np.arange(lengths[sentences[0]])
        chosen = []
        for scorer, given in members:
            partner = None if given.partner is None else given.partner[indices]
            chosen.append((scorer, torch.from_numpy(given.tokens[:, indices]).to(device()), partner))
        with torch.inference_mode():
            search(sentences, indices, _pieces(chosen, indices.shape[1], measure))

    def size(n: int) -> int:
        return 1 if n > EXACT else max(1, MAX_PAIRS // (n + 1) ** 2)

    # A thread solves whole minibatches: the number of threads changes no result.
    with one_torch_thread(), ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, equally_long(lengths, size)))


def _pieces(
    members: Sequence[tuple[Scorer, torch.Tensor, np.ndarray | None]], n: int, measure: _Measure
) -> Iterator[_Piece]:
    end = 0
    while end < n:
        begin, end = end, n
        scored = [scorer(tokens[:, :, begin : begin + EXACT]) for scorer, tokens, _ in members]
        if n - begin > EXACT:
            sums = sum(parts[0, FIRST, :, 0] + parts[0, SECOND, :, :, -1] for parts in scored)
            straight, inverted = sums.cpu().numpy()
            end = begin + EXACT // 2 + 1 + int((straight - inverted)[EXACT // 2 + 1 : EXACT].argmax())
        size = end - begin + 1
        partners = (None if partner is None else partner[:, begin:end] for *_, partner in members)
        found = [measure(p[..., :size, :size], by) for p, by in zip(scored, partners, strict=True)]
        yield begin, end, context_of(begin, end, n), np.mean(found, 0)
