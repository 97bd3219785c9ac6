"""What two tokens far apart score: the templates of a span's ends, and of a split and one end."""

from __future__ import annotations

from preorder.btg.grammar import LABELS, LANES
from preorder.compiled import inner
from preorder.methods.perceptron.fast.table import find_all, key_near
from preorder.methods.perceptron.features import MULTIPLIERS, column

M1, M2, M3, M4 = MULTIPLIERS

LL_LR, LL_RL, LR_RR, RL_RR, LL_RR = (
    column("pair", name) for name in ("Ll&Lr", "Ll&Rl", "Lr&Rr", "Rl&Rr", "Ll&Rr")
)
CONTEXT_LL_RR = column("pair", "Ll&Rr", context=True)


@inner
def find_pairs(slots, weights, tokens, n, spread, keys, rows):
    """Find the ``rows`` of tokens i <= j: of each layer, of each i, of each j."""
    count = 0
    for layer in range(tokens.shape[0]):
        for i in range(n):
            home = M1 * tokens[layer, i + 1]
            for j in range(i, n):
                keys[count] = key_near(home + M2 * tokens[layer, j + 1], home, spread[layer, 0, i + 1])
                count += 1
    find_all(slots, weights, keys, count, rows)


@inner
def find_triples(slots, weights, tokens, n, spread, keys, rows):
    """Find the ``rows[(layer * (n - 1) + m - 1) * n + i]`` of triples, where i is b < m, or e - 1 >= m."""
    count = 0
    for layer in range(tokens.shape[0]):
        for m in range(1, n):
            home = M2 * tokens[layer, m] + M3 * tokens[layer, m + 1]
            for i in range(n):
                other = (M1 if i < m else M4) * tokens[layer, i + 1]
                keys[count] = key_near(home + other, home, spread[layer, 1, m])
                count += 1
    find_all(slots, weights, keys, count, rows)


@inner
def add_pairs(slots, weights, tokens, n, spread, keys, rows, left, right, span):
    """Add the templates of two corners: tokens i and j are two of Ll, Lr, Rl, Rr."""
    find_pairs(slots, weights, tokens, n, spread, keys, rows)
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
def add_triples(slots, weights, tokens, n, spread, keys, rows, left, right):
    """Add the templates of the tokens beside the split with the span's first, or its last.

    Leaves the rows of :func:`find_triples`.
    """
    find_triples(slots, weights, tokens, n, spread, keys, rows)
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
