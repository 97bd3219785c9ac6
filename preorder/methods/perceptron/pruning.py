"""Leave out of a model what adds least to its scores.

What a weight adds is its size, as often as its feature is found: in the text that was learned from. Most
features occur in one sentence of it alone, and on other text are never found.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from preorder.learning.encode import Batch
from preorder.methods.perceptron.fast.uses import Uses, count_uses, no_uses
from preorder.methods.perceptron.features import PAIR, QUAD, TABLE_NAMES, TRIPLE
from preorder.methods.perceptron.parse import in_chunks
from preorder.methods.perceptron.weights import Weights

MOST_WEIGHTS = 3_000_000
"""Of a model; beyond these, all further ones change the tau on other text by less than .001."""

TOKEN, ADJACENT = map(TABLE_NAMES.index, ("token", "adjacent"))


def pruned(
    weights: Weights, text: Batch, threads: int, initial: Weights | None = None, most: int = MOST_WEIGHTS
) -> Weights:
    """Return at most so many of a model's weights, and only rows that are needed to find them.

    Args:
        weights: all of them, those of the dense table not counted.
        text: what was learned from.
        threads: to read the text with; the result does not depend on them.
        initial: what training began from, whose rows are kept: they were learned from another text.
        most: weights to keep, of other rows than the initial ones.
    """
    tables = weights.tables()
    uses = no_uses(tables)
    in_chunks(partial(count_uses, tables, text, uses), text.lengths.size, threads)
    tables = None
    kept = [np.zeros(k.size, np.bool_) for k in weights.keys]
    if initial is not None:
        kept = [np.isin(*keys) for keys in zip(weights.keys, initial.keys, strict=True)]
    rows = _greatest(weights.rows, uses, kept, most)
    needed = _needed([r.any(axis=1) | k for r, k in zip(rows, kept, strict=True)], uses)
    parts = zip(weights.keys, rows, weights.spread, needed, strict=True)
    return Weights.of(*zip(*((k[n], r[n], s[n]) for k, r, s, n in parts), strict=True), weights.shape)


def _greatest(
    rows: tuple[np.ndarray, ...], uses: Uses, kept: list[np.ndarray], most: int
) -> list[np.ndarray]:
    """Return the rows with those of their weights that add most; all weights of the rows that are kept."""
    ranks = [
        np.where(k[:, None] & (r != 0), np.float32(np.inf), np.abs(r) * counts[1:, None].astype(np.float32))
        for r, counts, k in zip(rows, uses[: len(rows)], kept, strict=True)
    ]
    free = np.concatenate([rank[~k][r[~k] != 0] for rank, r, k in zip(ranks, rows, kept, strict=True)])
    least = np.partition(free, free.size - most - 1)[free.size - most - 1] if free.size > most else 0
    return [np.where(rank > least, r, 0) for rank, r in zip(ranks, rows, strict=True)]


def _needed(kept: list[np.ndarray], uses: Uses) -> list[np.ndarray]:
    """Return the rows that are kept, and those that they are found through: bool ``[rows]`` each."""
    needed = [np.concatenate(([False], k)) for k in kept]
    for table, home, through in (
        (QUAD, TRIPLE, uses.first_of_quad),
        (QUAD, TRIPLE, uses.last_of_quad),
        (QUAD, ADJACENT, uses.adjacent_of_quad),
        (TRIPLE, ADJACENT, uses.adjacent_of_triple),
        (PAIR, TOKEN, uses.token_of_pair),
    ):
        needed[home][through[needed[table]]] = True
    return [rows[1:] for rows in needed]
