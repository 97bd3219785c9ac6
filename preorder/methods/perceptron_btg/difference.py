"""The features in which two trees differ, compiled.

A feature that both trees have equally often does not count and gets no row in a table. The same holds for
features of tokens that word dropout hides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from preorder.btg.grammar import LABELS, NODE_FIELDS
from preorder.compiled import inner
from preorder.learning.encode import DROPPED
from preorder.methods.perceptron_btg import features
from preorder.methods.perceptron_btg.features import MULTIPLIERS, PAIR, QUAD, TRIPLE
from preorder.methods.perceptron_btg.scorer import size_rows
from preorder.methods.perceptron_btg.table import key_near

DENSE = len(features.TABLE_NAMES)  # number of the dense table, the last one; its rows are its keys
TABLE_COUNT = DENSE + 1
FIRST_TEMPLATE = np.searchsorted(features.TEMPLATE_TABLE, np.arange(TABLE_COUNT))
TEMPLATE_COUNTS = np.diff(FIRST_TEMPLATE)  # of each table but the dense one

CORNER_FIELD = np.array([0, 0, 1, 1, 1, 1, 2, 2])
CORNER_OFFSET = np.array([0, 1, -1, 0, 1, 2, 0, 1])
"""Of each of ``features.CORNERS``: a node's field and its offset in tokens ``[layer, n + 2]``."""


class Differences(NamedTuple):
    """Sentence s has those from ``starts[s]``, its table t those to ``ends[s, t]``, after table t - 1's."""

    key: np.ndarray  # uint64, with the column the feature
    column: np.ndarray  # int32
    change: np.ndarray  # float32, how much more often the one tree has it than the other, times a step
    starts: np.ndarray  # int64 [s], an upper bound of the entries before, in its minibatch
    ends: np.ndarray  # int64 [s, TABLE_COUNT]


def allocate_differences(lengths: np.ndarray, layers: int, minibatch: int) -> Differences:
    """Return arrays for the differences of sentences of these lengths, of one minibatch at a time."""
    of_node = layers * len(features.TEMPLATE_TABLE) + features.SHAPES_PER_NODE
    bounds = 2 * np.maximum(lengths - 1, 0) * of_node
    before = np.cumsum(bounds) - bounds
    first = np.arange(0, lengths.size, minibatch)
    size = np.add.reduceat(bounds, first).max()
    return Differences(
        np.empty(size, np.uint64),
        np.empty(size, np.int32),
        np.empty(size, np.float32),
        before - np.repeat(before[first], minibatch)[: lengths.size],
        np.empty((lengths.size, TABLE_COUNT), np.int64),
    )


class Counter(NamedTuple):
    """Scratch to count the features of one table."""

    slots: np.ndarray  # int32, a hash table: the number of a feature's entry, or -1
    used: np.ndarray  # int32, of each entry its slot


@inner
def allocate_counter(n, layers):
    """Return a counter for sentences of at most n tokens."""
    entries = 2 * n * layers * len(features.TEMPLATE_TABLE)
    size = 1024
    while size < 2 * entries:
        size *= 2
    return Counter(np.full(size, -1, np.int32), np.empty(entries, np.int32))


@inner
def count_difference(differences, s, counter, tokens, spread, plus, minus):
    """Write the features of tree ``plus`` less those of ``minus``; return the sum of the squared counts.

    They are the changes of sentence s. Trees are int32 ``[n - 1, NODE_FIELDS]``; see ``score_sentence``.
    """
    key, column, change = differences.key, differences.column, differences.change
    nodes = _unlike_nodes(plus, minus)
    first = differences.starts[s]
    square = 0.0
    for table in range(TABLE_COUNT):
        if table == DENSE:
            last = _list_shapes(nodes, key, column, change, first)
        else:
            last = _list_features(table, nodes, tokens, spread, key, column, change, first)
        # A quadruple is looked up only where its triples have rows: triples of change 0 are kept.
        kept = _merge(key, column, change, first, last, counter.slots, counter.used, table == TRIPLE)
        for i in range(first, kept):
            square += change[i] * change[i]
        differences.ends[s, table] = first = kept
    return square


@inner
def _unlike_nodes(plus, minus):
    """Return the nodes that only the one tree has, with a last field of 1 or, of ``minus``, -1."""
    nodes = np.empty((2 * plus.shape[0], NODE_FIELDS + 1), np.int32)
    count = _add_unlike(minus, plus, -1, nodes, 0)
    count = _add_unlike(plus, minus, 1, nodes, count)
    return nodes[:count]


@inner
def _add_unlike(tree, other, sign, nodes, count):
    for k in range(tree.shape[0]):
        is_shared = False
        for i in range(other.shape[0]):
            equal = True
            for field in range(NODE_FIELDS):
                equal = equal and tree[k, field] == other[i, field]
            is_shared = is_shared or equal
        if not is_shared:
            for field in range(NODE_FIELDS):
                nodes[count, field] = tree[k, field]
            nodes[count, NODE_FIELDS] = sign
            count += 1
    return count


# What follows works on arrays in local names, with all nodes at a time: called for each node, or handed
# the tuples that hold the arrays, it takes three times as long.


@inner
def _list_shapes(nodes, key, column, change, first):
    for i in range(nodes.shape[0]):
        b, m, e, context = nodes[i, 0], nodes[i, 1], nodes[i, 2], nodes[i, 4]
        parent_label, parent = features.PARENT_LABEL + context // LABELS, features.PARENT + context
        for row in (features.BIAS, *size_rows(m - b, e - m), parent_label, parent):
            key[first], column[first], change[first] = np.uint64(row), nodes[i, 3], nodes[i, 5]
            first += 1
    return first


@inner
def _list_features(table, nodes, tokens, spread, key, column, change, first):
    for t in range(FIRST_TEMPLATE[table], FIRST_TEMPLATE[table + 1]):
        size = features.TEMPLATE_SIZE[t]
        contexts = LABELS if features.TEMPLATE_CONTEXT[t] else 0
        for layer in range(tokens.shape[0]):
            for i in range(nodes.shape[0]):
                m = nodes[i, 1]
                joined = np.uint64(0)
                is_known = True
                for k in range(size):
                    corner = features.TEMPLATE_CORNERS[t, k]
                    token = tokens[layer, nodes[i, CORNER_FIELD[corner]] + CORNER_OFFSET[corner]]
                    joined += MULTIPLIERS[features.TEMPLATE_MULTIPLIERS[t, k]] * token
                    is_known = is_known and token != DROPPED
                if not is_known:
                    continue
                if table == PAIR:
                    corner = features.TEMPLATE_CORNERS[t, 0]
                    at = nodes[i, CORNER_FIELD[corner]] + CORNER_OFFSET[corner]
                    joined = key_near(joined, MULTIPLIERS[0] * tokens[layer, at], spread[layer, 0, at])
                elif table in (TRIPLE, QUAD):
                    home = MULTIPLIERS[1] * tokens[layer, m] + MULTIPLIERS[2] * tokens[layer, m + 1]
                    joined = key_near(joined, home, spread[layer, 1, m])
                key[first], change[first] = joined, nodes[i, 5]
                column[first] = features.TEMPLATE_COLUMN[t] + nodes[i, 3] + contexts * nodes[i, 4]
                first += 1
    return first


@inner
def _merge(key, column, change, first, last, slots, used, keep_zeros):
    """Add up the changes of equal features in place, and drop the zeros; return where they end."""
    mask = np.uint64(slots.size - 1)
    count = 0
    for i in range(first, last):
        mixed = (key[i] + np.uint64(column[i])) * MULTIPLIERS[0]
        slot = (mixed ^ (mixed >> np.uint64(32))) & mask
        while True:
            entry = slots[slot]
            if entry < 0 or (key[first + entry] == key[i] and column[first + entry] == column[i]):
                break
            slot = (slot + np.uint64(1)) & mask
        if entry >= 0:
            change[first + entry] += change[i]
        else:
            slots[slot], used[count] = count, slot
            at = first + count
            key[at], column[at], change[at] = key[i], column[i], change[i]
            count += 1
    kept = first
    for i in range(count):
        slots[used[i]] = -1
        if keep_zeros or change[first + i] != 0:
            at = first + i
            key[kept], column[kept], change[kept] = key[at], column[at], change[at]
            kept += 1
    return kept
