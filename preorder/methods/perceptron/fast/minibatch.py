"""Learning from a part of a corpus, compiled: the threads of a team solve a minibatch, then update."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from preorder.btg.viterbi import FORBIDDEN, NODE_FIELDS, best_tree, group_bounds, penalise, violations
from preorder.compiled import entry_point, inner
from preorder.learning.encode import Batch
from preorder.methods.perceptron.fast.difference import (
    ENTRIES,
    SHAPE,
    TABLES,
    Differences,
    count_difference,
    new_counter,
    room_for,
)
from preorder.methods.perceptron.fast.scores import Tables, score_sentence, shape_scores
from preorder.methods.perceptron.fast.table import Table
from preorder.methods.perceptron.fast.threads import draw, finish, stop, wait_for
from preorder.methods.perceptron.fast.update import update
from preorder.methods.perceptron.features import ROOT

TOLERANCE = 1e-5  # a loss below is a rounding error of a margin that is reached exactly


class Lesson(NamedTuple):
    """Sentences to learn from, in their order, and what comes of it.

    Attributes:
        chosen: int64, their numbers in ``batch``.
        batch: the encoded corpus.
        groups, offsets: where each token belongs, and where each sentence's groups begin.
        minibatch: sentences solved under the same weights.
        turns: int64, the places in ``chosen`` in the order of solving: by minibatch, the long ones first.
        wrong: bool, filled: whether the prediction has a loss.
        updates: int64, filled: how many weights were changed.
        differences: of one minibatch, filled where wrong.
    """

    chosen: np.ndarray
    batch: Batch
    groups: np.ndarray
    offsets: np.ndarray
    minibatch: int
    turns: np.ndarray
    wrong: np.ndarray
    updates: np.ndarray
    differences: Differences


class Steps(NamedTuple):
    """How to learn.

    Attributes:
        cost, aggressiveness: see :class:`preorder.methods.perceptron.options.Options`.
        seen: sentences before the lesson, some of them again and again.
        all: sentences of the corpus, the unit of time.
    """

    cost: float
    aggressiveness: float
    seen: int
    all: int


def new_lesson(
    chosen: np.ndarray, batch: Batch, groups: np.ndarray, offsets: np.ndarray, minibatch: int
) -> Lesson:
    """Return a lesson that is still to be learned from."""
    lengths = batch.lengths[chosen]
    turns = np.lexsort((-lengths, np.arange(chosen.size) // minibatch))
    return Lesson(
        chosen,
        batch,
        groups,
        offsets,
        minibatch,
        turns,
        np.zeros(chosen.size, np.bool_),
        np.zeros(chosen.size, np.int64),
        room_for(lengths, len(batch.tokens), minibatch),
    )


@entry_point
def most_new_rows(lesson, begin):
    """Return how many rows each table but the dense one may need for the minibatch from ``begin``."""
    nodes = 0
    for sentence in lesson.chosen[begin : begin + lesson.minibatch]:
        nodes += 2 * (lesson.batch.lengths[sentence] - 1)
    return nodes * lesson.batch.tokens.shape[0] * ENTRIES


@entry_point
def learn(team, tables, lesson, steps, begin):
    """Learn from the sentences from ``begin`` on, together with the other threads of a team.

    Returns how many are done: all, or as many as the rooms of the tables are sure to suffice for; the
    least of what the threads return counts.
    """
    chosen, minibatch = lesson.chosen, lesson.minibatch
    longest = 2
    for sentence in chosen:
        longest = max(longest, lesson.batch.lengths[sentence])
    counter = new_counter(longest, lesson.batch.tokens.shape[0])
    trees = np.empty((2, longest, NODE_FIELDS), np.int32)
    rows = np.empty(counter.used.size + longest * SHAPE, np.int64)
    weights = _weights(tables)
    shape = np.empty((0, 0, 0), np.float32)
    current = -1
    while True:
        # The tasks of a minibatch: to solve each of its sentences; and after that, to update each table.
        ticket = draw(team)
        task = ticket % (minibatch + TABLES)
        first = begin + ticket // (minibatch + TABLES) * minibatch
        last = min(first + minibatch, chosen.size)
        if first >= chosen.size:
            return chosen.size
        if not wait_for(team, ticket - task + (minibatch if task >= minibatch else 0)):
            return first
        if task >= minibatch:
            which = task - minibatch
            update(tables[which], which, lesson.differences, lesson.wrong, first, last, steps, rows)
        elif first + task < last:
            if first != current:
                if not _have_room(tables, most_new_rows(lesson, first)):
                    stop(team)
                    return first
                current, shape = first, shape_scores(weights.shape, longest)
            _solve(weights, shape, lesson, steps, lesson.turns[first + task], counter, trees)
        finish(team)


@inner
def _weights(tables):
    """Return the tables as what scores."""
    return Tables(
        Table(tables[0].slots, tables[0].weights, tables[0].spread),
        Table(tables[1].slots, tables[1].weights, tables[1].spread),
        Table(tables[2].slots, tables[2].weights, tables[2].spread),
        Table(tables[3].slots, tables[3].weights, tables[3].spread),
        Table(tables[4].slots, tables[4].weights, tables[4].spread),
        Table(tables[5].slots, tables[5].weights, tables[5].spread),
        tables[SHAPE].weights,
    )


@inner
def _have_room(tables, more):
    lacking = 0
    for which in range(SHAPE):
        lacking += tables[which].used[0] + more[which] > tables[which].keys.size
    return lacking == 0


@inner
def _solve(tables, shape, lesson, steps, k, counter, trees):
    """Find the prediction and the oracle of one sentence, and how they differ, times the step to take.

    Args:
        tables, shape: the weights, and their ``shape_scores``.
        lesson, k: the sentence, by its place in ``chosen``; filled.
        steps: how far to go.
        counter, trees: scratch.
    """
    sentence, differences = lesson.chosen[k], lesson.differences
    n, start, offset = lesson.batch.lengths[sentence], lesson.batch.starts[sentence], lesson.offsets[sentence]
    tokens = lesson.batch.tokens[:, start - 1 : start + n + 1]
    scores = score_sentence(tables, shape, tokens, n)
    bounds = group_bounds(lesson.groups[offset : offset + n])
    predicted, oracle = trees[0, : n - 1], trees[1, : n - 1]
    penalise(bounds, n, np.float32(steps.cost), scores.node)
    loss = best_tree(scores, n, ROOT, predicted)
    # A prediction without violations is the best of the valid trees, too.
    if violations(bounds, predicted) == 0:
        return
    penalise(bounds, n, FORBIDDEN, scores.node)
    loss -= best_tree(scores, n, ROOT, oracle)
    if loss <= TOLERANCE:
        return
    lesson.wrong[k] = True
    square = count_difference(differences, k, counter, tokens, scores.spread, oracle, predicted)
    step = np.float32(min(steps.aggressiveness, loss / max(square, 1)))
    for i in range(differences.starts[k], differences.ends[k, SHAPE]):
        differences.change[i] *= step
    lesson.updates[k] = differences.ends[k, SHAPE] - differences.starts[k]
