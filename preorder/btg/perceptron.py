"""Training of a BTG model as a latent-variable perceptron (Nakagawa 2015).

The gold tree is latent: the oracle is the best tree, by the weights so far, among those that
the alignment allows. The prediction is the best tree when every node that the alignment
forbids is paid for with a ``cost`` (loss-augmented inference), so that the loss is never
negative. Where they differ, the weights move (:mod:`preorder.btg.update`). The model is the
average of all weights over time.

A minibatch is solved in parallel under the same weights, then learned from in order: the
model is the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from preorder.btg.chart import FORBIDDEN, NODE_FIELDS, best_tree, group_bounds, penalise
from preorder.btg.compiled import entry_point
from preorder.btg.encode import Batch
from preorder.btg.features import LABELS, MULTIPLIERS, ROOT, SHAPES, TABLE_NAMES, WIDTHS
from preorder.btg.options import Options
from preorder.btg.scores import Tables, score_sentence, shape_scores
from preorder.btg.table import Table, by_place, capacity, insert_all, spread_of
from preorder.btg.update import Growing, empty_difference, update, violations

FIRST_ROWS = 1 << 14  # room of a table at first


@dataclass(frozen=True)
class Progress:
    """What an iteration did.

    Attributes:
        iteration: from 1.
        errors: sentences whose prediction violated the alignment.
        updates: of them, those that changed weights.
    """

    iteration: int
    errors: int
    updates: int


@dataclass(frozen=True)
class Weights:
    """A model's weights: ``keys`` and ``rows`` (without the empty row) of each table, and the dense ones."""

    keys: tuple[np.ndarray, ...]
    rows: tuple[np.ndarray, ...]
    spread: tuple[np.ndarray, ...]
    shape: np.ndarray

    def tables(self) -> Tables:
        """Return them as the compiled code reads them."""
        return Tables(*map(_table, self.keys, self.rows, self.spread), self.shape)


def _table(keys: np.ndarray, rows: np.ndarray, spread: np.ndarray) -> Table:
    slots = np.zeros(capacity(keys.size), np.uint64)
    order = by_place(keys)
    insert_all(slots, keys[order])
    weights = np.zeros((len(rows) + 1, rows.shape[1]), np.float32)
    weights[1:] = rows[order]
    spreads = np.zeros(len(rows) + 1, np.uint8)
    spreads[1:] = spread[order]
    return Table(slots, weights, spreads)


class Learner:
    """Weights that learn, one minibatch after another."""

    def __init__(self, batch: Batch, groups: np.ndarray, options: Options) -> None:
        """Start from zero.

        Args:
            batch: the encoded sentences, of two tokens or more.
            groups: int32, where each token belongs, one sentence after another.
            options: how to train.
        """
        self._batch = batch
        self._groups = groups
        self._offsets = np.concatenate(([0], np.cumsum(batch.lengths)))
        self._options = options
        self._most = int(batch.lengths.max())
        self._tables = _first_tables(batch)
        self._shape = np.zeros((SHAPES, LABELS), np.float32)
        self._shape_changes = np.zeros_like(self._shape)
        self._difference = empty_difference(self._most, len(batch.tokens))
        self._seen = 0

    def learn(self, chosen: np.ndarray, pool: ThreadPoolExecutor) -> tuple[int, int]:
        """Learn from one minibatch of sentences; return the numbers of errors and of updates."""
        costs, trees = self._solve(chosen, pool)
        total = self._batch.lengths.size
        first = updates = 0
        while True:
            first, more = update(
                self._tables,
                self._shape,
                self._shape_changes,
                self._difference,
                self._batch,
                chosen,
                costs,
                trees,
                self._options.aggressiveness,
                self._seen / total,
                1 / total,
                first,
            )
            updates += more
            if first == chosen.size:
                break
            self._tables = tuple(map(_with_room, self._tables))
        self._seen += chosen.size
        return int((costs >= 0).sum()), updates

    def _solve(self, chosen: np.ndarray, pool: ThreadPoolExecutor) -> tuple[np.ndarray, np.ndarray]:
        """Return each sentence's cost (negative: no error), and predictions and oracles."""
        lengths = self._batch.lengths[chosen]
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        costs = np.empty(chosen.size, np.float32)
        trees = np.empty((2, offsets[-1], NODE_FIELDS), np.int32)
        tables = Tables(*(Table(t.slots, t.weights, t.spread) for t in self._tables), self._shape)
        shape = shape_scores(self._shape, lengths.max())
        cost = np.float32(self._options.cost)

        def run(part: int) -> None:
            solve(
                tables,
                shape,
                self._batch,
                self._groups,
                self._offsets,
                chosen,
                part,
                self._options.threads,
                cost,
                offsets,
                costs,
                trees,
            )

        list(pool.map(run, range(self._options.threads)))
        return costs, trees

    def average(self) -> Weights:
        """Return the weights averaged over all sentences seen so far."""
        time = np.float32(max(self._seen, 1) / self._batch.lengths.size)
        used = [int(table.used[0]) for table in self._tables]
        return Weights(
            tuple(t.keys[1:n].copy() for t, n in zip(self._tables, used, strict=True)),
            tuple(t.weights[1:n] - t.changes[1:n] / time for t, n in zip(self._tables, used, strict=True)),
            tuple(t.spread[1:n].copy() for t, n in zip(self._tables, used, strict=True)),
            self._shape - self._shape_changes / time,
        )


def _growing(rows: int, width: int) -> Growing:
    return Growing(
        np.zeros(capacity(rows), np.uint64),
        np.zeros((rows, width), np.float32),
        np.zeros(rows, np.uint8),
        np.zeros((rows, width), np.float32),
        np.zeros(rows, np.uint64),
        np.ones(1, np.int64),
    )


def _with_room(table: Growing) -> Growing:
    """Return the table with room for twice as many rows, where less than half is free."""
    rows, width = table.weights.shape
    if table.used[0] < rows // 2:
        return table
    bigger = _growing(2 * rows, width)
    used = int(table.used[0])
    order = by_place(table.keys[1:used]) + 1
    for name in ("weights", "changes", "keys", "spread"):
        getattr(bigger, name)[1:used] = getattr(table, name)[order]
    insert_all(bigger.slots, bigger.keys[1:used])
    bigger.used[0] = used
    return bigger


def _first_tables(batch: Batch) -> tuple[Growing, ...]:
    """Return tables without weights that know the tokens and adjacent tokens of the corpus."""
    tables = []
    for name, width in zip(TABLE_NAMES, WIDTHS, strict=True):
        keys, spread = np.empty(0, np.uint64), np.empty(0, np.uint8)
        if name in ("token", "adjacent"):
            sums = MULTIPLIERS[0] * batch.tokens
            if name == "adjacent":
                sums = sums[:, :-1] + MULTIPLIERS[1] * batch.tokens[:, 1:]
            keys, frequencies = np.unique(sums, return_counts=True)
            spread = spread_of(frequencies)
        table = _growing(max(FIRST_ROWS, 2 * keys.size), width)
        used = keys.size + 1
        order = by_place(keys)
        table.keys[1:used], table.spread[1:used] = keys[order], spread[order]
        insert_all(table.slots, table.keys[1:used])
        table.used[0] = used
        tables.append(table)
    return tuple(tables)


@entry_point
def solve(tables, shape, batch, groups, group_offsets, chosen, part, parts, cost, offsets, costs, trees):
    """Find prediction and oracle of every ``parts``-th of the chosen sentences, from the ``part``-th on."""
    for k in range(part, chosen.size, parts):
        sentence = chosen[k]
        n = batch.lengths[sentence]
        start = batch.starts[sentence]
        scores = score_sentence(tables, shape, batch.tokens[:, start - 1 : start + n + 1], n)
        bounds = group_bounds(groups[group_offsets[sentence] : group_offsets[sentence] + n])
        predicted = trees[0, offsets[k] : offsets[k] + n - 1]
        penalise(bounds, n, cost, scores.node)
        best_tree(scores.node, scores.span, scores.pivot, n, ROOT, predicted)
        wrong = violations(bounds, predicted)
        # A prediction without violations is the best of the valid trees, too.
        costs[k] = wrong * cost if wrong else -1
        if wrong:
            oracle = trees[1, offsets[k] : offsets[k] + n - 1]
            penalise(bounds, n, FORBIDDEN, scores.node)
            best_tree(scores.node, scores.span, scores.pivot, n, ROOT, oracle)


def train(
    batch: Batch,
    groups: np.ndarray,
    options: Options,
    report: Callable[[Progress], None],
) -> Weights:
    """Train on sentences whose constraint some tree satisfies; the same input, the same weights.

    Args:
        batch: the encoded sentences, of two tokens or more.
        groups: int32, where each token belongs, one sentence after another.
        options: how to train.
        report: called after each iteration.
    """
    learner = Learner(batch, groups, options)
    random = np.random.default_rng(options.seed)
    with ThreadPoolExecutor(options.threads) as pool:
        for iteration in range(1, options.iterations + 1):
            shuffled = random.permutation(batch.lengths.size)
            results = [
                learner.learn(shuffled[i : i + options.minibatch], pool)
                for i in range(0, shuffled.size, options.minibatch)
            ]
            errors, updates = map(sum, zip(*results, strict=True))
            report(Progress(iteration, errors, updates))
            if not errors:
                break
    return learner.average()
