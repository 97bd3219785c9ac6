"""Scores of all nodes of a sentence, kept as sums of shared parts.

A node's score is a sum over its templates, and each template looks at two of begin, split
and end, or fewer, but for the one that joins all four corners. So with O(n²) look-ups::

    score(b, m, e, label, context) = left(b, m) + right(m, e) + span(b, e, context)
                                   + pivot(m, context) + shape(e - b, m - b) + quad(b, m, e)

A quadruple has a row in its table only where the triples within it, known already, have
theirs: the bits of ``prefixes`` and ``suffixes`` leave few splits to look up.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from preorder.btg import features
from preorder.btg.compiled import entry_point
from preorder.btg.features import CONTEXTS, LABELS, MULTIPLIERS, column
from preorder.btg.table import Table, find


class Tables(NamedTuple):
    """The weights of a model: one table a shape of features, and the dense ones, ``[SHAPES, LABELS]``."""

    token: Table
    adjacent: Table
    pair: Table
    trigram: Table
    prefix: Table
    suffix: Table
    quad: Table
    shape: np.ndarray


class Scores(NamedTuple):
    """The parts of the scores of one sentence of n tokens; b, m, e from 0 to n.

    Attributes:
        left: ``[label, b, m]``, and once a span's best score is known, with that of [b, m).
        right: ``[label, e, m]``, likewise with that of [m, e).
        span: ``[b, e, context, label]``.
        pivot: ``[context, label, m]``.
        prefixes, suffixes: bits over m, ``[layer, b, word]`` and ``[layer, e, word]``.
        quads: the parts of a quadruple's key: ``[layer, {b, m, e}, place]``.
    """

    left: np.ndarray
    right: np.ndarray
    span: np.ndarray
    pivot: np.ndarray
    prefixes: np.ndarray
    suffixes: np.ndarray
    quads: np.ndarray


M1, M2, M3, M4 = MULTIPLIERS

TOKEN_COLUMNS = tuple(column("token", name) for name in ("Ll-", "Ll", "Lr", "Rl", "Rr", "Rr+"))
LL_BEFORE, LL, LR, RL, RR, RR_AFTER = TOKEN_COLUMNS
CONTEXT_LL, CONTEXT_LR, CONTEXT_RL, CONTEXT_RR = (
    column("token", name, context=True) for name in ("Ll", "Lr", "Rl", "Rr")
)
BEGIN, MIDDLE, END = (column("adjacent", name) for name in ("Ll-&Ll", "Lr&Rl", "Rr&Rr+"))
LL_LR, LL_RL, LR_RR, RL_RR, LL_RR = (
    column("pair", name) for name in ("Ll&Lr", "Ll&Rl", "Lr&Rr", "Rl&Rr", "Ll&Rr")
)
CONTEXT_LL_RR = column("pair", "Ll&Rr", context=True)
BEFORE_PIVOT, AFTER_PIVOT = (column("trigram", name) for name in ("Lr-&Lr&Rl", "Lr&Rl&Rl+"))

EXACT = {"nnan", "nsz"}
"""Fast-math flags that let a maximum be vectorised, yet never change a sum."""


@intrinsic
def trailing_zeros(typing_context, value):  # noqa: ARG001
    """Return the number of zero bits below the lowest one of a non-zero uint64."""

    def codegen(context, builder, signature, arguments):  # noqa: ARG001
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), codegen


@entry_point
def shape_scores(weights, most):
    """Return what a node scores by its shape: ``[label, size, size of the left child]``."""
    scores = np.zeros((LABELS, most + 1, most + 1), np.float32)
    for label in range(LABELS):
        for size in range(2, most + 1):
            common = weights[features.BIAS, label] + weights[size_row(size), label]
            for left in range(1, size):
                scores[label, size, left] = (
                    common
                    + weights[balance_row(left, size - left), label]
                    + weights[child_sizes_row(left, size - left), label]
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


@numba.njit
def score_sentence(tables, tokens, n):
    """Return the :class:`Scores` of a sentence.

    O(n²) look-ups a layer.

    Args:
        tables: the model.
        tokens: uint64 hashes ``[layer, n + 2]``, what stands beside the sentence included.
        n: tokens of the sentence.
    """
    layers = tokens.shape[0]
    words = (n >> 6) + 1
    scores = Scores(
        np.zeros((LABELS, n + 1, n + 1), np.float32),
        np.zeros((LABELS, n + 1, n + 1), np.float32),
        np.zeros((n + 1, n + 1, CONTEXTS * LABELS), np.float32),
        np.zeros((CONTEXTS * LABELS, n + 1), np.float32),
        np.zeros((layers, n + 1, words), np.uint64),
        np.zeros((layers, n + 1, words), np.uint64),
        np.zeros((layers, 3, n + 1), np.uint64),
    )
    begin = np.zeros((n + 2, CONTEXTS * LABELS), np.float32)  # what depends on b alone
    end = np.zeros((n + 2, CONTEXTS * LABELS), np.float32)
    split = np.zeros((n + 2, LABELS), np.float32)
    for layer in range(layers):
        _add_tokens(tables.token, tokens[layer], n, begin, end, split, scores.pivot)
        _add_neighbours(tables.adjacent, tables.trigram, tokens[layer], n, begin, end, split)
        _add_pairs(tables.pair, tokens[layer], n, scores)
        _add_triples(tables.prefix, tables.suffix, tokens[layer], n, layer, scores)
    _spread(tables.shape, n, begin, end, split, scores)
    return scores


@numba.njit
def split_scores(tables, tokens, n):
    """Return what straight scores more than inverted at each split, by what is next to it: ``[m]``; O(n)."""
    begin = np.zeros((n + 2, CONTEXTS * LABELS), np.float32)
    end, split = np.zeros_like(begin), np.zeros((n + 2, LABELS), np.float32)
    pivot = np.zeros((CONTEXTS * LABELS, n + 1), np.float32)
    for layer in range(tokens.shape[0]):
        _add_tokens(tables.token, tokens[layer], n, begin, end, split, pivot)
        _add_neighbours(tables.adjacent, tables.trigram, tokens[layer], n, begin, end, split)
    return split[:, 0] - split[:, 1]


@numba.njit
def _add_tokens(table, tokens, n, begin, end, split, pivot):
    """Add the templates of one token; tokens[i + 1] is token i."""
    weights = table.weights
    for i in range(-1, n + 1):
        row = find(table.slots, M1 * tokens[i + 1])
        if row == 0:
            continue
        for label in range(LABELS):
            # Label by label: the plain templates count in every context.
            inside_begin = weights[row, LL + label]
            inside_end = weights[row, RR + label]
            before_begin = weights[row, LL_BEFORE + label]
            after_end = weights[row, RR_AFTER + label]
            for context in range(CONTEXTS):
                place = context * LABELS + label
                if i >= 0:
                    begin[i, place] += inside_begin + weights[row, CONTEXT_LL + place]
                    end[i, place] += after_end
                    end[i + 1, place] += inside_end + weights[row, CONTEXT_RR + place]
                begin[i + 1, place] += before_begin
            if i >= 0:
                split[i, label] += weights[row, RL + label]
            split[i + 1, label] += weights[row, LR + label]
        for place in range(CONTEXTS * LABELS):
            if 0 <= i <= n:
                pivot[place, i] += weights[row, CONTEXT_RL + place]
            if 0 <= i < n:
                pivot[place, i + 1] += weights[row, CONTEXT_LR + place]


@numba.njit
def _add_neighbours(adjacent, trigram, tokens, n, begin, end, split):
    """Add the templates of two and three adjacent tokens."""
    for i in range(n + 1):  # tokens i - 1 and i
        row = find(adjacent.slots, M1 * tokens[i] + M2 * tokens[i + 1])
        if row:
            for label in range(LABELS):
                split[i, label] += adjacent.weights[row, MIDDLE + label]
                for context in range(CONTEXTS):
                    begin[i, context * LABELS + label] += adjacent.weights[row, BEGIN + label]
                    end[i, context * LABELS + label] += adjacent.weights[row, END + label]
    for i in range(n):  # tokens i - 1, i and i + 1
        row = find(trigram.slots, M1 * tokens[i] + M2 * tokens[i + 1] + M3 * tokens[i + 2])
        if row:
            for label in range(LABELS):
                split[i + 1, label] += trigram.weights[row, BEFORE_PIVOT + label]
                split[i, label] += trigram.weights[row, AFTER_PIVOT + label]


@numba.njit
def _add_pairs(table, tokens, n, scores):
    """Add the templates of two corners: tokens i and j are two of Ll, Lr, Rl, Rr."""
    weights = table.weights
    for i in range(n):
        first = M1 * tokens[i + 1]
        for j in range(i, n):
            row = find(table.slots, first + M2 * tokens[j + 1])
            if row == 0:
                continue
            for label in range(LABELS):
                scores.left[label, i, j + 1] += weights[row, LL_LR + label]
                scores.left[label, i, j] += weights[row, LL_RL + label]
                scores.right[label, j + 1, i + 1] += weights[row, LR_RR + label]
                scores.right[label, j + 1, i] += weights[row, RL_RR + label]
                for context in range(CONTEXTS):
                    place = context * LABELS + label
                    scores.span[i, j + 1, place] += (
                        weights[row, LL_RR + label] + weights[row, CONTEXT_LL_RR + place]
                    )


@numba.njit
def _add_triples(prefix, suffix, tokens, n, layer, scores):
    """Add the templates of the split's two tokens with a third, and note where there are any."""
    quads = scores.quads[layer]
    one = np.uint64(1)
    for m in range(1, n):
        quads[1, m] = M2 * tokens[m] + M3 * tokens[m + 1]
    for i in range(n):
        quads[0, i] = M1 * tokens[i + 1]
        quads[2, i + 1] = M4 * tokens[i + 1]
    for m in range(1, n):
        word = m >> 6
        bit = one << np.uint64(m & 63)
        for b in range(m):
            row = find(prefix.slots, quads[0, b] + quads[1, m])
            if row:
                scores.prefixes[layer, b, word] |= bit
                for label in range(LABELS):
                    scores.left[label, b, m] += prefix.weights[row, label]
        first = M1 * tokens[m] + M2 * tokens[m + 1]
        for e in range(m + 1, n + 1):
            row = find(suffix.slots, first + M3 * tokens[e])
            if row:
                scores.suffixes[layer, e, word] |= bit
                for label in range(LABELS):
                    scores.right[label, e, m] += suffix.weights[row, label]


@numba.njit
def _spread(shape, n, begin, end, split, scores):
    """Add what depends on one place, or on the parent alone, where it belongs."""
    parent = np.empty(CONTEXTS * LABELS, np.float32)
    for context in range(CONTEXTS):
        for label in range(LABELS):
            parent[context * LABELS + label] = (
                shape[features.PARENT_LABEL + context // LABELS, label]
                + shape[features.PARENT + context, label]
            )
    for place in range(CONTEXTS * LABELS):
        for m in range(1, n):
            scores.pivot[place, m] += split[m, place % LABELS]
    for b in range(n):
        for e in range(b + 2, n + 1):
            for place in range(CONTEXTS * LABELS):
                scores.span[b, e, place] += begin[b, place] + end[e, place] + parent[place]


@numba.njit(fastmath=EXACT)
def node_scores(tables, shape, scores, b, e, out):
    """Score every split of a span, without what depends on its parent: ``out[label, m - b - 1]``."""
    size = e - b - 1
    for label in range(LABELS):
        left = scores.left[label, b, b + 1 : e]
        right = scores.right[label, e, b + 1 : e]
        shapes = shape[label, e - b, 1 : e - b]
        sums = out[label]
        for i in range(size):
            sums[i] = left[i] + right[i] + shapes[i]
    _add_quads(tables.quad, scores, b, e, out)


@numba.njit
def _add_quads(table, scores, b, e, out):
    """Add the template of all four corners, where its triples have rows."""
    one = np.uint64(1)
    first, last = b + 1, e - 1  # splits
    for layer in range(scores.prefixes.shape[0]):
        quads = scores.quads[layer]
        outer = quads[0, b] + quads[2, e]
        for word in range(first >> 6, (last >> 6) + 1):
            bits = scores.prefixes[layer, b, word] & scores.suffixes[layer, e, word]
            if word == first >> 6:
                bits &= ~np.uint64(0) << np.uint64(first & 63)
            if word == last >> 6:
                bits &= ~np.uint64(0) >> np.uint64(63 - (last & 63))
            while bits != np.uint64(0):
                m = (word << 6) + trailing_zeros(bits)
                bits &= bits - one
                row = find(table.slots, outer + quads[1, m])
                if row:
                    for label in range(LABELS):
                        out[label, m - b - 1] += table.weights[row, label]
