"""Order the sentences of a batch by the best trees of a model.

Up to ``EXACT`` tokens the tree is the best of all. A longer sentence is cut into parts of at
most that many tokens, each of which gets its best tree; the parts stay in the source's order.
It is cut where, in the latter half of the longest possible part, the model most prefers to keep
the order by the tokens next to the cut. So time and memory are linear in the length beyond.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from preorder.btg.chart import NODE_FIELDS, best_tree, positions_of
from preorder.btg.compiled import entry_point, inner
from preorder.btg.encode import Batch
from preorder.btg.features import LEFT, RIGHT, ROOT, STRAIGHT
from preorder.btg.scores import Tables, score_sentence, split_scores

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
    borders = np.linspace(0, batch.lengths.size, threads * CHUNKS + 1).astype(np.int64)
    run = partial(_parse_sentences, tables, shape, batch, offsets, nodes, positions)
    if threads == 1:
        run(0, batch.lengths.size)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(run, borders[:-1], borders[1:]))
    return nodes, positions


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
    preference = split_scores(tables, tokens, n) if n > EXACT else np.empty(0, np.float32)
    begin = count = 0
    while n - begin > 1:
        end, context = n, STRAIGHT * 2 + RIGHT if begin else ROOT
        if n - begin > EXACT:
            end = begin + EXACT // 2 + 1 + np.argmax(preference[begin + EXACT // 2 + 1 : begin + EXACT + 1])
            nodes[count] = (begin, end, n, STRAIGHT, context)
            count += 1
            context = STRAIGHT * 2 + LEFT
        size = end - begin
        scores = score_sentence(tables, shape, tokens[:, begin : end + 2], size)
        part = nodes[count : count + size - 1]
        best_tree(scores, size, context, part)
        part[:, :3] += np.int32(begin)
        count += size - 1
        begin = end
