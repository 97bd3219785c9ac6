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

import numpy as np

from preorder.btg.chart import FORBIDDEN, NODE_FIELDS, best_tree, group_bounds, penalise, violations
from preorder.btg.compiled import entry_point
from preorder.btg.difference import SHAPE, Differences, count_difference, new_counter, room_for
from preorder.btg.encode import Batch
from preorder.btg.features import LABELS, MULTIPLIERS, ROOT, SHAPES, TABLE_NAMES, WIDTHS
from preorder.btg.options import Options
from preorder.btg.scores import Tables, score_sentence, shape_scores
from preorder.btg.table import Table, spread_of
from preorder.btg.update import Growing, growing_table, update, with_room
from preorder.btg.weights import Weights

FIRST_ROWS = 1 << 14  # room of a table at first
TOLERANCE = 1e-5  # a loss below is a rounding error of a margin that is reached exactly


@dataclass(frozen=True)
class Progress:
    """What an iteration did.

    Attributes:
        iteration: from 1.
        errors: sentences that were learned from, as their prediction had a loss.
    """

    iteration: int
    errors: int


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
            minibatches = np.split(shuffled, range(options.minibatch, shuffled.size, options.minibatch))
            errors = sum(learner.learn(minibatch, pool) for minibatch in minibatches)
            report(Progress(iteration, errors))
            if not errors:
                break
    return learner.average()


class Learner:
    """Weights that learn, one minibatch after another."""

    def __init__(self, batch: Batch, groups: np.ndarray, options: Options) -> None:
        """Start from zero; see :func:`train`."""
        self._batch = batch
        self._groups = groups
        self._offsets = np.concatenate(([0], np.cumsum(batch.lengths)))
        self._options = options
        self._tables = _first_tables(batch)
        self._seen = 0

    def learn(self, chosen: np.ndarray, pool: ThreadPoolExecutor) -> int:
        """Learn from one minibatch of sentences; return the number of errors."""
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
        return errors.size

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

    def average(self) -> Weights:
        """Return the weights averaged over all sentences seen so far."""
        time = np.float32(max(self._seen, 1) / self._batch.lengths.size)
        *hashed, dense = self._tables
        used = [slice(1, int(table.used[0])) for table in hashed]
        return Weights.of(
            (table.keys[u] for table, u in zip(hashed, used, strict=True)),
            (table.weights[u] - table.changes[u] / time for table, u in zip(hashed, used, strict=True)),
            (table.spread[u] for table, u in zip(hashed, used, strict=True)),
            dense.weights - dense.changes / time,
        )


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
    return (*tables, growing_table(SHAPES, LABELS, *nothing))


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
        node, span, pivot, spread = score_sentence(tables, shape, tokens, n)
        bounds = group_bounds(groups[offsets[sentence] : offsets[sentence] + n])
        predicted, oracle = trees[0, : n - 1], trees[1, : n - 1]
        penalise(bounds, n, cost, node)
        loss = best_tree(node, span, pivot, n, ROOT, predicted)
        # A prediction without violations is the best of the valid trees, too.
        wrong[k] = violations(bounds, predicted) > 0
        if wrong[k]:
            penalise(bounds, n, FORBIDDEN, node)
            loss -= best_tree(node, span, pivot, n, ROOT, oracle)
            wrong[k] = loss > TOLERANCE
            square = count_difference(differences, k, counter, tokens, spread, oracle, predicted)
            step = np.float32(min(aggressiveness, max(loss, 0) / max(square, 1)))
            for i in range(differences.starts[k], differences.ends[k, SHAPE]):
                differences.change[i] *= step
