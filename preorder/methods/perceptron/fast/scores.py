"""Scores of all nodes of a sentence.

A node's score is a sum over its templates, and each template looks at two of begin, split
and end, or fewer, but for the one that joins all four corners. So with O(n²) look-ups::

    score(b, m, e, label, context) = node(b, m, e, label) + left(b, m, label) + right(m, e, label)
                                   + span(b, e, context, label) + pivot(m, context, label)
    node(b, m, e, label) = shape(e - m, m - b, label) + quad(b, m, e, label)

A quadruple has a row in its table only where the two triples within it, known already, have
theirs, and it is looked up once for all places of its first and its last token: that leaves few.

The loops index arrays that stand in local names: a slice, or a tuple of arrays handed on,
costs numba more than what is done here with it.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from preorder.btg.vector import BLOCK, copy_block
from preorder.compiled import entry_point, inner
from preorder.methods.perceptron import features
from preorder.methods.perceptron.fast.table import Table, find_all, key_near
from preorder.methods.perceptron.features import CONTEXTS, LABELS, MULTIPLIERS, column


class Tables(NamedTuple):
    """The weights of a model: one table a shape of features, and the dense ones, ``[SHAPES, LABELS]``."""

    token: Table
    adjacent: Table
    trigram: Table
    pair: Table
    triple: Table
    quad: Table
    shape: np.ndarray


class Scores(NamedTuple):
    """The parts of the scores of one sentence of n tokens; b, m, e from 0 to n.

    A lane is a context and a label: ``context * LABELS + label``.

    Attributes:
        node: ``[label, node_index(m, e) + b]``, and a vector more.
        left: ``[label, m, b]``.
        right: ``[e, m, label]``.
        span: ``[b, e, lane]``.
        pivot: ``[m, lane]``.
        spread: of the keys near each token and each split: ``[layer, {token, split}, place]``.
    """

    node: np.ndarray
    left: np.ndarray
    right: np.ndarray
    span: np.ndarray
    pivot: np.ndarray
    spread: np.ndarray


@numba.njit(inline="always")
def node_index(m, e):
    """Return where the nodes stand that split at m and end at e, by their begin, from 0 to m - 1."""
    return e * (e - 1) * (e - 2) // 6 + m * (m - 1) // 2


LANES = CONTEXTS * LABELS

M1, M2, M3, M4 = MULTIPLIERS

LL_BEFORE, LL, LR, RL, RR, RR_AFTER = (
    column("token", name) for name in ("Ll-", "Ll", "Lr", "Rl", "Rr", "Rr+")
)
CONTEXT_LL, CONTEXT_LR, CONTEXT_RL, CONTEXT_RR = (
    column("token", name, context=True) for name in ("Ll", "Lr", "Rl", "Rr")
)
BEGIN, MIDDLE, END = (column("adjacent", name) for name in ("Ll-&Ll", "Lr&Rl", "Rr&Rr+"))
LL_LR, LL_RL, LR_RR, RL_RR, LL_RR = (
    column("pair", name) for name in ("Ll&Lr", "Ll&Rl", "Lr&Rr", "Rl&Rr", "Ll&Rr")
)
CONTEXT_LL_RR = column("pair", "Ll&Rr", context=True)
BEFORE_PIVOT, AFTER_PIVOT = (column("trigram", name) for name in ("Lr-&Lr&Rl", "Lr&Rl&Rl+"))


# --- by shape alone ---


@entry_point
def shape_scores(weights, most):
    """Return what a node scores by its shape: ``[label, size of the right child, most - of the left]``."""
    scores = np.empty((LABELS, most + 1, most + BLOCK), np.float32)
    for right in range(1, most):
        for left in range(1, most + 1 - right):
            balance, child_sizes = balance_row(left, right), child_sizes_row(left, right)
            for label in range(LABELS):
                scores[label, right, most - left] = (
                    weights[features.BIAS, label]
                    + weights[size_row(left + right), label]
                    + weights[balance, label]
                    + weights[child_sizes, label]
                )
    return scores


@numba.njit(inline="always")
def balance_row(left, right):
    """Return the row of the balance of two children."""
    return features.BALANCE + (0 if right < left else 1 if right > left else 2)


@numba.njit(inline="always")
def size_row(size):
    """Return the row of a node's size."""
    return features.SIZE + min(size, features.MOST_TOKENS)


@numba.njit(inline="always")
def child_sizes_row(left, right):
    """Return the row of the sizes of two children."""
    most = features.MOST_CHILD
    return features.CHILD_SIZES + (most + 1) * min(left, most) + min(right, most)


# --- by tokens ---


class Places(NamedTuple):
    """What depends on one place: ``[place, lane]`` for begin, end and pivot, ``[split, label]`` for split."""

    begin: np.ndarray
    end: np.ndarray
    pivot: np.ndarray
    split: np.ndarray


@inner
def _no_places(n):
    return Places(
        np.zeros((n + 2, LANES), np.float32),
        np.zeros((n + 2, LANES), np.float32),
        np.zeros((n + 2, LANES), np.float32),
        np.zeros((n + 2, LABELS), np.float32),
    )


@inner
def score_sentence(tables, shape, tokens, n):
    """Return the :class:`Scores` of a sentence.

    O(n²) look-ups a layer, and one for each quadruple whose triples are known.

    Args:
        tables: the model.
        shape: its ``shape_scores``, up to n.
        tokens: uint64 hashes ``[layer, n + 2]``, what stands beside the sentence included.
        n: tokens of the sentence.
    """
    places = _no_places(n)
    node = np.empty((LABELS, n * (n - 1) * (n + 1) // 6 + BLOCK), np.float32)
    span = np.zeros((n + 1, n + 1, LANES), np.float32)
    left = np.zeros((LABELS, n + 1, n + 1), np.float32)
    right = np.zeros((n + 1, n + 1, LABELS), np.float32)
    most = tokens.shape[0] * (n + 2) * (n + 1)
    keys, rows = np.empty(most, np.uint64), np.empty(most, np.uint64)
    pair, triple, quad = tables.pair, tables.triple, tables.quad
    spread = _add_places(tables, tokens, n, keys, rows, places)
    _add_pairs(pair.slots, pair.weights, tokens, n, spread, keys, rows, left, right, span)
    _add_triples(triple.slots, triple.weights, tokens, n, spread, keys, rows, left, right)
    _set_shapes(shape, n, node)
    _add_quads(quad.slots, quad.weights, tokens, n, spread, rows, node)
    _spread(tables.shape, n, places.begin, places.end, places.split, span, places.pivot)
    return Scores(node, left, right, span, places.pivot, spread)


@inner
def split_scores(tables, tokens, n):
    """Return what straight scores more than inverted at each split, by what is next to it: ``[m]``; O(n)."""
    places = _no_places(n)
    most = tokens.shape[0] * (n + 2)
    _add_places(tables, tokens, n, np.empty(most, np.uint64), np.empty(most, np.uint64), places)
    return places.split[:, 0] - places.split[:, 1]


@inner
def _add_places(tables, tokens, n, keys, rows, places):
    """Add all templates that look at one place; return the spreads."""
    begin, end, pivot, split = places
    token, adjacent, trigram = tables.token, tables.adjacent, tables.trigram
    spread = np.empty((tokens.shape[0], 2, n + 2), np.uint8)
    _add_tokens(
        token.slots, token.weights, token.spread, tokens, n, keys, rows, begin, end, split, pivot, spread
    )
    _add_adjacent(
        adjacent.slots, adjacent.weights, adjacent.spread, tokens, n, keys, rows, begin, end, split, spread
    )
    _add_trigrams(trigram.slots, trigram.weights, tokens, n, keys, rows, split)
    return spread


@inner
def _add_tokens(slots, weights, spreads, tokens, n, keys, rows, begin, end, split, pivot, spread):
    """Add the templates of one token, i - 1; ``tokens[layer, i]`` is its hash."""
    layers, count = tokens.shape[0], 0
    for layer in range(layers):
        for i in range(n + 2):
            keys[count] = M1 * tokens[layer, i]
            count += 1
    find_all(slots, weights, keys, count, rows)
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


@inner
def _add_adjacent(slots, weights, spreads, tokens, n, keys, rows, begin, end, split, spread):
    """Add the templates of two adjacent tokens, i - 1 and i."""
    layers, count = tokens.shape[0], 0
    for layer in range(layers):
        for i in range(n + 1):
            keys[count] = M1 * tokens[layer, i] + M2 * tokens[layer, i + 1]
            count += 1
    find_all(slots, weights, keys, count, rows)
    for layer in range(layers):
        for i in range(n + 1):
            row = rows[layer * (n + 1) + i]
            spread[layer, 1, i] = spreads[row]
            for label in range(LABELS):
                split[i, label] += weights[row, MIDDLE + label]
            for lane in range(LANES):
                begin[i, lane] += weights[row, BEGIN + lane % LABELS]
                end[i, lane] += weights[row, END + lane % LABELS]


@inner
def _add_trigrams(slots, weights, tokens, n, keys, rows, split):
    """Add the templates of three adjacent tokens, i - 1, i and i + 1."""
    layers, count = tokens.shape[0], 0
    for layer in range(layers):
        for i in range(n):
            keys[count] = M1 * tokens[layer, i] + M2 * tokens[layer, i + 1] + M3 * tokens[layer, i + 2]
            count += 1
    find_all(slots, weights, keys, count, rows)
    for layer in range(layers):
        for i in range(n):
            row = rows[layer * n + i]
            for label in range(LABELS):
                split[i + 1, label] += weights[row, BEFORE_PIVOT + label]
                split[i, label] += weights[row, AFTER_PIVOT + label]


@inner
def _add_pairs(slots, weights, tokens, n, spread, keys, rows, left, right, span):
    """Add the templates of two corners: tokens i and j are two of Ll, Lr, Rl, Rr."""
    layers, count = tokens.shape[0], 0
    for layer in range(layers):
        for i in range(n):
            home = M1 * tokens[layer, i + 1]
            for j in range(i, n):
                keys[count] = key_near(home + M2 * tokens[layer, j + 1], home, spread[layer, 0, i + 1])
                count += 1
    find_all(slots, weights, keys, count, rows)
    count = 0
    for _ in range(layers):
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

    Leaves their ``rows[(layer * (n - 1) + m - 1) * n + i]``, where i is b < m, or e - 1 >= m.
    """
    layers, count = tokens.shape[0], 0
    for layer in range(layers):
        for m in range(1, n):
            home = M2 * tokens[layer, m] + M3 * tokens[layer, m + 1]
            for i in range(n):
                other = (M1 if i < m else M4) * tokens[layer, i + 1]
                keys[count] = key_near(home + other, home, spread[layer, 1, m])
                count += 1
    find_all(slots, weights, keys, count, rows)
    count = 0
    for _ in range(layers):
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
def _set_shapes(shape, n, node):
    """Set each node to what it scores by its shape."""
    last = shape.shape[2] - BLOCK
    for label in range(LABELS):
        for e in range(2, n + 1):
            for m in range(1, e):
                # Vector by vector: what is beyond the last begin is set again with the next split.
                for b in range(0, m, BLOCK):
                    copy_block(
                        node,
                        label * node.shape[1] + node_index(m, e) + b,
                        shape,
                        (label * shape.shape[1] + e - m) * shape.shape[2] + last - m + b,
                    )


MANY = 4096  # quadruples looked up at a time


@inner
def _add_quads(slots, weights, tokens, n, spread, triples, node):
    """Add the template of all four corners, where both of its ``triples`` have rows.

    A token that occurs several times on one side of a split is looked up once.
    """
    room = MANY + n * n // 4
    keys, rows, corners = np.empty(room, np.uint64), np.empty(room, np.uint64), np.empty((room, 4), np.int32)
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
                    corners[count, 0], corners[count, 1], corners[count, 2], corners[count, 3] = (
                        layer,
                        b,
                        m,
                        last,
                    )
                    count += 1
            if count >= MANY:
                _add_found(slots, weights, keys, count, rows, corners, after, node)
                count = 0
    _add_found(slots, weights, keys, count, rows, corners, after, node)


@inner
def _occurrences(tokens, n):
    """Return where each token occurs last before (-1: nowhere) and next after (n): ``[layer, place]``."""
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


@inner
def _spread(shape, n, begin, end, split, span, pivot):
    """Add what depends on one place, or on the parent alone, where it belongs."""
    for context in range(CONTEXTS):
        for label in range(LABELS):
            parent = (
                shape[features.PARENT_LABEL + context // LABELS, label]
                + shape[features.PARENT + context, label]
            )
            lane = context * LABELS + label
            for m in range(1, n):
                pivot[m, lane] += split[m, label] + parent
    for b in range(n - 1):
        for e in range(b + 2, n + 1):
            for lane in range(LANES):
                span[b, e, lane] += begin[b, lane] + end[e, lane]
