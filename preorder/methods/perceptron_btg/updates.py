"""Learning from a part of a corpus, compiled: threads solve a minibatch, then update the tables.

They take their tasks, each of some 20 µs, from a queue inside the compiled code: a task costs two atomic
additions. A thread that the system suspends delays only the threads that wait for its task.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.core import types
from numba.extending import intrinsic

from preorder.btg.constraint import group_bounds, penalise, violations
from preorder.btg.grammar import NODE_FIELDS, ROOT_CONTEXT
from preorder.btg.scores import FORBIDDEN
from preorder.btg.viterbi import best_tree
from preorder.compiled import entry_point, inner
from preorder.learning.encode import Batch
from preorder.methods.perceptron_btg.difference import (
    DENSE,
    TABLE_COUNT,
    TEMPLATE_COUNTS,
    Differences,
    allocate_counter,
    allocate_differences,
    count_difference,
)
from preorder.methods.perceptron_btg.scorer import score_sentence, shape_scores
from preorder.methods.perceptron_btg.table import AVERAGE_EXPONENT, find, insert, prefetch
from preorder.methods.registry import PerceptronOptions

TOLERANCE = 1e-5  # a loss below is a rounding error of a margin that is reached exactly


class TrainingBatch(NamedTuple):
    """Sentences to learn from, in their order, how to learn, and what comes of it."""

    chosen: np.ndarray  # int64, their indices in the corpus
    corpus: Batch
    groups: np.ndarray  # of the corpus: where each token belongs, one sentence after another
    seen: int  # sentences learned from before, each as often as it was
    cost: float  # this one and the next two: see the options
    aggressiveness: float
    minibatch: int
    turns: np.ndarray  # int64, indices of chosen in the order of solving: by minibatch, the long ones first
    wrong: np.ndarray  # bool, filled: whether the prediction has a loss
    updates: np.ndarray  # int64, filled: how many weights were changed
    differences: Differences  # of one minibatch, filled where wrong


def training_batch(
    chosen: np.ndarray, corpus: Batch, groups: np.ndarray, seen: int, options: PerceptronOptions
) -> TrainingBatch:
    """Return a training batch with nothing learned yet."""
    lengths, minibatch = corpus.lengths[chosen], options.minibatch
    turns = np.lexsort((-lengths, np.arange(chosen.size) // minibatch))
    wrong, updates = np.zeros(chosen.size, np.bool_), np.zeros(chosen.size, np.int64)
    differences = allocate_differences(lengths, len(corpus.tokens), minibatch)
    how = (options.cost, options.aggressiveness, minibatch)
    return TrainingBatch(chosen, corpus, groups, seen, *how, turns, wrong, updates, differences)


@entry_point
def max_new_rows(batch, begin):
    """Return how many rows each table but the dense one may need for the minibatch from ``begin``."""
    nodes = 0
    for sentence in batch.chosen[begin : begin + batch.minibatch]:
        nodes += 2 * (batch.corpus.lengths[sentence] - 1)
    return nodes * batch.corpus.tokens.shape[0] * TEMPLATE_COUNTS


@entry_point
def learn(queue, tables, weights, batch, begin):
    """Learn from ``batch.chosen[begin:]``, together with other threads that call this with the same queue.

    Changes ``tables``, of which ``weights`` are views, and fills the batch. The least of what the threads
    return is how many sentences are done: all that the tables have rows for.
    """
    chosen, minibatch = batch.chosen, batch.minibatch
    longest = 2
    for sentence in chosen:
        longest = max(longest, batch.corpus.lengths[sentence])
    counter = allocate_counter(longest, batch.corpus.tokens.shape[0])
    trees = np.empty((2, longest, NODE_FIELDS), np.int32)
    rows = np.empty(counter.used.size + longest * DENSE, np.int64)
    shape = np.empty((0, 0, 0), np.float32)
    current = -1
    while True:
        # Tasks of a minibatch: first to solve each of its sentences, then to update each table.
        ticket = _add(queue, DRAWN, 1)
        task = ticket % (minibatch + TABLE_COUNT)
        first = begin + ticket // (minibatch + TABLE_COUNT) * minibatch
        last = min(first + minibatch, chosen.size)
        if first >= chosen.size:
            return chosen.size
        if not _wait_for(queue, ticket - task + (minibatch if task >= minibatch else 0)):
            return first
        if task >= minibatch:
            which = task - minibatch
            _update(tables[which], which, batch, first, last, rows)
        elif first + task < last:
            if first != current:
                more, lacking = max_new_rows(batch, first), 0
                for which in range(DENSE):
                    lacking += tables[which].used[0] + more[which] > tables[which].keys.size
                if lacking:
                    _add(queue, STOPPED, 1)
                    return first
                current, shape = first, shape_scores(weights.shape, longest)
            _solve(weights, shape, batch, batch.turns[first + task], counter, trees)
        _add(queue, DONE, 1)


@inner
def _solve(weights, shape, batch, k, counter, trees):
    """Find prediction and oracle of sentence ``chosen[k]``, and how they differ, times the step to take."""
    sentence, differences = batch.chosen[k], batch.differences
    n, start = batch.corpus.lengths[sentence], batch.corpus.starts[sentence]
    offset = start - sentence - 1
    tokens = batch.corpus.tokens[:, start - 1 : start + n + 1]
    scores, spread = score_sentence(weights, shape, tokens, n)
    bounds = group_bounds(batch.groups[offset : offset + n])
    predicted, oracle = trees[0, : n - 1], trees[1, : n - 1]
    penalise(bounds, n, np.float32(batch.cost), scores.node)
    loss = best_tree(scores, n, ROOT_CONTEXT, predicted)
    # A prediction without violations is the best of the valid trees, too.
    if violations(bounds, predicted) == 0:
        return
    penalise(bounds, n, FORBIDDEN, scores.node)
    loss -= best_tree(scores, n, ROOT_CONTEXT, oracle)
    if loss <= TOLERANCE:
        return
    batch.wrong[k] = True
    square = count_difference(differences, k, counter, tokens, spread, oracle, predicted)
    step = np.float32(min(batch.aggressiveness, loss / max(square, 1)))
    for i in range(differences.starts[k], differences.ends[k, DENSE]):
        differences.change[i] *= step
    batch.updates[k] = differences.ends[k, DENSE] - differences.starts[k]


@inner
def _update(table, which, batch, begin, end, rows):
    """Change table ``which``, which has room, by the differences of the sentences from begin to end."""
    differences = batch.differences
    slots, weights, changes, keys = table.slots, table.weights, table.changes, table.keys
    width = weights.shape[1]
    column, change = differences.column, differences.change
    mask = np.uint64(slots.size - 1)
    for s in range(begin, end):
        if not batch.wrong[s]:
            continue
        first = differences.ends[s, which - 1] if which else differences.starts[s]
        last = differences.ends[s, which]
        if which == DENSE:
            for i in range(first, last):
                rows[i - first] = differences.key[i]
        else:
            for i in range(first, last):
                prefetch(slots, np.int64(differences.key[i] & mask))
            for i in range(first, last):
                key = differences.key[i]
                row = find(slots, key)
                if row == 0:
                    row = table.used[0]
                    table.used[0] += 1
                    keys[row] = key
                    insert(slots, key, row)
                rows[i - first] = row
                prefetch(weights, row * width + column[i])
                prefetch(changes, row * width + column[i])
        passes = (batch.seen + s) / batch.corpus.lengths.size  # over the corpus, until now
        before = np.float32(passes**AVERAGE_EXPONENT)
        for i in range(first, last):
            weights[rows[i - first], column[i]] += change[i]
            changes[rows[i - first], column[i]] += change[i] * before


DRAWN, DONE, STOPPED, QUEUE = 0, 8, 16, 24
"""Indices of counts, each on its own cache line: tasks drawn, tasks done, reasons to stop waiting; and the
size of a queue, int64. A new queue is all 0."""

_MAX_LOOKS = 200  # at a count, before the processor is left to others

_yield_processor = types.ExternalFunction("sched_yield", types.int32())


@intrinsic
def _add(typing_context, array, index, value):  # noqa: ARG001
    """Add to a count, atomically; return what it was: of ``DRAWN``, the number of the next task, from 0."""

    def codegen(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.atomic_rmw("add", builder.gep(data, [arguments[1]]), arguments[2], "seq_cst")

    return types.int64(array, types.int64, types.int64), codegen


@intrinsic
def _look(typing_context, array, index):  # noqa: ARG001
    """Load an item of an int64 array atomically; other threads keep its cache line."""

    def codegen(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.load_atomic(builder.gep(data, [arguments[1]]), "seq_cst", 8)

    return types.int64(array, types.int64), codegen


@inner
def _wait_for(queue, tasks):
    """Wait until the first so many tasks are done; say whether they are, or the queue was stopped."""
    looks = 0
    while _look(queue, DONE) < tasks:
        if _look(queue, STOPPED) > 0:
            return False
        looks += 1
        if looks > _MAX_LOOKS:
            _yield_processor()
    return True
