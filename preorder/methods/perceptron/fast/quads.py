"""What all four corners of a node score together.

A quadruple has a row in its table only where the two triples within it, known already, have theirs, and it
is looked up once for all occurrences of its first and its last token on their sides: that leaves few.
"""

from __future__ import annotations

import numpy as np

from preorder.btg.scores import node_index
from preorder.compiled import inner
from preorder.methods.perceptron.fast.table import find_all, key_near
from preorder.methods.perceptron.features import MULTIPLIERS

M1, M2, M3, M4 = MULTIPLIERS

MANY = 4096  # quadruples looked up at a time, at least


@inner
def add_quads(slots, weights, tokens, n, spread, triples, node):
    """Add the template of all four corners, where both of its ``triples`` have rows."""
    size = MANY + n * n // 4
    keys, rows, corners = np.empty(size, np.uint64), np.empty(size, np.uint64), np.empty((size, 4), np.int32)
    begins = np.empty(n, np.int32)
    before, after = _occurrences(tokens, n)
    count = 0
    for layer in range(tokens.shape[0]):
        for m in range(1, n):
            first = (layer * (n - 1) + m - 1) * n
            home = M2 * tokens[layer, m] + M3 * tokens[layer, m + 1]
            known = 0
            for b in range(m):
                begins[known] = b
                known += triples[first + b] != 0 and before[layer, b] < 0
            for last in range(m, n):
                if triples[first + last] == 0 or before[layer, last] >= m:
                    continue
                inner = home + M4 * tokens[layer, last + 1]
                for i in range(known):
                    b = begins[i]
                    keys[count] = key_near(M1 * tokens[layer, b + 1] + inner, home, spread[layer, 1, m])
                    corners[count, 0], corners[count, 1] = layer, b
                    corners[count, 2], corners[count, 3] = m, last
                    count += 1
            if count >= MANY:
                _add_found(slots, weights, keys, count, rows, corners, after, node)
                count = 0
    _add_found(slots, weights, keys, count, rows, corners, after, node)


@inner
def _occurrences(tokens, n):
    """Return where each token occurs last before (-1: nowhere) and next after (n): ``[layer, token]``."""
    before = np.full((tokens.shape[0], n), -1, np.int32)
    after = np.full((tokens.shape[0], n), n, np.int32)
    for layer in range(tokens.shape[0]):
        for i in range(1, n):
            for j in range(i - 1, -1, -1):
                if tokens[layer, j + 1] == tokens[layer, i + 1]:
                    before[layer, i], after[layer, j] = j, i
                    break
    return before, after


@inner
def _add_found(slots, weights, keys, count, rows, corners, after, node):
    """Add the quadruples that have rows, wherever their first and last tokens occur."""
    n = after.shape[1]
    find_all(slots, weights, keys, count, rows)
    found = 0
    for i in range(count):
        rows[found] = rows[i]
        for k in range(4):
            corners[found, k] = corners[i, k]
        found += rows[i] != 0
    for i in range(found):
        layer, begin, m, last = corners[i, 0], corners[i, 1], corners[i, 2], corners[i, 3]
        straight, inverted = weights[rows[i], 0], weights[rows[i], 1]
        while last < n:
            first = node_index(m, np.int64(last) + 1)
            b = begin
            while b < m:
                node[0, first + b] += straight
                node[1, first + b] += inverted
                b = after[layer, b]
            last = after[layer, last]
