"""The features in which two trees differ, compiled.

A feature that both trees have equally often does not count, and gets no row in a table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from preorder.btg.grammar import LABELS, NODE_FIELDS
from preorder.compiled import inner
from preorder.methods.perceptron import features
from preorder.methods.perceptron.fast.shapes import balance_row, child_sizes_row, size_row
from preorder.methods.perceptron.fast.table import key_near
from preorder.methods.perceptron.features import (
    MULTIPLIERS,
    PAIR,
    QUAD,
    SHAPES_PER_NODE,
    TABLE_NAMES,
    TEMPLATE_COLUMN,
    TEMPLATE_CONTEXT,
    TEMPLATE_CORNERS,
    TEMPLATE_MULTIPLIERS,
    TEMPLATE_SIZE,
    TEMPLATE_TABLE,
    TRIPLE,
)

DENSE = len(TABLE_NAMES)
"""Number of the dense table, the last one; its rows are its keys."""
TABLE_COUNT = DENSE + 1
FIRST_TEMPLATE = np.searchsorted(TEMPLATE_TABLE, np.arange(TABLE_COUNT))
TEMPLATE_COUNTS = np.diff(FIRST_TEMPLATE)
"""Templates of each table but the dense one: as many features of a layer of a node, at most, it knows."""


class Differences(NamedTuple):
    """Differences of many sentences.

    Sentence s of the minibatch that was written last has the entries from ``starts[s]``, those of
    table t before ``ends[s, t]`` and after those of table t - 1.
    """

    key: np.ndarray  # uint64, with the column the feature
    column: np.ndarray  # int32
    change: np.ndarray  # float32, how much more often the one tree has it than the other, times a step
    starts: np.ndarray  # int64 [s], an upper bound of the entries before, in its minibatch
    ends: np.ndarray  # int64 [s, TABLE_COUNT]


def allocate_differences(lengths: np.ndarray, layers: int, minibatch: int) -> Differences:
    """Return arrays for the differences of sentences of these lengths, of one minibatch at a time."""
    bounds = 2 * np.maximum(lengths - 1, 0) * (layers * len(TEMPLATE_TABLE) + SHAPES_PER_NODE)
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
    needed: np.ndarray  # bool, of each entry whether it is kept even where it does not count


@inner
def allocate_counter(n, layers):
    """Return a counter for sentences of at most n tokens."""
    entries = 2 * n * layers * len(TEMPLATE_TABLE)
    size = 1024
    while size < 2 * entries:
        size *= 2
    return Counter(np.full(size, -1, np.int32), np.empty(entries, np.int32), np.empty(entries, np.bool_))


@inner
def count_difference(differences, s, counter, tokens, spread, plus, minus):
    """Count the features of tree ``plus`` less those of ``minus``; return the sum of the squared counts.

    Args:
        differences, s: where to write, with the counts as changes.
        counter: scratch.
        tokens, spread: of the sentence: see ``score_sentence``.
        plus, minus: int32 ``[n - 1, NODE_FIELDS]``.
    """
    nodes = _unlike_nodes(plus, minus)
    first = differences.starts[s]
    square = 0.0
    for table in range(TABLE_COUNT):
        count = np.int64(0)
        for i in range(nodes.shape[0]):
            count = _count_node(differences, first, count, counter, table, tokens, spread, nodes[i])
        # A quadruple is looked up only where its triples have rows: they get them, if with no weight.
        kept = first
        for i in range(count):
            counter.slots[counter.used[i]] = -1
            change = differences.change[first + i]
            if change != 0 or counter.needed[i]:
                square += change * change
                differences.key[kept] = differences.key[first + i]
                differences.column[kept] = differences.column[first + i]
                differences.change[kept] = change
                kept += 1
        differences.ends[s, table] = first = kept
    return square


@inner
def _unlike_nodes(plus, minus):
    """Return the nodes that only the one tree has, with a last field of 1 or, of ``minus``, -1."""
    n = plus.shape[0] + 1
    index = np.full((n + 1, n + 1), -1, np.int32)
    nodes = np.empty((2 * (n - 1), NODE_FIELDS + 1), np.int32)
    count = 0
    for k in range(n - 1):
        index[plus[k, 0], plus[k, 2]] = k
    for k in range(n - 1):
        same = index[minus[k, 0], minus[k, 2]]
        if same >= 0 and np.array_equal(plus[same], minus[k]):
            index[minus[k, 0], minus[k, 2]] = -1
        else:
            nodes[count, :NODE_FIELDS], nodes[count, NODE_FIELDS] = minus[k], -1
            count += 1
    for k in range(n - 1):
        if index[plus[k, 0], plus[k, 2]] >= 0:
            nodes[count, :NODE_FIELDS], nodes[count, NODE_FIELDS] = plus[k], 1
            count += 1
    return nodes[:count]


@inner
def _count_node(differences, first, count, counter, table, tokens, spread, node):
    """Count a node's features of one table; return the number of different features so far."""
    b, m, e, label, context, sign = node[0], node[1], node[2], node[3], node[4], node[5]
    if table == DENSE:
        for row in shape_rows(b, m, e, context):
            count = _count(differences, first, count, counter, np.uint64(row), label, sign, False)
        return count
    corners = corner_indices(b, m, e)
    for layer in range(tokens.shape[0]):
        for t in range(FIRST_TEMPLATE[table], FIRST_TEMPLATE[table + 1]):
            size = TEMPLATE_SIZE[t]
            key = np.uint64(0)
            for k in range(size):
                token = tokens[layer, corners[TEMPLATE_CORNERS[t, k]] + 1]
                key += MULTIPLIERS[TEMPLATE_MULTIPLIERS[t, k]] * token
            if table == PAIR:
                first_token = corners[TEMPLATE_CORNERS[t, 0]] + 1
                home = MULTIPLIERS[0] * tokens[layer, first_token]
                key = key_near(key, home, spread[layer, 0, first_token])
            elif table in (TRIPLE, QUAD):
                home = MULTIPLIERS[1] * tokens[layer, m] + MULTIPLIERS[2] * tokens[layer, m + 1]
                key = key_near(key, home, spread[layer, 1, m])
            column = TEMPLATE_COLUMN[t] + label
            if TEMPLATE_CONTEXT[t]:
                column += context * LABELS
            count = _count(differences, first, count, counter, key, column, sign, table == TRIPLE)
    return count


@inner
def corner_indices(b, m, e):
    """Return the indices of the tokens at a node's corners, in the order of ``features.CORNERS``."""
    return (b - 1, np.int64(b), m - 2, m - 1, np.int64(m), m + 1, e - 1, np.int64(e))


@inner
def shape_rows(b, m, e, context):
    """Return the rows of a node's features without tokens."""
    return (
        features.BIAS,
        balance_row(m - b, e - m),
        size_row(e - b),
        child_sizes_row(m - b, e - m),
        features.PARENT_LABEL + context // LABELS,
        features.PARENT + context,
    )


@inner
def _count(differences, first, count, counter, key, column, sign, needed):
    """Count one feature; return the number of different features so far."""
    mask = np.uint64(counter.slots.size - 1)
    mixed = (key + np.uint64(column)) * MULTIPLIERS[0]
    slot = (mixed ^ (mixed >> np.uint64(32))) & mask
    while True:
        entry = counter.slots[slot]
        if entry < 0:
            break
        if differences.key[first + entry] == key and differences.column[first + entry] == column:
            differences.change[first + entry] += sign
            return count
        slot = (slot + np.uint64(1)) & mask
    counter.slots[slot], counter.used[count], counter.needed[count] = count, slot, needed
    differences.key[first + count] = key
    differences.column[first + count] = column
    differences.change[first + count] = sign
    return count + 1
