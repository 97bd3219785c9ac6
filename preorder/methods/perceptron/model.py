"""The BTG preorderer: training, use, and what is saved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np

from preorder.btg.constraint import learnable
from preorder.btg.kbest import ScoredTree
from preorder.btg.pieces import EXACT
from preorder.btg.results import ChartParser, permutations
from preorder.data.errors import DataError
from preorder.data.types import NO_LINES, Bitext, Permutation, Sentence
from preorder.learning.checkpoint import NO_CHECKPOINT, Arrays, Checkpoint, digest
from preorder.learning.encode import LAYERS, Encoder
from preorder.learning.training_loop import HeldOut, Schedule, fit
from preorder.methods.perceptron.fast.shapes import shape_scores
from preorder.methods.perceptron.learner import Learner, weights_of
from preorder.methods.perceptron.options import Options
from preorder.methods.perceptron.parse import parse, parse_kbest
from preorder.methods.perceptron.weights import NEGLIGIBLE, Weights, unpack


class BTGPreorderer(ChartParser):
    """A trained BTG model; see :class:`preorder.methods.base.Preorderer`."""

    method: ClassVar[str] = "btg"

    def __init__(self, weights: Weights, layers: Sequence[str]) -> None:
        """Make a preorderer of the weights learned on the given layers, of ``encode.LAYERS``."""
        self._weights = weights
        self._layers = tuple(layers)
        self._tables = weights.tables()
        self._shape = shape_scores(weights.shape, EXACT)
        self._encoder = Encoder(self._layers)

    @property
    def layers(self) -> frozenset[str]:
        """Names of the layers of a :class:`Sentence` that it reads beside the words."""
        return frozenset(self._layers) - {"words"}

    def parse(self, sentences: Sequence[Sentence], threads: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the best trees and their positions; cost: see :mod:`.parse`."""
        return parse(self._tables, self._shape, self._encoder(sentences), threads)

    def kbest(self, sentences: Sequence[Sentence], k: int, threads: int) -> list[list[ScoredTree]]:
        """Return the best trees of each sentence's k best orders; cost: see :mod:`.parse`."""
        return parse_kbest(self._tables, self._shape, self._encoder(sentences), k, threads)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return what :meth:`from_state` needs: values for JSON, and arrays."""
        return {"layers": list(self._layers)}, self._weights.pack()

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> BTGPreorderer:
        """Rebuild a preorderer.

        Raises:
            DataError: the state is not one of a BTG model.
        """
        layers = values.get("layers")
        if not isinstance(layers, list) or not layers or not set(layers) <= set(LAYERS):
            raise DataError(f"not the layers of a BTG model: {layers!r}")
        return cls(unpack(arrays), layers)

    @classmethod
    def fit(
        cls,
        bitext: Bitext,
        options: Options,
        held_out: Bitext = NO_LINES,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> tuple[BTGPreorderer, dict[str, Any]]:
        """Train on sentences with alignments; progress goes to standard error.

        Layers that any sentence lacks are not used. The same input and options give the same
        model, whatever the number of threads and however often it was interrupted.

        Returns:
            The preorderer, and figures: those of :func:`preorder.learning.training_loop.fit`; ``options``;
            ``trained`` sentences; those ``skipped``, as no tree can satisfy their alignment, and
            ``trivial``, of fewer than two tokens; ``weights`` that are not zero.

        Raises:
            DataError: a link is out of range.
            UsageError: no sentence can be learned from, or the checkpoint is of another training.
        """
        lines = (*bitext.sentences, *held_out.sentences)
        layers = [name for name in LAYERS if all(getattr(s, name) is not None for s in lines)]
        sentences, groups, counts = learnable(bitext, options.unaligned)
        trainee = _Trainee(layers, sentences, groups, options)
        schedule = Schedule(options.iterations, options.patience, keep_best=False)
        average, progress = fit(trainee, schedule, HeldOut(held_out), checkpoint)
        del trainee  # its tables are larger than all that follows
        weights = weights_of(average)
        del average
        weights = weights.compact(NEGLIGIBLE * options.cost)
        figures = {
            "options": _reproducible(options),
            **counts,
            "weights": sum(int(np.count_nonzero(rows)) for rows in (*weights.rows, weights.shape)),
            **progress,
        }
        return cls(weights, layers), figures


class _Trainee:
    """A learner and what it learns from; see :class:`preorder.learning.training_loop.Trainee`."""

    def __init__(
        self, layers: Sequence[str], sentences: Sequence[Sentence], groups: np.ndarray, options: Options
    ) -> None:
        self._encoder = Encoder(layers)
        self._batch = self._encoder(sentences)
        self._groups = groups
        self._options = options
        self._learner = Learner(self._batch, groups, options)

    def __len__(self) -> int:
        return self._batch.lengths.size

    def key(self) -> str:
        return digest(_reproducible(self._options), *self._batch, self._groups)

    def learn(self, iteration: int, advance: Callable[[int], Any]) -> dict[str, float]:
        return asdict(self._learner.iterate(iteration, advance))

    def order(self, sentences: Sequence[Sentence]) -> list[Permutation]:
        tables = self._learner.averaged_tables()
        shape = shape_scores(tables.shape, EXACT)
        _, positions = parse(tables, shape, self._encoder(sentences), self._options.threads)
        return permutations(positions, sentences)

    def model(self) -> Arrays:
        return self._learner.average()

    def state(self) -> Arrays:
        return self._learner.state()

    def restore(self, arrays: Arrays) -> None:
        self._learner.restore(arrays)


def _reproducible(options: Options) -> dict[str, Any]:
    """Return the options that the model depends on."""
    return {name: value for name, value in asdict(options).items() if name != "threads"}
