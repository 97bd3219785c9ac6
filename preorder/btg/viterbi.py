"""The best BTG tree of a sentence, exactly: Viterbi over (span, context), O(n³).

With a penalty on nodes that violate a constraint, it finds the best tree that the constraint allows, too.
"""

from __future__ import annotations

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from preorder.btg.grammar import INVERTED, LABELS, NODE_FIELDS, ROOT_CONTEXT, STRAIGHT
from preorder.btg.scores import VECTOR, allocate_scores, check_finite, node_index, set_parts
from preorder.compiled import entry_point, inner

LOWEST = np.float32(-np.inf)

INNER_LANES = ROOT_CONTEXT * LABELS  # of all contexts but the root

LEAF = (np.float32(0), np.float32(0)), (np.float32(0), np.float32(0))


def best_trees(parts: np.ndarray, root: int = ROOT_CONTEXT) -> np.ndarray:
    """Return the best trees of equally long sentences: int32 ``[batch, n - 1, NODE_FIELDS]``.

    The parts are float32 ``[batch, PARTS, LABELS, n + 1, n + 1]``; ``root`` is the context of the whole.
    """
    check_finite(parts)
    return _best_trees(parts, root)


@entry_point
def _best_trees(parts, root):
    n = parts.shape[-1] - 1
    trees = np.empty((parts.shape[0], n - 1, NODE_FIELDS), np.int32)
    scores = allocate_scores(n)
    for sentence in range(parts.shape[0] if n > 1 else 0):
        set_parts(parts[sentence], scores)
        best_tree(scores, n, root, trees[sentence])
    return trees


@inner
def best_tree(scores, n, root, nodes):
    """Find the best tree of n >= 2 tokens by its ``Scores`` and return its score.

    ``nodes``, int32 ``[n - 1, NODE_FIELDS]``, are filled. Of equal choices it takes straight, then leftmost.
    """
    left, right = best_scores(scores, n)
    node, span, pivot = scores.node, scores.span, scores.pivot
    stack = np.empty((n + 1, 3), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, n, root
    depth, count = 1, 0
    total = np.float32(0)
    while depth:
        depth -= 1
        b, e, context = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        best, split, chosen = LOWEST, b + 1, STRAIGHT  # kept if no score is a number
        for label in range(LABELS):
            lane = context * LABELS + label
            for m in range(b + 1, e):
                score = node[label, node_index(m, e) + b] + left[label, m, b] + right[e, m, label]
                score = score + pivot[m, lane] + span[b, e, lane]
                if score > best:
                    best, split, chosen = score, m, label
        if count == 0:
            total = best
        nodes[count, 0], nodes[count, 1], nodes[count, 2] = b, split, e
        nodes[count, 3], nodes[count, 4] = chosen, context
        count += 1
        if e - split > 1:
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = split, e, chosen * 2 + 1
            depth += 1
        if split - b > 1:
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = b, split, chosen * 2
            depth += 1
    return total


@inner
def best_scores(scores, n):
    """Return how well spans score as left children, ``[parent's label, m, b]``, and right, ``[e, m, label]``.

    Spans are visited by their end, and for each end from the last begin to the first. Once a span's best
    score is known, it raises the scores of the spans whose right child it is, a vector of begins at a time.
    """
    node, span, pivot = scores.node, scores.span, scores.pivot
    left = np.empty((LABELS, n + 1, n + VECTOR), np.float32)
    right = np.empty((n + 1, n + 1, LABELS), np.float32)
    best = np.empty((n + VECTOR) * INNER_LANES, np.float32)  # [block of begins, lane, begin]
    for e in range(1, n + 1):
        best[:] = LOWEST
        for m in range(e - 1, -1, -1):
            first, second = _best_child(best, span, m, e) if m < e - 1 else LEAF
            left[STRAIGHT, e, m] = first[0] + scores.left[STRAIGHT, e, m]
            left[INVERTED, e, m] = first[1] + scores.left[INVERTED, e, m]
            right[e, m, STRAIGHT] = straight = second[0] + scores.right[e, m, STRAIGHT]
            right[e, m, INVERTED] = inverted = second[1] + scores.right[e, m, INVERTED]
            lanes = (pivot[m, 0], pivot[m, 1], pivot[m, 2], pivot[m, 3])
            more = (pivot[m, 4], pivot[m, 5], pivot[m, 6], pivot[m, 7])
            row, child = node_index(m, e), m * left.shape[2]
            inverse = row + node.shape[1], child + left.shape[1] * left.shape[2]
            for b in range(0, m, VECTOR):
                raise_best(best, b, node, left, ((row, child), inverse), (straight, inverted), lanes + more)
    return left, right


@numba.njit(inline="always")
def _best_child(best, span, b, e):
    """Return the best score of a span as left child and as right child, of a parent of each label."""
    first = b // VECTOR * VECTOR * INNER_LANES + b % VECTOR
    lane0 = best[first] + span[b, e, 0]
    lane1 = best[first + VECTOR] + span[b, e, 1]
    lane2 = best[first + 2 * VECTOR] + span[b, e, 2]
    lane3 = best[first + 3 * VECTOR] + span[b, e, 3]
    lane4 = best[first + 4 * VECTOR] + span[b, e, 4]
    lane5 = best[first + 5 * VECTOR] + span[b, e, 5]
    lane6 = best[first + 6 * VECTOR] + span[b, e, 6]
    lane7 = best[first + 7 * VECTOR] + span[b, e, 7]
    return (max(lane0, lane1), max(lane4, lane5)), (max(lane2, lane3), max(lane6, lane7))


@inner
def positions_of(nodes, positions):
    """Write where each token of a tree goes, ``positions[i]``; ``nodes`` has parents before children."""
    positions[0] = 0  # first position of the span that begins at a token, as far as it is split
    for k in range(nodes.shape[0]):
        b, m, e = nodes[k, 0], nodes[k, 1], nodes[k, 2]
        first = positions[b]
        if nodes[k, 3] == INVERTED:
            positions[b], positions[m] = first + e - m, first
        else:
            positions[m] = first + m - b


@entry_point
def all_positions(trees, n):
    """Return where each of n tokens goes in each tree: int32 ``[tree, token]``."""
    positions = np.empty((trees.shape[0], n), np.int32)
    for tree in range(trees.shape[0] if n else 0):
        positions_of(trees[tree], positions[tree])
    return positions


# Operations on vectors, which the compiler does not find by itself.

_VECTOR_TYPE = ir.VectorType(ir.FloatType(), VECTOR)
_ALIGNMENT = 4  # bytes; vectors begin anywhere
_WIDE = ir.IntType(64)


def _address(context, builder, signature, arguments, k, index):
    data = context.make_array(signature.args[k])(context, builder, arguments[k]).data
    return builder.bitcast(builder.gep(data, [index]), _VECTOR_TYPE.as_pointer())


def _load(builder, address):
    vector = builder.load(address)
    vector.align = _ALIGNMENT
    return vector


@intrinsic
def copy_vector(typing_context, target, to, source, index):  # noqa: ARG001
    """Copy a vector between float32 arrays, by flat indices."""

    def codegen(context, builder, signature, arguments):
        address = _address(context, builder, signature, arguments, 0, arguments[1])
        vector = _load(builder, _address(context, builder, signature, arguments, 2, arguments[3]))
        builder.store(vector, address).align = _ALIGNMENT
        return context.get_dummy_value()

    return types.void(target, to, source, index), codegen


@intrinsic
def raise_best(typing_context, best, first, rows, children, indices, added, lanes):  # noqa: ARG001
    """Raise the best scores of spans that end together, a vector of begins, by those with one more split.

    ``best = max(best, row + child + added + lane)``, where the labels take turns in the lanes. ``best`` is
    flat ``[vector, lane, VECTOR]``; ``first``, the least of the begins, a multiple of ``VECTOR``; ``indices``
    are of each label the flat indices of begin 0 in rows and children; ``added`` is of each label.
    """

    def codegen(context, builder, signature, arguments):
        def address(k, index):
            return _address(context, builder, signature, arguments, k, index)

        def everywhere(k, item):
            value = builder.extract_value(arguments[k], item)
            undefined = ir.Constant(_VECTOR_TYPE, ir.Undefined)
            first = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), VECTOR), [0] * VECTOR)
            return builder.shuffle_vector(first, undefined, zeros)

        scores, count = [], signature.args[6].count
        at = builder.mul(arguments[1], ir.Constant(_WIDE, count))
        for label in range(signature.args[5].count):
            row, child = (
                builder.add(builder.extract_value(arguments[4], [label, k]), arguments[1]) for k in range(2)
            )
            score = builder.fadd(_load(builder, address(2, row)), _load(builder, address(3, child)))
            scores.append(builder.fadd(score, everywhere(5, label)))
        for lane in range(count):
            kept = address(0, builder.add(at, ir.Constant(_WIDE, lane * VECTOR)))
            old = _load(builder, kept)
            new = builder.fadd(scores[lane % len(scores)], everywhere(6, lane))
            greater = builder.fcmp_ordered(">", new, old)
            builder.store(builder.select(greater, new, old), kept).align = _ALIGNMENT
        return context.get_dummy_value()

    return types.void(best, first, rows, children, indices, added, lanes), codegen
