"""How often a text looks up each row of a model, and through which rows a look-up goes, compiled.

A pair is found by the spread of its first token, a triple and a quadruple by that of the two tokens beside
the split; and a quadruple is looked up only where both of its triples have rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from preorder.compiled import entry_point, inner
from preorder.methods.perceptron.fast.spans import find_pairs, find_triples
from preorder.methods.perceptron.fast.table import Tables, find, find_all, key_near
from preorder.methods.perceptron.fast.work_queue import add
from preorder.methods.perceptron.features import MULTIPLIERS

M1, M2, M3, M4 = MULTIPLIERS


class Uses(NamedTuple):
    """What is known of the rows of each hashed table, row 0 included: counts, int64, and rows, int32."""

    token: np.ndarray  # this one and the next five: how often the row was found
    adjacent: np.ndarray
    trigram: np.ndarray
    pair: np.ndarray
    triple: np.ndarray
    quad: np.ndarray
    token_of_pair: np.ndarray  # the row of the token that says where the pair lies; 0: none, or not found
    adjacent_of_triple: np.ndarray
    adjacent_of_quad: np.ndarray
    first_of_quad: np.ndarray  # the row of the triple within
    last_of_quad: np.ndarray


def no_uses(tables: Tables) -> Uses:
    """Return what is known of a model's rows before a text is read."""
    sizes = [len(table.weights) for table in tables[:-1]]
    *_, pair, triple, quad = sizes
    found_through = (np.zeros(size, np.int32) for size in (pair, triple, quad, quad, quad))
    return Uses(*(np.zeros(size, np.int64) for size in sizes), *found_through)


@entry_point
def count_uses(tables, batch, uses, first, last):
    """Count the look-ups of the sentences ``first`` to ``last`` of a batch; threads may share ``uses``."""
    for sentence in range(first, last):
        n, start = batch.lengths[sentence], batch.starts[sentence]
        tokens = batch.tokens[:, start - 1 : start + n + 1]
        size = tokens.shape[0] * (n + 2) * (n + 1)
        keys, rows = np.empty(size, np.uint64), np.empty(size, np.uint64)
        spread = np.zeros((tokens.shape[0], 2, n + 2), np.uint8)
        homes = np.zeros((tokens.shape[0], 2, n + 2), np.int64)
        _count_boundaries(tables, tokens, n, uses, spread, homes)
        _count_pairs(tables.pair, tokens, n, uses, spread, homes, keys, rows)
        _count_triples(tables.triple, tokens, n, uses, spread, homes, keys, rows)
        _count_quads(tables.quad, tokens, n, uses, spread, homes, rows)


@inner
def _counted(slots, key, counts):
    row = find(slots, key)
    if row:
        add(counts, row, 1)
    return row


@inner
def _count_boundaries(tables, tokens, n, uses, spread, homes):
    """Count tokens, adjacent ones and trigrams; fill ``[layer, {token, boundary}, index]``."""
    for layer in range(tokens.shape[0]):
        for i in range(n + 2):
            row = _counted(tables.token.slots, M1 * tokens[layer, i], uses.token)
            homes[layer, 0, i], spread[layer, 0, i] = row, tables.token.spread[row]
        for i in range(n + 1):
            key = M1 * tokens[layer, i] + M2 * tokens[layer, i + 1]
            row = _counted(tables.adjacent.slots, key, uses.adjacent)
            homes[layer, 1, i], spread[layer, 1, i] = row, tables.adjacent.spread[row]
        for i in range(n):
            key = M1 * tokens[layer, i] + M2 * tokens[layer, i + 1] + M3 * tokens[layer, i + 2]
            _counted(tables.trigram.slots, key, uses.trigram)


@inner
def _count_pairs(table, tokens, n, uses, spread, homes, keys, rows):
    find_pairs(table.slots, table.weights, tokens, n, spread, keys, rows)
    count = 0
    for layer in range(tokens.shape[0]):
        for i in range(n):
            for _ in range(i, n):
                row = np.int64(rows[count])
                if row:
                    add(uses.pair, row, 1)
                    uses.token_of_pair[row] = homes[layer, 0, i + 1]
                count += 1


@inner
def _count_triples(table, tokens, n, uses, spread, homes, keys, rows):
    find_triples(table.slots, table.weights, tokens, n, spread, keys, rows)
    count = 0
    for layer in range(tokens.shape[0]):
        for m in range(1, n):
            for _ in range(n):
                row = np.int64(rows[count])
                if row:
                    add(uses.triple, row, 1)
                    uses.adjacent_of_triple[row] = homes[layer, 1, m]
                count += 1


@inner
def _count_quads(table, tokens, n, uses, spread, homes, triples):
    """Count the quadruples of two triples, whose rows are as :func:`find_triples` leaves them."""
    size = n * n // 4 + 1
    keys, rows = np.empty(size, np.uint64), np.empty(size, np.uint64)
    corners = np.empty((size, 2), np.int64)
    for layer in range(tokens.shape[0]):
        for m in range(1, n):
            first, home = (layer * (n - 1) + m - 1) * n, M2 * tokens[layer, m] + M3 * tokens[layer, m + 1]
            count = 0
            for b in range(m):
                for e in range(m, n if triples[first + b] else 0):
                    if triples[first + e]:
                        key = M1 * tokens[layer, b + 1] + home + M4 * tokens[layer, e + 1]
                        keys[count] = key_near(key, home, spread[layer, 1, m])
                        corners[count, 0], corners[count, 1] = triples[first + b], triples[first + e]
                        count += 1
            find_all(table.slots, table.weights, keys, count, rows)
            for i in range(count):
                row = np.int64(rows[i])
                if row:
                    add(uses.quad, row, 1)
                    uses.adjacent_of_quad[row] = homes[layer, 1, m]
                    uses.first_of_quad[row], uses.last_of_quad[row] = corners[i, 0], corners[i, 1]
