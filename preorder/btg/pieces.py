"""Long sentences, cut into pieces of at most ``EXACT`` tokens that are searched one by one.

The pieces stay in the source's order: straight nodes join each of them to the rest. So time and memory
are linear in the length beyond ``EXACT``. Where to cut is up to the methods.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

import numpy as np

from preorder.btg.grammar import LEFT, NODE_FIELDS, RIGHT, ROOT, STRAIGHT
from preorder.btg.kbest import ScoredTree
from preorder.compiled import entry_point

EXACT = 256
"""Sentences of at most that many tokens are parsed exactly."""


@entry_point
def context_of(begin, end, n):
    """Return the context of the root of a piece, ``[begin, end)`` of n tokens."""
    if end < n:
        return STRAIGHT * 2 + LEFT
    return STRAIGHT * 2 + RIGHT if begin else ROOT


@entry_point
def join(nodes, count, begin, end, n):
    """Write the node ``count`` that joins a piece to what follows, if anything does; return 1, or 0."""
    if end == n:
        return 0
    nodes[count, 0], nodes[count, 1], nodes[count, 2] = begin, end, n
    nodes[count, 3], nodes[count, 4] = STRAIGHT, context_of(begin, n, n)
    return 1


def join_pieces(pieces: Iterable[tuple[int, int, list[ScoredTree]]], n: int, k: int) -> list[ScoredTree]:
    """Join the best trees of the pieces of a sentence into its k best, best first.

    Args:
        pieces: begin and end of each, from left to right, and its best trees, best first.
        n: tokens of the sentence.
        k: at most how many.
    """
    best = [ScoredTree(np.float32(0), np.empty((0, NODE_FIELDS), np.int32))]
    for begin, end, trees in pieces:
        joint = np.empty((1, NODE_FIELDS), np.int32)
        joint = joint[: join(joint, 0, begin, end, n)]
        heap = [(-(tree.score + trees[0].score), i, 0) for i, tree in enumerate(best)]
        heapq.heapify(heap)
        joined: list[ScoredTree] = []
        while heap and len(joined) < k:
            negative, i, j = heapq.heappop(heap)
            nodes = trees[j].nodes + np.array([begin, begin, begin, 0, 0], np.int32)
            joined.append(ScoredTree(-negative, np.concatenate((best[i].nodes, joint, nodes))))
            if j + 1 < len(trees):
                heapq.heappush(heap, (-(best[i].score + trees[j + 1].score), i, j + 1))
        best = joined
    return best
