"""The best trees by the scores of a network.

Equally long sentences are scored together: the best tree is that whose order can be expected to agree best
(:mod:`preorder.btg.chart`). A sentence too long to be parsed exactly is cut (:mod:`preorder.btg.nbest`): of
the first ``EXACT`` tokens of what is left, in the latter half, where a straight node most prefers to split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from preorder.btg.chart import expected_agreement
from preorder.btg.grammar import NODE_FIELDS, ROOT
from preorder.btg.nbest import EXACT, ScoredTree, context_of, join_pieces, kbest_of_parts
from preorder.btg.scores import FIRST, SECOND
from preorder.btg.viterbi import all_positions, best_trees
from preorder.learning import backend
from preorder.learning.backend import device, torch
from preorder.methods.neural_btg.network import Scorer

MAX_PAIRS = 1 << 16
"""Pairs of boundaries that are scored at a time, at most, unless one sentence has more."""


class Input(NamedTuple):
    """Sentences, one after another."""

    tokens: np.ndarray  # int64 [channels, tokens], rows of the vocabulary
    lengths: np.ndarray  # int64
    partner: np.ndarray | None = None  # int32 [tokens], positions that the ensemble partner gives


def parse(scorer: Scorer, given: Input, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Return trees and positions as :meth:`preorder.methods.base.Preorderer.parse` does.

    The network, in evaluation mode, takes O(n) large products and O(n²) small ones a sentence of n tokens,
    the search O(n³) additions; beyond ``EXACT`` all is linear in the length. Each thread solves a minibatch.
    """
    count = given.tokens.shape[1]
    nodes = np.empty((count, NODE_FIELDS), np.int32)
    positions = np.empty(count, np.int32)

    def search(minibatch: _Minibatch) -> None:
        indices = minibatch.indices
        if indices.shape[1] > EXACT:
            found = (
                (begin, end, [ScoredTree(np.float32(0), best_trees(agreement, root)[0])])  # any score will do
                for begin, end, root, agreement in _pieces(scorer, minibatch)
            )
            trees = join_pieces(found, indices.shape[1], 1)[0].nodes[None]
        else:
            trees = best_trees(expected_agreement(scorer(minibatch.tokens), minibatch.partner))
        order = np.empty(indices.shape, np.int32)
        all_positions(trees, order)
        nodes[indices[:, :-1]], positions[indices] = trees, order

    _for_all(search, given, threads)
    return nodes, positions


def parse_kbest(scorer: Scorer, given: Input, k: int, threads: int) -> list[list[ScoredTree]]:
    """Return the best trees of each sentence's k best orders, by expected agreement."""
    best = [join_pieces((), 0, k)] * given.lengths.size  # what empty sentences have

    def search(minibatch: _Minibatch) -> None:
        n = minibatch.indices.shape[1]
        if n > EXACT:
            pieces = (
                (begin, end, kbest_of_parts(agreement[0], root, k))
                for begin, end, root, agreement in _pieces(scorer, minibatch)
            )
            found = [join_pieces(pieces, n, k)]
        else:
            agreement = expected_agreement(scorer(minibatch.tokens), minibatch.partner)
            found = [kbest_of_parts(one, ROOT, k) for one in agreement]
        for sentence, trees in zip(minibatch.sentences.tolist(), found, strict=True):
            best[sentence] = trees

    _for_all(search, given, threads)
    return best


class _Minibatch(NamedTuple):
    """Equally long sentences; one, where it is longer than ``EXACT``."""

    sentences: np.ndarray  # int64, their indices in the input
    indices: np.ndarray  # int64 [batch, n], of their tokens
    tokens: torch.Tensor  # int64 [channels, batch, n], on the device
    partner: np.ndarray | None  # int32 [batch, n]


def _for_all(search: Callable[[_Minibatch], None], given: Input, threads: int) -> None:
    """Search all sentences, minibatch by minibatch, the longest first, so that threads end together."""
    lengths = given.lengths
    starts = np.cumsum(lengths) - lengths

    def run(sentences: np.ndarray) -> None:
        indices = starts[sentences, None] + np.arange(lengths[sentences[0]])
        tokens = torch.from_numpy(given.tokens[:, indices]).to(device())
        partner = None if given.partner is None else given.partner[indices]
        with torch.inference_mode():
            search(_Minibatch(sentences, indices, tokens, partner))

    # A minibatch to a thread: what comes out does not depend on how many there are.
    with backend.threads(1), ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, _minibatches(lengths)))


def _minibatches(lengths: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the indices of the sentences of each minibatch; those of empty ones are left out."""
    for n in np.unique(lengths[lengths > 0])[::-1].tolist():
        size = 1 if n > EXACT else max(1, MAX_PAIRS // (n + 1) ** 2)
        sentences = np.flatnonzero(lengths == n)
        yield from np.split(sentences, range(size, sentences.size, size))


def _pieces(scorer: Scorer, minibatch: _Minibatch) -> Iterator[tuple[int, int, int, np.ndarray]]:
    """Yield begin, end, context and expected agreement of each piece of a sentence beyond ``EXACT``."""
    n, partner = minibatch.indices.shape[1], minibatch.partner
    end = 0
    while end < n:
        begin, end = end, n
        parts = scorer(minibatch.tokens[:, :, begin : begin + EXACT])
        if n - begin > EXACT:
            straight, inverted = (parts[0, FIRST, :, 0] + parts[0, SECOND, :, :, -1]).cpu().numpy()
            end = begin + EXACT // 2 + 1 + int((straight - inverted)[EXACT // 2 + 1 : EXACT].argmax())
        parts = parts[..., : end - begin + 1, : end - begin + 1]
        agreement = expected_agreement(parts, None if partner is None else partner[:, begin:end])
        yield begin, end, context_of(begin, end, n), agreement
