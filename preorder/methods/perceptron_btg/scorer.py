"""Scores of all nodes of a sentence, by a model's weights.

A node's score is the sum over its templates. Only the template that joins all four corners looks at more than
two of begin, split and end: O(n²) look-ups serve all others. The sum has the terms of
:class:`preorder.btg.scores.Scores`, where::

    node(b, m, e, label) = shape(e - m, m - b, label) + quad(b, m, e, label)

The loops index arrays in local names: slices and tuples of arrays cost numba more than the work on them.
"""

from __future__ import annotations

import numba
import numpy as np

from preorder.btg.grammar import CONTEXTS, LABELS, LANES
from preorder.btg.scores import VECTOR, Scores, node_count, node_index
from preorder.btg.viterbi import copy_vector
from preorder.compiled import entry_point, inner
from preorder.methods.perceptron_btg import features
from preorder.methods.perceptron_btg.features import MULTIPLIERS, columns
from preorder.methods.perceptron_btg.table import find_all, key_near

M1, M2, M3, M4 = MULTIPLIERS

LL_BEFORE, LL, LR, RL, RR, RR_AFTER = columns("token", "Ll- Ll Lr Rl Rr Rr+")
CONTEXT_LL, CONTEXT_LR, CONTEXT_RL, CONTEXT_RR = columns("token", "Ll Lr Rl Rr", context=True)
BEGIN, MIDDLE, END = columns("adjacent", "Ll-&Ll Lr&Rl Rr&Rr+")
BEFORE_PIVOT, AFTER_PIVOT = columns("trigram", "Lr-&Lr&Rl Lr&Rl&Rl+")
LL_LR, LL_RL, LR_RR, RL_RR, LL_RR = columns("pair", "Ll&Lr Ll&Rl Lr&Rr Rl&Rr Ll&Rr")
(CONTEXT_LL_RR,) = columns("pair", "Ll&Rr", context=True)

MANY_QUADS = 4096  # looked up at a time, at least


@entry_point
def score_sentence(tables, shape, tokens, n):
    """Score a sentence: O(n²) look-ups a layer, and one for each quadruple whose triples are known.

    Takes a model's :class:`.table.Tables`, its :func:`shape_scores` up to n, and the uint64 hashes
    ``[layer, n + 2]`` of n tokens and borders. Returns its ``Scores``, and the spread of its keys.
    """
    node = np.empty((LABELS, node_count(n) + VECTOR), np.float32)
    span = np.zeros((n + 1, n + 1, LANES), np.float32)
    left = np.zeros((LABELS, n + 1, n + 1), np.float32)
    right = np.zeros((n + 1, n + 1, LABELS), np.float32)
    size = tokens.shape[0] * (n + 2) * (n + 1)
    keys, rows = np.empty(size, np.uint64), np.empty(size, np.uint64)
    pair, triple, quad = tables.pair, tables.triple, tables.quad
    begin, end, pivot, split, spread = score_boundaries(tables, tokens, n)
    _add_pairs(pair.slots, pair.weights, tokens, n, spread, keys, rows, left, right, span)
    _add_triples(triple.slots, triple.weights, tokens, n, spread, keys, rows, left, right)
    _set_shapes(shape, n, node)
    _add_quads(quad.slots, quad.weights, tokens, n, spread, rows, node)
    _add_to_spans(tables.shape, n, begin, end, pivot, split, span)
    return Scores(node, left, right, span, pivot), spread


@entry_point
def score_boundaries(tables, tokens, n):
    """Return what a node scores by all templates that look at the tokens around one boundary.

    That is begin, end and pivot (by the context), float32 ``[boundary, lane]``; split, ``[boundary, label]``;
    and the spread of the keys near each token and boundary, uint8 ``[layer, {token, boundary}, index]``.
    ``tokens[layer, i]`` is the hash of token i - 1.
    """
    begin, end = np.zeros((n + 2, LANES), np.float32), np.zeros((n + 2, LANES), np.float32)
    pivot, split = np.zeros((n + 2, LANES), np.float32), np.zeros((n + 2, LABELS), np.float32)
    layers = tokens.shape[0]
    spread = np.empty((layers, 2, n + 2), np.uint8)
    keys, rows = np.empty(layers * (n + 2), np.uint64), np.empty(layers * (n + 2), np.uint64)

    weights, spreads = tables.token.weights, tables.token.spread
    _find_runs(tables.token.slots, weights, tokens, 1, keys, rows)
    for layer in range(layers):
        first = layer * (n + 2)
        for i in range(1, n + 1):
            row = rows[first + i]
            spread[layer, 0, i] = spreads[row]
            for lane in range(LANES):
                label = lane % LABELS
                begin[i, lane] += weights[row, LL_BEFORE + label]
                begin[i - 1, lane] += weights[row, LL + label] + weights[row, CONTEXT_LL + lane]
                end[i - 1, lane] += weights[row, RR_AFTER + label]
                end[i, lane] += weights[row, RR + label] + weights[row, CONTEXT_RR + lane]
                pivot[i - 1, lane] += weights[row, CONTEXT_RL + lane]
                pivot[i, lane] += weights[row, CONTEXT_LR + lane]
            for label in range(LABELS):
                split[i, label] += weights[row, LR + label]
                split[i - 1, label] += weights[row, RL + label]
        for lane in range(LANES):  # what stands beside the sentence
            begin[0, lane] += weights[rows[first], LL_BEFORE + lane % LABELS]
            end[n, lane] += weights[rows[first + n + 1], RR_AFTER + lane % LABELS]

    weights, spreads = tables.adjacent.weights, tables.adjacent.spread
    _find_runs(tables.adjacent.slots, weights, tokens, 2, keys, rows)
    for layer in range(layers):
        for i in range(n + 1):
            row = rows[layer * (n + 1) + i]
            spread[layer, 1, i] = spreads[row]
            for label in range(LABELS):
                split[i, label] += weights[row, MIDDLE + label]
            for lane in range(LANES):
                begin[i, lane] += weights[row, BEGIN + lane % LABELS]
                end[i, lane] += weights[row, END + lane % LABELS]

    weights = tables.trigram.weights
    _find_runs(tables.trigram.slots, weights, tokens, 3, keys, rows)
    for layer in range(layers):
        for i in range(n):
            row = rows[layer * n + i]
            for label in range(LABELS):
                split[i + 1, label] += weights[row, BEFORE_PIVOT + label]
                split[i, label] += weights[row, AFTER_PIVOT + label]
    return begin, end, pivot, split, spread


@inner
def _find_runs(slots, weights, tokens, length, keys, rows):
    """Find the rows of all runs of so many tokens, layer by layer."""
    count = 0
    for layer in range(tokens.shape[0]):
        for i in range(tokens.shape[1] + 1 - length):
            key = np.uint64(0)
            for k in range(length):
                key += MULTIPLIERS[k] * tokens[layer, i + k]
            keys[count] = key
            count += 1
    find_all(slots, weights, keys, count, rows)


@inner
def _add_to_spans(shape, n, begin, end, pivot, split, span):
    """Add what boundaries score to ``span``, and what the dense table scores by the context to ``pivot``."""
    for context in range(CONTEXTS):
        for label in range(LABELS):
            parent = shape[features.PARENT_LABEL + context // LABELS, label]
            parent = parent + shape[features.PARENT + context, label]
            for m in range(1, n):
                pivot[m, context * LABELS + label] += split[m, label] + parent
    for b in range(n - 1):
        for e in range(b + 2, n + 1):
            for lane in range(LANES):
                span[b, e, lane] += begin[b, lane] + end[e, lane]


@inner
def _add_pairs(slots, weights, tokens, n, spread, keys, rows, left, right, span):
    """Add the templates of two corners: tokens i <= j are two of Ll, Lr, Rl, Rr."""
    count = 0
    for layer in range(tokens.shape[0]):
        for i in range(n):
            home = M1 * tokens[layer, i + 1]
            for j in range(i, n):
                keys[count] = key_near(home + M2 * tokens[layer, j + 1], home, spread[layer, 0, i + 1])
                count += 1
    find_all(slots, weights, keys, count, rows)
    count = 0
    for _ in range(tokens.shape[0]):
        for i in range(n):
            for j in range(i, n):
                row = rows[count]
                count += 1
                for label in range(LABELS):
                    left[label, j + 1, i] += weights[row, LL_LR + label]
                    left[label, j, i] += weights[row, LL_RL + label]
                    right[j + 1, i + 1, label] += weights[row, LR_RR + label]
                    right[j + 1, i, label] += weights[row, RL_RR + label]
                for lane in range(LANES):
                    span[i, j + 1, lane] += (
                        weights[row, LL_RR + lane % LABELS] + weights[row, CONTEXT_LL_RR + lane]
                    )


@inner
def _add_triples(slots, weights, tokens, n, spread, keys, rows, left, right):
    """Add the templates of the tokens beside the split with the span's first, or its last.

    Leaves the rows in ``rows[(layer * (n - 1) + m - 1) * n + i]``, where i is b < m, or e - 1 >= m.
    """
    count = 0
    for layer in range(tokens.shape[0]):
        for m in range(1, n):
            home = M2 * tokens[layer, m] + M3 * tokens[layer, m + 1]
            for i in range(n):
                other = (M1 if i < m else M4) * tokens[layer, i + 1]
                keys[count] = key_near(home + other, home, spread[layer, 1, m])
                count += 1
    find_all(slots, weights, keys, count, rows)
    count = 0
    for _ in range(tokens.shape[0]):
        for m in range(1, n):
            for b in range(m):
                for label in range(LABELS):
                    left[label, m, b] += weights[rows[count], label]
                count += 1
            for e in range(m + 1, n + 1):
                for label in range(LABELS):
                    right[e, m, label] += weights[rows[count], label]
                count += 1


@inner
def _add_quads(slots, weights, tokens, n, spread, triples, node):
    """Add the template of all four corners, where both of its ``triples`` have rows.

    It is looked up once for all occurrences of its first and its last token on their sides.
    """
    size = MANY_QUADS + n * n // 4
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
            if count >= MANY_QUADS:
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


@entry_point
def shape_scores(weights, max_tokens):
    """Return what a node of at most that many tokens scores by the sizes of its children, by the dense table.

    They are float32 ``[label, size of the right child, max_tokens - size of the left]``, and a vector more.
    """
    scores = np.empty((LABELS, max_tokens + 1, max_tokens + VECTOR), np.float32)
    for right in range(1, max_tokens):
        for left in range(1, max_tokens + 1 - right):
            balance, size, child_sizes = size_rows(left, right)
            for label in range(LABELS):
                scores[label, right, max_tokens - left] = (
                    weights[features.BIAS, label]
                    + weights[size, label]
                    + weights[balance, label]
                    + weights[child_sizes, label]
                )
    return scores


@numba.njit(inline="always")
def size_rows(left, right):
    """Return the rows of the balance of two children, of their node's size, and of both of theirs."""
    most = features.MAX_CHILD_SIZE
    return (
        features.BALANCE + (0 if right < left else 1 if right > left else 2),
        features.SIZE + min(left + right, features.MAX_SIZE),
        features.CHILD_SIZES + (most + 1) * min(left, most) + min(right, most),
    )


@inner
def _set_shapes(shape, n, node):
    last = shape.shape[2] - VECTOR
    for label in range(LABELS):
        for e in range(2, n + 1):
            for m in range(1, e):
                # Vector by vector: what is beyond the last begin is set again with the next split.
                for b in range(0, m, VECTOR):
                    copy_vector(
                        node,
                        label * node.shape[1] + node_index(m, e) + b,
                        shape,
                        (label * shape.shape[1] + e - m) * shape.shape[2] + last - m + b,
                    )
