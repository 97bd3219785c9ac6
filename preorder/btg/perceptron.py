"""Training of a BTG model as a latent-variable perceptron (Nakagawa 2015).

The gold tree is latent: the oracle is the best tree, by the weights so far, among those that
the alignment allows. The prediction is the best tree when every node that the alignment
forbids gains a ``cost`` (loss-augmented inference), so that the loss, prediction less oracle,
is never negative. Where there is one, the weights move from the one tree's features to the
other's by the smallest step that makes up for it (passive-aggressive, PA-I; Crammer et al.
2006), at most ``aggressiveness``. The model is the average of all weights over time.

The sentences of a minibatch are solved under the same weights, in parallel, and learned from
in their order, each table by a thread of its own: the model is the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from preorder.btg.chart import FORBIDDEN, NODE_FIELDS, best_tree, group_bounds, penalise, violations
from preorder.btg.compiled import entry_point
from preorder.btg.difference import SHAPE, Differences, count_difference, new_counter, room_for
from preorder.btg.encode import Batch
from preorder.btg.features import LABELS, MULTIPLIERS, ROOT, SHAPES, TABLE_NAMES, WIDTHS
from preorder.btg.options import Options
from preorder.btg.scores import Tables, score_sentence, shape_scores
from preorder.btg.table import Table, spread_of
from preorder.btg.update import SAVED, Growing, growing_table, restored, saved, update, with_room
from preorder.btg.weights import Weights
from preorder.checkpoint import Arrays

FIRST_ROWS = 1 << 14  # room of a table at first
TOLERANCE = 1e-5  # a loss below is a rounding error of a margin that is reached exactly


@dataclass(frozen=True)
class Progress:
    """What some learning did.

    Attributes:
        errors: sentences that were learned from, as their prediction had a loss.
        updates: changes of single weights.
    """

    errors: int = 0
    updates: int = 0

    def __add__(self, other: Progress) -> Progress:
        return Progress(self.errors + other.errors, self.updates + other.updates)


class Learner:
    """Weights that learn, one minibatch after another; the same input, the same weights."""

    def __init__(self, batch: Batch, groups: np.ndarray, options: Options) -> None:
        """Start from zero.

        Args:
            batch: the encoded sentences, of two tokens or more, whose constraint some tree satisfies.
            groups: int32, where each token belongs, one sentence after another.
            options: how to train.
        """
        self._batch = batch
        self._groups = groups
        self._offsets = np.concatenate(([0], np.cumsum(batch.lengths)))
        self._options = options
        self._tables = _first_tables(batch)
        self._seen = 0

    def iterate(self, iteration: int, advance: Callable[[int], Any]) -> Progress:
        """Learn from every sentence once, in an order that depends on the seed and the iteration alone.

        ``advance`` is told the sentences of each minibatch that is done.
        """
        size = self._options.minibatch
        shuffled = np.random.default_rng((self._options.seed, iteration)).permutation(
            self._batch.lengths.size
        )
        progress = Progress()
        with ThreadPoolExecutor(self._options.threads) as pool:
            for begin in range(0, shuffled.size, size):
                minibatch = shuffled[begin : begin + size]
                progress += self.learn(minibatch, pool)
                advance(minibatch.size)
        return progress

    def learn(self, chosen: np.ndarray, pool: ThreadPoolExecutor) -> Progress:
        """Learn from one minibatch of sentences."""
        wrong, differences = self._solve(chosen, pool)
        errors = np.flatnonzero(wrong)
        counts = np.diff(differences.ends[errors], axis=1, prepend=differences.starts[errors, None]).sum(
            axis=0
        )
        *hashed, dense = self._tables
        self._tables = (*(with_room(t, more) for t, more in zip(hashed, counts[:-1], strict=True)), dense)
        time, tick = self._seen / self._batch.lengths.size, 1 / self._batch.lengths.size

        def run(which: int) -> None:
            update(self._tables[which], which, differences, errors, time, tick)

        _run(pool, run, len(self._tables))
        self._seen += chosen.size
        return Progress(errors.size, int(counts.sum()))

    def _solve(self, chosen: np.ndarray, pool: ThreadPoolExecutor) -> tuple[np.ndarray, Differences]:
        """Return which sentences have a wrong prediction, and what to change then."""
        lengths = self._batch.lengths[chosen]
        wrong = np.empty(chosen.size, np.bool_)
        differences = room_for(lengths, len(self._batch.tokens))
        *hashed, dense = self._tables
        tables = Tables(*(Table(t.slots, t.weights, t.spread) for t in hashed), dense.weights)
        shape = shape_scores(dense.weights, lengths.max())
        options = self._options

        def run(part: int) -> None:
            solve(
                tables,
                shape,
                self._batch,
                self._groups,
                self._offsets,
                chosen[part :: options.threads],
                np.arange(part, chosen.size, options.threads),
                np.float32(options.cost),
                options.aggressiveness,
                wrong,
                differences,
            )

        _run(pool, run, options.threads)
        return wrong, differences

    def averaged_tables(self) -> Tables:
        """Return the average of the weights over all sentences so far, to parse with before it learns on.

        Keeps the slots as they are, and so costs a pass over the rows in use.
        """
        *hashed, dense = zip(self._tables, self._averages(), strict=True)
        return Tables(*(Table(table.slots, rows, table.spread) for table, rows in hashed), dense[1])

    def average(self) -> Arrays:
        """Return the average for good, as :func:`weights_of` takes it, at the cost of copies of the keys."""
        *hashed, dense = zip(self._tables, self._averages(), strict=True)
        arrays = {"shape": dense[1]}
        for name, (table, rows) in zip(TABLE_NAMES, hashed, strict=True):
            used = slice(1, len(rows))
            arrays |= {
                f"{name}.keys": table.keys[used].copy(),
                f"{name}.rows": rows[used],
                f"{name}.spread": table.spread[used].copy(),
            }
        return arrays

    def _averages(self) -> list[np.ndarray]:
        """Return the averaged rows in use of each table, row 0 included."""
        time = np.float32(max(self._seen, 1) / self._batch.lengths.size)
        used = [slice(int(table.used[0])) for table in self._tables]
        return [t.weights[u] - t.changes[u] / time for t, u in zip(self._tables, used, strict=True)]

    def state(self) -> Arrays:
        """Return all that further learning depends on; it changes with it."""
        names = (*TABLE_NAMES, "shape")
        tables = zip(names, self._tables, strict=True)
        arrays = {f"{name}.{part}": array for name, table in tables for part, array in saved(table).items()}
        return {"seen": np.array([self._seen]), **arrays}

    def restore(self, arrays: Arrays) -> None:
        """Go on from a :meth:`state`."""
        self._seen = int(arrays["seen"][0])
        self._tables = tuple(
            restored({part: arrays[f"{name}.{part}"] for part in SAVED}) for name in (*TABLE_NAMES, "shape")
        )


def weights_of(average: Arrays) -> Weights:
    """Return the weights of a :meth:`Learner.average`."""
    parts = ([average[f"{name}.{part}"] for name in TABLE_NAMES] for part in ("keys", "rows", "spread"))
    return Weights.of(*parts, average["shape"])


def _run(pool: ThreadPoolExecutor, task: Callable[[int], None], count: int) -> None:
    """Run a task for 0 … count - 1, in the pool's threads."""
    if pool._max_workers == 1:
        for i in range(count):
            task(i)
    else:
        list(pool.map(task, range(count)))


def _first_tables(batch: Batch) -> tuple[Growing, ...]:
    """Return tables without weights that know the tokens and adjacent tokens of the corpus."""
    single = MULTIPLIERS[0] * batch.tokens
    known = {"token": single, "adjacent": single[:, :-1] + MULTIPLIERS[1] * batch.tokens[:, 1:]}
    tables = []
    for name, width in zip(TABLE_NAMES, WIDTHS, strict=True):
        keys, frequencies = np.unique(known.get(name, np.empty(0, np.uint64)), return_counts=True)
        rows = max(FIRST_ROWS, 2 * keys.size)
        tables.append(growing_table(rows, width, keys, spread_of(frequencies)))
    nothing = np.empty(0, np.uint64), np.empty(0, np.uint8)
    dense = growing_table(SHAPES, LABELS, *nothing)
    dense.used[0] = SHAPES
    return (*tables, dense)


@entry_point
def solve(tables, shape, batch, groups, offsets, sentences, places, cost, aggressiveness, wrong, differences):
    """Find predictions and oracles, and how they differ, times the step that learning takes.

    Args:
        tables, shape: the weights, and their ``shape_scores``.
        batch: the encoded corpus.
        groups, offsets: where each token belongs, and where each sentence's groups begin.
        sentences: int64, which sentences of the corpus to solve.
        places: int64, where each of them stands in ``wrong`` and ``differences``.
        cost, aggressiveness: see :class:`Options`.
        wrong: bool, filled: whether there is a loss.
        differences: filled where so.
    """
    most = 2
    for sentence in sentences:
        most = max(most, batch.lengths[sentence])
    counter = new_counter(most, batch.tokens.shape[0])
    trees = np.empty((2, most, NODE_FIELDS), np.int32)
    for sentence, k in zip(sentences, places):  # noqa: B905  # numba knows no strict
        n = batch.lengths[sentence]
        start = batch.starts[sentence]
        tokens = batch.tokens[:, start - 1 : start + n + 1]
        scores = score_sentence(tables, shape, tokens, n)
        bounds = group_bounds(groups[offsets[sentence] : offsets[sentence] + n])
        predicted, oracle = trees[0, : n - 1], trees[1, : n - 1]
        penalise(bounds, n, cost, scores.node)
        loss = best_tree(scores, n, ROOT, predicted)
        # A prediction without violations is the best of the valid trees, too.
        wrong[k] = violations(bounds, predicted) > 0
        if wrong[k]:
            penalise(bounds, n, FORBIDDEN, scores.node)
            loss -= best_tree(scores, n, ROOT, oracle)
            wrong[k] = loss > TOLERANCE
            square = count_difference(differences, k, counter, tokens, scores.spread, oracle, predicted)
            step = np.float32(min(aggressiveness, max(loss, 0) / max(square, 1)))
            for i in range(differences.starts[k], differences.ends[k, SHAPE]):
                differences.change[i] *= step
