"""Order the sentences of a batch by the best trees of a model.

Up to ``EXACT`` tokens the tree is the best of all. A longer sentence is cut into parts of at
most that many tokens, each of which gets its best tree; the parts stay in the source's order.
It is cut where, in the latter half of the longest possible part, the model most prefers to keep
the order by the tokens next to the cut. So time and memory are linear in the length beyond.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from preorder.btg.viterbi import NODE_FIELDS, best_tree, positions_of
from preorder.compiled import entry_point, inner
from preorder.learning.encode import Batch
from preorder.methods.perceptron.fast.scores import Tables, score_sentence, split_scores
from preorder.methods.perceptron.features import LEFT, RIGHT, ROOT, STRAIGHT

EXACT = 256
"""Sentences of at most that many tokens are parsed exactly."""

CHUNKS = 8  # a thread, so that the threads end at about the same time


def parse(tables: Tables, shape: np.ndarray, batch: Batch, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the trees and positions of a batch, one sentence after another.

    The nodes, int32 ``[tokens, NODE_FIELDS]``, take n - 1 rows of the n of a sentence of n
    tokens, parents before children; the positions, int32 ``[tokens]``, all of them.
    O(n³) a sentence of n tokens, O(EXACT² n) beyond ``EXACT``.
    """
    offsets = np.concatenate(([0], np.cumsum(batch.lengths)))
    nodes = np.empty((offsets[-1], NODE_FIELDS), np.int32)
    positions = np.empty(offsets[-1], np.int32)
    run = partial(_parse_sentences, tables, shape, batch, offsets, nodes, positions)
    run_in_chunks(run, batch.lengths.size, threads)
    return nodes, positions


def run_in_chunks(run: Callable[[int, int], None], sentences: int, threads: int) -> None:
    """Do something for all sentences, from a first to a last (exclusive) at a time, in threads."""
    if threads == 1:
        run(0, sentences)
    else:
        borders = np.linspace(0, sentences, threads * CHUNKS + 1).astype(np.int64)
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(run, borders[:-1], borders[1:]))


@entry_point
def _parse_sentences(tables, shape, batch, offsets, nodes, positions, first, last):
    for sentence in range(first, last):
        n = batch.lengths[sentence]
        if n == 0:
            continue
        start, offset = batch.starts[sentence], offsets[sentence]
        tree = nodes[offset : offset + n - 1]
        _parse_parts(tables, shape, batch.tokens[:, start - 1 : start + n + 1], n, tree)
        positions_of(tree, positions[offset : offset + n])


@inner
def _parse_parts(tables, shape, tokens, n, nodes):
    """Parse a sentence part by part; most sentences are one."""
    borders = borders_of(tables, tokens, n)
    count = 0
    for p in range(borders.size - 1):
        begin, end = borders[p], borders[p + 1]
        count += join(nodes, count, begin, end, n)
        size = end - begin
        if size > 1:
            scores = score_sentence(tables, shape, tokens[:, begin : end + 2], size)
            best_tree(scores, size, context_of(begin, end, n), nodes[count : count + size - 1])
            for node in range(count, count + size - 1):
                for field in range(3):
                    nodes[node, field] += begin
            count += size - 1


@inner
def borders_of(tables, tokens, n):
    """Return where the parts of a sentence begin, and its end: int64."""
    borders = [0]
    if n > EXACT:
        preference = split_scores(tables, tokens, n)
        while n - borders[-1] > EXACT:
            first, last = borders[-1] + EXACT // 2 + 1, borders[-1] + EXACT + 1
            borders.append(first + np.argmax(preference[first:last]))
    borders.append(n)
    return np.array(borders)


@entry_point
def context_of(begin, end, n):
    """Return the context of a part of a sentence."""
    if end < n:
        return STRAIGHT * 2 + LEFT
    return STRAIGHT * 2 + RIGHT if begin else ROOT


@entry_point
def join(nodes, count, begin, end, n):
    """Write the node that joins a part to the rest, if there is any; return how many were written."""
    if end == n:
        return 0
    nodes[count, 0], nodes[count, 1], nodes[count, 2] = begin, end, n
    nodes[count, 3], nodes[count, 4] = STRAIGHT, STRAIGHT * 2 + RIGHT if begin else ROOT
    return 1
