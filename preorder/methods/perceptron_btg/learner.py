"""Training of a BTG model as a latent-variable perceptron (Nakagawa 2015).

The gold tree is latent: the oracle is the best tree, by the weights so far, among those that the alignment
allows. The prediction is the best tree when every node that the alignment forbids gains a ``cost``
(loss-augmented inference). Where it scores more, the weights move from its features to the oracle's by the
smallest step that makes up for it (PA-I; Crammer et al. 2006), but at most by ``aggressiveness``.

The model is the average of the weights over time, where those of later times weigh more, about by the cube of
the time (cf. Lacoste-Julien et al. 2012): after 8 iterations it is as good as a plain average after 20.

The sentences of a minibatch are solved under the same weights, in parallel, and learned from in their order,
each table by one thread: the model is the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from preorder.btg.constraint import Constraint
from preorder.btg.grammar import LABELS
from preorder.btg.nbest import EXACT
from preorder.data import Permutation, Sentence
from preorder.errors import NotFiniteError
from preorder.learning.checkpoint import Arrays, add_prefix, digest, part_with
from preorder.learning.encode import DROPPED, Batch, Encoder
from preorder.learning.loop import LINKS, WORDS, TrainingStatistics
from preorder.learning.options import without_threads
from preorder.learning.pairs import lines_of_iteration, pair_numbers
from preorder.methods.base import permutations
from preorder.methods.perceptron_btg.features import MULTIPLIERS, SHAPES, TABLE_NAMES, WIDTHS
from preorder.methods.perceptron_btg.parse import parse
from preorder.methods.perceptron_btg.scorer import shape_scores
from preorder.methods.perceptron_btg.table import (
    AVERAGE_EXPONENT,
    Growing,
    Tables,
    WeightTable,
    by_slot,
    capacity,
    restored,
    spread_of,
    with_room,
)
from preorder.methods.perceptron_btg.updates import QUEUE, learn, max_new_rows, training_batch
from preorder.methods.perceptron_btg.weights import Weights
from preorder.methods.registry import PerceptronOptions

FIRST_ROWS = 1 << 14  # least number of rows that a table has room for at first
MINIBATCHES = 32  # between two updates of the progress bar


class PerceptronLearner:
    """Weights that learn; see :class:`preorder.learning.loop.Trainable`."""

    def __init__(
        self,
        layers: Sequence[str],
        sentences: Sequence[Sentence],
        constraint: Constraint,
        options: PerceptronOptions,
        initial: Weights | None = None,
        pairs: Sequence[int] = (),
    ) -> None:
        """Start with what :func:`.learnable` gives, from zero or the initial weights."""
        self._encoder = Encoder(layers)
        self._text = self._read = self._encoder(sentences)  # as it is; as this iteration reads it
        self._word_layer = list(layers).index("words") if "words" in layers else None
        self._pairs = pair_numbers(pairs, len(sentences))
        self._constraint = constraint
        self._groups = constraint.groups  # of this iteration
        self._options = options
        self._tables = _first_tables(self._text, initial)
        self._initial = () if initial is None else (*initial.keys, *initial.rows, initial.shape)
        self._seen = 0
        self._is_averaged = False  # see Growing
        self._set_averages()

    def __len__(self) -> int:
        return self._text.lengths.size

    def key(self) -> str:
        values = [without_threads(self._options), AVERAGE_EXPONENT]
        return digest(values, *self._text, *self._constraint, self._pairs, *self._initial)

    def learn(self, iteration: int, advance: Callable[[int], Any]) -> TrainingStatistics:
        """Learn from an iteration's sentences; return the sums of what :meth:`learn_from` returns."""
        size, seed = self._options.minibatch * MINIBATCHES, self._options.seed
        lines = lines_of_iteration(self._pairs, seed, iteration)
        shuffled = np.random.default_rng((seed, iteration)).permutation(lines)
        draw = np.random.default_rng((seed, iteration, LINKS))
        self._groups = self._constraint.drawn(self._text.lengths, draw)
        self._read = self._without_words(iteration)
        errors = updates = 0
        with ThreadPoolExecutor(self._options.threads) as pool:
            for begin in range(0, shuffled.size, size):
                part = shuffled[begin : begin + size]
                wrong, changes = self.learn_from(part, pool)
                errors, updates = errors + wrong, updates + changes
                advance(part.size)
        self._set_averages()  # here, and not where they are asked for: it rounds, at the same times always
        if not np.isfinite(self._tables[-1].weights).all():  # those that every sentence changes
            raise NotFiniteError("the weights")
        return {"errors": errors, "updates": updates}

    def _without_words(self, iteration: int) -> Batch:
        """Return the text without the words that this iteration drops: no feature of them is looked up."""
        share = self._options.word_dropout
        if not share or self._word_layer is None:
            return self._text
        tokens = self._text.tokens.copy()
        draw = np.random.default_rng((self._options.seed, iteration, WORDS))
        is_dropped = draw.random(tokens.shape[1]) < share
        is_dropped[self._text.starts - 1] = is_dropped[-1] = False  # the borders
        tokens[self._word_layer, is_dropped] = DROPPED
        return self._text._replace(tokens=tokens)

    def learn_from(self, chosen: np.ndarray, pool: ThreadPoolExecutor) -> tuple[int, int]:
        """Learn from some sentences in a pool's threads; return how many had a loss, and how many changes."""
        if self._is_averaged:
            for table in self._tables:
                table.set_changes(self._time())
        self._is_averaged = False
        batch = training_batch(chosen, self._read, self._groups, self._seen, self._options)
        done = 0
        while done < chosen.size:
            self._make_room(max_new_rows(batch, done))
            weights = self._with_rows([table.weights for table in self._tables])
            run = partial(learn, np.zeros(QUEUE, np.int64), self._tables, weights, batch)
            done = min(pool.map(run, [done] * self._options.threads))
        self._seen += chosen.size
        return int(batch.wrong.sum()), int(batch.updates.sum())

    def _make_room(self, more: np.ndarray) -> None:
        """Let the hashed tables have room for so many more rows; each table that is replaced is freed."""
        *old, dense = self._tables
        self._tables, new = (), []
        for rows in more:
            new.append(with_room(old.pop(0), rows))
        self._tables = (*new, dense)

    def order(self, sentences: Sequence[Sentence]) -> list[Permutation]:
        self._set_averages()
        tables = self._with_rows([table.changes for table in self._tables])
        shape = shape_scores(tables.shape, EXACT)
        _, positions = parse(tables, shape, self._encoder(sentences), self._options.threads)
        return permutations(positions, sentences)

    def _with_rows(self, weights: Sequence[np.ndarray]) -> Tables:
        *hashed, dense = zip(self._tables, weights, strict=True)
        tables = (WeightTable(table.slots, rows, table.spread) for table, rows in hashed)
        return Tables._make((*tables, dense[1]))

    def model(self) -> Arrays:
        self._set_averages()
        *hashed, dense = self._tables
        arrays = {"shape": dense.changes}
        for name, table in zip(TABLE_NAMES, hashed, strict=True):
            used = slice(1, int(table.used[0]))
            arrays |= {
                f"{name}.keys": table.keys[used],
                f"{name}.rows": table.changes[used],
                f"{name}.spread": table.spread[used],
            }
        return arrays

    def _time(self) -> float:
        return max(self._seen, 1) / len(self)

    def _set_averages(self) -> None:
        if not self._is_averaged:
            for table in self._tables:
                table.set_averages(self._time())
        self._is_averaged = True

    def state(self) -> Arrays:
        self._set_averages()
        arrays = {"seen": np.array([self._seen])}
        for name, table in zip((*TABLE_NAMES, "shape"), self._tables, strict=True):
            arrays |= add_prefix(f"{name}.", table.saved())
        return arrays

    def restore(self, arrays: Arrays) -> None:
        self._seen = int(arrays["seen"][0])
        self._tables = tuple(restored(part_with(f"{name}.", arrays)) for name in (*TABLE_NAMES, "shape"))
        self._is_averaged = True


def weights_of(average: Arrays) -> Weights:
    """Return the weights of :meth:`PerceptronLearner.model`."""
    parts = ("keys", "rows", "spread")
    tables = (tuple(average[f"{name}.{part}"] for part in parts) for name in TABLE_NAMES)
    return Weights.of(tables, average["shape"])


def _first_tables(batch: Batch, initial: Weights | None) -> tuple[Growing, ...]:
    """Return tables with the initial weights that know the tokens and adjacent tokens of the corpus, too."""
    single = MULTIPLIERS[0] * batch.tokens
    known = {"token": single, "adjacent": single[:, :-1] + MULTIPLIERS[1] * batch.tokens[:, 1:]}
    tables = []
    for which, (name, width) in enumerate(zip(TABLE_NAMES, WIDTHS, strict=True)):
        keys, frequencies = np.unique(known.get(name, np.empty(0, np.uint64)), return_counts=True)
        spread, weights = spread_of(frequencies), np.zeros((keys.size, width), np.float32)
        if initial is not None:
            new = ~np.isin(keys, initial.keys[which])
            keys = np.concatenate((initial.keys[which], keys[new]))
            spread = np.concatenate((initial.spread[which], spread[new]))
            weights = np.concatenate((initial.rows[which], weights[new]))
        room = max(FIRST_ROWS, 2 * keys.size)
        order = by_slot(keys, capacity(room))
        table = Growing.of(room, width, keys[order], spread[order])
        table.weights[1 : keys.size + 1] = weights[order]
        tables.append(table)
    dense = Growing.of(SHAPES, LABELS, np.empty(0, np.uint64), np.empty(0, np.uint8))
    dense.used[0] = SHAPES
    if initial is not None:
        dense.weights[:] = initial.shape
    return (*tables, dense)
