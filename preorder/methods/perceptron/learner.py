"""Training of a BTG model as a latent-variable perceptron (Nakagawa 2015).

The gold tree is latent: the oracle is the best tree, by the weights so far, among those that
the alignment allows. The prediction is the best tree when every node that the alignment
forbids gains a ``cost`` (loss-augmented inference), so that the loss, prediction less oracle,
is never negative. Where there is one, the weights move from the one tree's features to the
other's by the smallest step that makes up for it (passive-aggressive, PA-I; Crammer et al.
2006), at most ``aggressiveness``. The model is the average of all weights over time.

The sentences of a minibatch are solved under the same weights, in parallel, and learned from
in their order, each table by one thread: the model is the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from preorder.btg.grammar import LABELS
from preorder.learning.checkpoint import Arrays
from preorder.learning.encode import Batch
from preorder.methods.perceptron.fast.table import Table, Tables, spread_of
from preorder.methods.perceptron.fast.training import Steps, learn, max_new_rows, training_batch
from preorder.methods.perceptron.fast.update import SAVED, Growing, allocate_table, restored, saved, with_room
from preorder.methods.perceptron.fast.work_queue import work_queue
from preorder.methods.perceptron.features import MULTIPLIERS, SHAPES, TABLE_NAMES, WIDTHS
from preorder.methods.perceptron.options import Options
from preorder.methods.perceptron.weights import Weights

FIRST_ROWS = 1 << 14  # room of a table at first
MINIBATCHES = 32  # learned from between two reports


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

        ``advance`` is told how many sentences are done, every now and then.
        """
        size = self._options.minibatch * MINIBATCHES
        shuffled = np.random.default_rng((self._options.seed, iteration)).permutation(
            self._batch.lengths.size
        )
        progress = Progress()
        with ThreadPoolExecutor(self._options.threads) as pool:
            for begin in range(0, shuffled.size, size):
                part = shuffled[begin : begin + size]
                progress += self.learn(part, pool)
                advance(part.size)
        return progress

    def learn(self, chosen: np.ndarray, pool: ThreadPoolExecutor) -> Progress:
        """Learn from some sentences, minibatch by minibatch, in the threads of a pool."""
        options = self._options
        batch = training_batch(chosen, self._batch, self._groups, self._offsets, options.minibatch)
        steps = Steps(options.cost, options.aggressiveness, self._seen, self._batch.lengths.size)
        done = 0
        while done < chosen.size:
            more = max_new_rows(batch, done)
            *hashed, dense = self._tables
            self._tables = (*(with_room(t, m) for t, m in zip(hashed, more, strict=True)), dense)
            run = partial(learn, work_queue(), self._tables, batch, steps)
            done = min(pool.map(run, [done] * options.threads))
        self._seen += chosen.size
        return Progress(int(batch.wrong.sum()), int(batch.updates.sum()))

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


def _first_tables(batch: Batch) -> tuple[Growing, ...]:
    """Return tables without weights that know the tokens and adjacent tokens of the corpus."""
    single = MULTIPLIERS[0] * batch.tokens
    known = {"token": single, "adjacent": single[:, :-1] + MULTIPLIERS[1] * batch.tokens[:, 1:]}
    tables = []
    for name, width in zip(TABLE_NAMES, WIDTHS, strict=True):
        keys, frequencies = np.unique(known.get(name, np.empty(0, np.uint64)), return_counts=True)
        rows = max(FIRST_ROWS, 2 * keys.size)
        tables.append(allocate_table(rows, width, keys, spread_of(frequencies)))
    nothing = np.empty(0, np.uint64), np.empty(0, np.uint8)
    dense = allocate_table(SHAPES, LABELS, *nothing)
    dense.used[0] = SHAPES
    return (*tables, dense)
