"""What a sentence's tokens score at single boundaries: the templates of adjacent tokens.

The loops index arrays that stand in local names: a slice, or a tuple of arrays handed on,
costs numba more than what is done here with it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from preorder.btg.grammar import CONTEXTS, LABELS, LANES
from preorder.compiled import inner
from preorder.methods.perceptron import features
from preorder.methods.perceptron.fast.table import find_all
from preorder.methods.perceptron.features import MULTIPLIERS, column

M1, M2, M3, _ = MULTIPLIERS

LL_BEFORE, LL, LR, RL, RR, RR_AFTER = (
    column("token", name) for name in ("Ll-", "Ll", "Lr", "Rl", "Rr", "Rr+")
)
CONTEXT_LL, CONTEXT_LR, CONTEXT_RL, CONTEXT_RR = (
    column("token", name, context=True) for name in ("Ll", "Lr", "Rl", "Rr")
)
BEGIN, MIDDLE, END = (column("adjacent", name) for name in ("Ll-&Ll", "Lr&Rl", "Rr&Rr+"))
BEFORE_PIVOT, AFTER_PIVOT = (column("trigram", name) for name in ("Lr-&Lr&Rl", "Lr&Rl&Rl+"))


class Boundaries(NamedTuple):
    """What a node scores at each boundary where it begins, ends or splits, float32."""

    begin: np.ndarray  # [boundary, lane]
    end: np.ndarray  # [boundary, lane]
    pivot: np.ndarray  # [boundary, lane], what a split scores by the context
    split: np.ndarray  # [boundary, label], what it scores without


@inner
def allocate_boundaries(n):
    """Return zeros for the boundaries of n tokens."""
    return Boundaries(
        np.zeros((n + 2, LANES), np.float32),
        np.zeros((n + 2, LANES), np.float32),
        np.zeros((n + 2, LANES), np.float32),
        np.zeros((n + 2, LABELS), np.float32),
    )


@inner
def add_boundaries(tables, tokens, n, keys, rows, boundaries):
    """Fill ``boundaries``, zeros, by all templates that look at the tokens around one boundary.

    ``keys`` and ``rows``, uint64, are scratch for ``layers * (n + 2)``; the rest is as in ``score_sentence``.

    Returns:
        The spread of the keys near each token and each boundary: uint8 ``[layer, {token, boundary}, index]``.
    """
    begin, end, pivot, split = boundaries
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
def add_to_spans(shape, n, boundaries, span):
    """Add what boundaries score to the ``span`` of :class:`preorder.btg.scores.Scores`.

    To their ``pivot``, which is its ``pivot``, add what ``shape``, the dense table, scores by the context.
    """
    begin, end, pivot, split = boundaries
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
