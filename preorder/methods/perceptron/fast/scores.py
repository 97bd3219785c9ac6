"""Scores of all nodes of a sentence, by a model's weights.

A node's score is a sum over its templates, and each looks at two of begin, split and end, or fewer, but for
the one that joins all four corners. So O(n²) look-ups do, and the sum has the terms of ``Scores``, where::

    node(b, m, e, label) = shape(e - m, m - b, label) + quad(b, m, e, label)
"""

from __future__ import annotations

import numpy as np

from preorder.btg.grammar import LABELS, LANES
from preorder.btg.scores import Scores, node_count
from preorder.btg.vector import VECTOR
from preorder.compiled import inner
from preorder.methods.perceptron.fast.boundaries import add_boundaries, add_to_spans, allocate_boundaries
from preorder.methods.perceptron.fast.quads import add_quads
from preorder.methods.perceptron.fast.shapes import set_shapes
from preorder.methods.perceptron.fast.spans import add_pairs, add_triples


@inner
def score_sentence(tables, shape, tokens, n):
    """Score a sentence: O(n²) look-ups a layer, and one for each quadruple whose triples are known.

    Args:
        tables: the model, :class:`preorder.methods.perceptron.fast.table.Tables`.
        shape: its ``shape_scores``, up to n.
        tokens: uint64 hashes ``[layer, n + 2]``, what stands beside the sentence included.
        n: tokens of the sentence.

    Returns:
        Its :class:`preorder.btg.scores.Scores`, and the spread of its keys: see :func:`add_boundaries`.
    """
    boundaries = allocate_boundaries(n)
    node = np.empty((LABELS, node_count(n) + VECTOR), np.float32)
    span = np.zeros((n + 1, n + 1, LANES), np.float32)
    left = np.zeros((LABELS, n + 1, n + 1), np.float32)
    right = np.zeros((n + 1, n + 1, LABELS), np.float32)
    size = tokens.shape[0] * (n + 2) * (n + 1)
    keys, rows = np.empty(size, np.uint64), np.empty(size, np.uint64)
    pair, triple, quad = tables.pair, tables.triple, tables.quad
    spread = add_boundaries(tables, tokens, n, keys, rows, boundaries)
    add_pairs(pair.slots, pair.weights, tokens, n, spread, keys, rows, left, right, span)
    add_triples(triple.slots, triple.weights, tokens, n, spread, keys, rows, left, right)
    set_shapes(shape, n, node)
    add_quads(quad.slots, quad.weights, tokens, n, spread, rows, node)
    add_to_spans(tables.shape, n, boundaries, span)
    return Scores(node, left, right, span, boundaries.pivot), spread


@inner
def split_scores(tables, tokens, n):
    """Return what straight scores more than inverted at each split, by what is next to it: ``[m]``; O(n)."""
    boundaries = allocate_boundaries(n)
    size = tokens.shape[0] * (n + 2)
    keys, rows = np.empty(size, np.uint64), np.empty(size, np.uint64)
    add_boundaries(tables, tokens, n, keys, rows, boundaries)
    return boundaries.split[:, 0] - boundaries.split[:, 1]
