"""Learning from a part of a corpus, compiled: threads solve a minibatch, then update the tables."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from preorder.btg.constraint import group_bounds, penalise, violations
from preorder.btg.grammar import NODE_FIELDS, ROOT
from preorder.btg.scores import FORBIDDEN
from preorder.btg.viterbi import best_tree
from preorder.compiled import entry_point, inner
from preorder.learning.encode import Batch
from preorder.methods.options import PerceptronOptions
from preorder.methods.perceptron.fast.difference import (
    DENSE,
    TABLE_COUNT,
    TEMPLATE_COUNTS,
    Differences,
    allocate_counter,
    allocate_differences,
    count_difference,
)
from preorder.methods.perceptron.fast.scores import score_sentence
from preorder.methods.perceptron.fast.shapes import shape_scores
from preorder.methods.perceptron.fast.update import update
from preorder.methods.perceptron.fast.work_queue import DONE, DRAWN, STOPPED, add, wait_for

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
    """Return a training batch that is still to be learned from."""
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
    """Learn from the sentences from ``begin`` on, together with other threads that call this.

    Args:
        queue: the :func:`work_queue` that the threads share.
        tables: :class:`preorder.methods.perceptron.fast.update.Growing` each; changed.
        weights: views of the same, as :class:`preorder.methods.perceptron.fast.table.Tables`.
        batch: the :class:`TrainingBatch`; filled.
        begin: index of the first sentence, in ``batch.chosen``.

    Returns:
        How many sentences are done, the least of what the threads return: all, or only the first, where
        a table may have too few rows left for the next minibatch.
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
        ticket = add(queue, DRAWN, 1)
        task = ticket % (minibatch + TABLE_COUNT)
        first = begin + ticket // (minibatch + TABLE_COUNT) * minibatch
        last = min(first + minibatch, chosen.size)
        if first >= chosen.size:
            return chosen.size
        if not wait_for(queue, ticket - task + (minibatch if task >= minibatch else 0)):
            return first
        if task >= minibatch:
            which = task - minibatch
            update(tables[which], which, batch, first, last, rows)
        elif first + task < last:
            if first != current:
                if not _have_room(tables, max_new_rows(batch, first)):
                    add(queue, STOPPED, 1)
                    return first
                current, shape = first, shape_scores(weights.shape, longest)
            _solve(weights, shape, batch, batch.turns[first + task], counter, trees)
        add(queue, DONE, 1)


@inner
def _have_room(tables, more):
    lacking = 0
    for which in range(DENSE):
        lacking += tables[which].used[0] + more[which] > tables[which].keys.size
    return lacking == 0


@inner
def _solve(weights, shape, batch, k, counter, trees):
    """Find prediction and oracle of sentence ``chosen[k]``, and how they differ, times the step to take.

    ``shape`` are the ``shape_scores`` of the weights; ``counter`` and ``trees`` are scratch.
    """
    sentence, differences = batch.chosen[k], batch.differences
    n, start = batch.corpus.lengths[sentence], batch.corpus.starts[sentence]
    offset = start - sentence - 1
    tokens = batch.corpus.tokens[:, start - 1 : start + n + 1]
    scores, spread = score_sentence(weights, shape, tokens, n)
    bounds = group_bounds(batch.groups[offset : offset + n])
    predicted, oracle = trees[0, : n - 1], trees[1, : n - 1]
    penalise(bounds, n, np.float32(batch.cost), scores.node)
    loss = best_tree(scores, n, ROOT, predicted)
    # A prediction without violations is the best of the valid trees, too.
    if violations(bounds, predicted) == 0:
        return
    penalise(bounds, n, FORBIDDEN, scores.node)
    loss -= best_tree(scores, n, ROOT, oracle)
    if loss <= TOLERANCE:
        return
    batch.wrong[k] = True
    square = count_difference(differences, k, counter, tokens, spread, oracle, predicted)
    step = np.float32(min(batch.aggressiveness, loss / max(square, 1)))
    for i in range(differences.starts[k], differences.ends[k, DENSE]):
        differences.change[i] *= step
    batch.updates[k] = differences.ends[k, DENSE] - differences.starts[k]
