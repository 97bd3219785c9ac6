"""Move weights from a predicted tree towards its oracle, compiled.

Passive-aggressive (PA-I, Crammer et al. 2006): the smallest step that makes up for the loss, at
most ``aggressiveness``. A feature that both trees have equally often is not touched, and gets
no row.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from preorder.btg import features
from preorder.btg.chart import violates
from preorder.btg.compiled import entry_point
from preorder.btg.features import (
    ADJACENT,
    LABELS,
    MULTIPLIERS,
    PAIR,
    PIVOT,
    SHAPES_PER_NODE,
    TABLE_NAMES,
    TEMPLATE_COLUMN,
    TEMPLATE_CONTEXT,
    TEMPLATE_CORNERS,
    TEMPLATE_MULTIPLIERS,
    TEMPLATE_SIZE,
    TEMPLATE_TABLE,
    TOKEN,
)
from preorder.btg.scores import balance_row, child_sizes_row, size_row
from preorder.btg.table import find, insert, key_near

TEMPLATES = len(TEMPLATE_TABLE)
SHAPE_TABLE = len(TABLE_NAMES)  # number of the dense table: its rows are its keys


class Growing(NamedTuple):
    """A table that learns.

    Attributes:
        slots, weights, spread: as in :class:`preorder.btg.table.Table`.
        changes: of each weight, the sum over its changes of (change · time): float32.
        keys: uint64, the key of each row.
        used: int64 ``[1]``, rows in use, row 0 included.
    """

    slots: np.ndarray
    weights: np.ndarray
    spread: np.ndarray
    changes: np.ndarray
    keys: np.ndarray
    used: np.ndarray


class Difference(NamedTuple):
    """Features of two trees, counted: oracle plus, prediction minus.

    ``places`` finds an entry by hash; entries are the first ``size[0]`` of the other arrays.
    """

    places: np.ndarray
    table: np.ndarray
    key: np.ndarray
    column: np.ndarray
    count: np.ndarray
    needed: np.ndarray
    row: np.ndarray
    size: np.ndarray


def empty_difference(most_tokens: int, layers: int) -> Difference:
    """Return room for the features of two trees of at most that many tokens."""
    most = 2 * most_tokens * (layers * TEMPLATES + SHAPES_PER_NODE)
    places = 1 << int(np.ceil(np.log2(2 * most)))
    return Difference(
        np.full(places, -1, np.int32),
        np.zeros(most, np.int32),
        np.zeros(most, np.uint64),
        np.zeros(most, np.int32),
        np.zeros(most, np.int32),
        np.zeros(most, np.bool_),
        np.zeros(most, np.int64),
        np.zeros(1, np.int64),
    )


@numba.njit
def _count(difference, table, key, column, sign, needed):
    mask = np.uint64(difference.places.size - 1)
    mixed = (key + np.uint64(table * 64 + column)) * MULTIPLIERS[0]
    place = (mixed ^ (mixed >> np.uint64(32))) & mask
    while True:
        entry = difference.places[place]
        if entry < 0:
            entry = difference.size[0]
            difference.size[0] += 1
            difference.places[place] = entry
            difference.table[entry] = table
            difference.key[entry] = key
            difference.column[entry] = column
            difference.count[entry] = sign
            difference.needed[entry] = needed
            difference.row[entry] = place  # until it is looked up: where to clear
            return
        if (
            difference.key[entry] == key
            and difference.column[entry] == column
            and difference.table[entry] == table
        ):
            difference.count[entry] += sign
            return
        place = (place + np.uint64(1)) & mask


@numba.njit
def _count_node(difference, tokens, spread, node, sign):
    b, m, e, label, context = node[0], node[1], node[2], node[3], node[4]
    corners = corner_places(b, m, e)
    for layer in range(tokens.shape[0]):
        beside = MULTIPLIERS[1] * tokens[layer, m] + MULTIPLIERS[2] * tokens[layer, m + 1]
        for t in range(TEMPLATES):
            table, size = TEMPLATE_TABLE[t], TEMPLATE_SIZE[t]
            key = np.uint64(0)
            for k in range(size):
                token = tokens[layer, corners[TEMPLATE_CORNERS[t, k]] + 1]
                key += MULTIPLIERS[TEMPLATE_MULTIPLIERS[t, k]] * token
            if table == PAIR:
                first = corners[TEMPLATE_CORNERS[t, 0]] + 1
                key = key_near(key, MULTIPLIERS[0] * tokens[layer, first], spread[layer, 0, first])
            elif table == PIVOT:
                key = key_near(key, beside, spread[layer, 1, m])
            column = TEMPLATE_COLUMN[t] + label
            if TEMPLATE_CONTEXT[t]:
                column += context * LABELS
            # A quadruple is looked up only where its triples have rows, so triples get them.
            _count(difference, table, key, column, sign, table == PIVOT and size == 3)
    for row in shape_rows(b, m, e, context):
        _count(difference, SHAPE_TABLE, np.uint64(row), label, sign, False)


@numba.njit
def corner_places(b, m, e):
    """Return the tokens at a node's corners, in the order of ``features.CORNERS``."""
    return (b - 1, np.int64(b), m - 2, m - 1, np.int64(m), m + 1, e - 1, np.int64(e))


@numba.njit
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


@numba.njit
def _spreads(tables, tokens):
    """Return the spreads of the tokens of a sentence and of adjacent ones: ``[layer, {1, 2}, place]``."""
    spread = np.zeros((tokens.shape[0], 2, tokens.shape[1]), np.uint8)
    token, adjacent = tables[TOKEN], tables[ADJACENT]
    for layer in range(tokens.shape[0]):
        for i in range(tokens.shape[1]):
            first = MULTIPLIERS[0] * tokens[layer, i]
            spread[layer, 0, i] = token.spread[find(token.slots, first)]
            if i + 1 < tokens.shape[1]:
                both = first + MULTIPLIERS[1] * tokens[layer, i + 1]
                spread[layer, 1, i] = adjacent.spread[find(adjacent.slots, both)]
    return spread


@numba.njit
def _count_trees(difference, tokens, spread, oracle, predicted):
    """Count the features of the nodes that only one of the trees has."""
    n = oracle.shape[0] + 1
    nodes = np.full((n + 1, n + 1), -1, np.int32)
    for k in range(n - 1):
        nodes[oracle[k, 0], oracle[k, 2]] = k
    for k in range(n - 1):
        same = nodes[predicted[k, 0], predicted[k, 2]]
        if same >= 0 and np.array_equal(oracle[same], predicted[k]):
            nodes[predicted[k, 0], predicted[k, 2]] = -2
        else:
            _count_node(difference, tokens, spread, predicted[k], -1)
    for k in range(n - 1):
        if nodes[oracle[k, 0], oracle[k, 2]] != -2:
            _count_node(difference, tokens, spread, oracle[k], 1)


@numba.njit
def violations(bounds, nodes):
    """Count the nodes of a tree that violate the constraint."""
    count = 0
    for k in range(nodes.shape[0]):
        count += violates(bounds, nodes[k, 0], nodes[k, 1], nodes[k, 2], nodes[k, 3])
    return count


@numba.njit
def _find_rows(tables, difference):
    """Turn keys into rows, new ones where there are none; forget what is counted zero times."""
    kept = 0
    for i in range(difference.size[0]):
        difference.places[difference.row[i]] = -1
        table, key = difference.table[i], difference.key[i]
        if difference.count[i] == 0 and not difference.needed[i]:
            continue
        row = np.int64(key)
        if table != SHAPE_TABLE:
            growing = tables[table]
            row = find(growing.slots, key)
            if row == 0:
                row = growing.used[0]
                growing.used[0] += 1
                growing.keys[row] = key
                insert(growing.slots, key, row)
        difference.table[kept], difference.row[kept] = table, row
        difference.column[kept], difference.count[kept] = difference.column[i], difference.count[i]
        kept += 1
    difference.size[0] = kept


@numba.njit
def _room(tables, most):
    """Say whether every table can take so many new keys."""
    free = most
    for table in tables:
        free = min(free, table.keys.size - table.used[0])
    return free == most


@numba.njit
def _step(tables, shape, shape_changes, difference, cost, aggressiveness, time):
    """Change the weights of the features counted; return whether there was any loss."""
    score, square = 0.0, 0
    for i in range(difference.size[0]):
        table, row, column = difference.table[i], difference.row[i], difference.column[i]
        weight = shape[row, column] if table == SHAPE_TABLE else tables[table].weights[row, column]
        score += weight * difference.count[i]
        square += difference.count[i] * difference.count[i]
    loss = cost - score
    if loss <= 0 or square == 0:
        return False
    step = min(aggressiveness, loss / square)
    for i in range(difference.size[0]):
        table, row, column = difference.table[i], difference.row[i], difference.column[i]
        change = np.float32(step * difference.count[i])
        if table == SHAPE_TABLE:
            shape[row, column] += change
            shape_changes[row, column] += change * np.float32(time)
        else:
            tables[table].weights[row, column] += change
            tables[table].changes[row, column] += change * np.float32(time)
    return True


@entry_point
def update(
    tables, shape, shape_changes, difference, batch, chosen, costs, trees, aggressiveness, time, tick, first
):
    """Learn from the errors of a minibatch, in their order.

    Args:
        tables: a tuple of :class:`Growing`.
        shape, shape_changes: the same for the dense features.
        difference: scratch.
        batch: the encoded corpus.
        chosen: int64 ``[k]``, the sentences of the minibatch.
        costs: float32 ``[k]``, cost of each prediction's violations; negative: there is nothing to learn.
        trees: int32 ``[2, tokens, NODE_FIELDS]``, predictions and oracles, one sentence after another.
        aggressiveness: the greatest step.
        time: when the first of ``chosen`` is seen, ``tick`` the time between two.
        first: index of the first sentence still to learn from.

    Returns:
        (index of the first sentence not learned from, as a table is full; number of updates).
    """
    updates = 0
    offset = 0
    for k in range(chosen.size):
        sentence = chosen[k]
        n = batch.lengths[sentence]
        offset += n
        if k < first or costs[k] < 0:
            continue
        start = batch.starts[sentence]
        tokens = batch.tokens[:, start - 1 : start + n + 1]
        predicted, oracle = trees[0, offset - n : offset - 1], trees[1, offset - n : offset - 1]
        if not _room(tables, 2 * n * tokens.shape[0] * TEMPLATES):
            return k, updates
        difference.size[0] = 0
        _count_trees(difference, tokens, _spreads(tables, tokens), oracle, predicted)
        _find_rows(tables, difference)
        updates += _step(tables, shape, shape_changes, difference, costs[k], aggressiveness, time + tick * k)
    return chosen.size, updates
