"""The BTG preorderer with the weights of a perceptron: training, use, and what is saved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from preorder.btg.nbest import EXACT, ScoredTree
from preorder.data import Sentence
from preorder.errors import DataError, shown
from preorder.learning.checkpoint import Arrays
from preorder.learning.encode import LAYERS, Batch, Encoder, Hashes, common_layers
from preorder.methods.base import Preorderer, Training
from preorder.methods.perceptron_btg.features import MULTIPLIERS, TABLE_NAMES
from preorder.methods.perceptron_btg.parse import parse, parse_inversions, parse_kbest
from preorder.methods.perceptron_btg.scorer import shape_scores
from preorder.methods.perceptron_btg.weights import NEGLIGIBLE, Weights, unpack

TEMPERATURE = 0.5
"""Of the probabilities of trees; by it inversions fit links best (recipes/kftt/RESULTS.md). Training asks for
margins of ``cost``, so that models of any text score on one scale."""


class BTGPreorderer(Preorderer):
    """A trained BTG model; see :class:`preorder.methods.base.Preorderer`."""

    method: ClassVar[str] = "btg"

    def __init__(self, weights: Weights, layers: Sequence[str]) -> None:
        self.layers = frozenset(layers) - {"words"}
        self._weights = weights
        self.token_layers = tuple(layers)
        self._tables = weights.tables()
        self._shape = shape_scores(weights.shape, EXACT)
        self._encoder = Encoder(self.token_layers)

    def parse(self, sentences: Sequence[Sentence], threads: int) -> tuple[np.ndarray, np.ndarray]:
        return self.parse_hashed(self._encoder(sentences), threads)

    def parse_hashed(self, batch: Batch, threads: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Return trees and positions, as :meth:`parse` does, given hashes."""
        return parse(self._tables, self._shape, batch, threads)

    def kbest(self, sentences: Sequence[Sentence], k: int, threads: int) -> list[list[ScoredTree]]:
        return parse_kbest(self._tables, self._shape, self._encoder(sentences), k, threads)

    def inversions(self, sentences: Sequence[Sentence], threads: int = 1) -> list[list[np.ndarray]]:
        return parse_inversions(self._tables, self._shape, self._encoder(sentences), TEMPERATURE, threads)

    def knows_tag(self, tag: str) -> bool:
        """Return whether the model has a row for the tag's hash; it keeps no names."""
        key = MULTIPLIERS[0] * np.array([Hashes("tags")[tag]], np.uint64)
        return bool(np.isin(key, self._weights.keys[TABLE_NAMES.index("token")]).any())

    def state(self) -> tuple[dict[str, Any], Arrays]:
        return {"layers": list(self.token_layers)}, self._weights.pack()

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: Arrays) -> BTGPreorderer:
        layers = values.get("layers")
        known = [name for name in LAYERS if layers.count(name) == 1] if isinstance(layers, list) else []
        if not isinstance(layers, list) or not known or len(known) < len(layers):
            raise DataError(f"not the layers of a BTG model: {shown(layers)}")
        return cls(unpack(arrays), layers)

    @classmethod
    def fit(cls, training: Training) -> tuple[BTGPreorderer, dict[str, Any]]:
        """Learn by the layers that all sentences have; the same model on any machine."""
        bitext, options, held_out, checkpoint, initial = training
        from preorder.btg.constraint import learnable  # none of this is needed where a model is used
        from preorder.learning.loop import HeldOutLines, train
        from preorder.learning.options import without_threads
        from preorder.methods.perceptron_btg.learner import PerceptronLearner, weights_of

        lines = (*bitext.sentences, *held_out.sentences)
        layers = initial.token_layers if initial else common_layers(lines, options.word_dropout)
        learned, constraint, counts = learnable(bitext)
        begun = None if initial is None else initial._weights
        learner = PerceptronLearner(layers, learned.sentences, constraint, options, begun, learned.pairs)
        average, progress = train(learner, options.iterations, HeldOutLines(held_out), checkpoint)
        del learner  # its tables are larger than all that follows
        weights = weights_of(average)
        del average
        weights = weights.compact(NEGLIGIBLE * options.cost, begun, options.weights)
        count = sum(int(np.count_nonzero(rows)) for rows in (*weights.rows, weights.shape))
        statistics = {"options": without_threads(options), **counts, "weights": count, **progress}
        return cls(weights, layers), statistics

    @classmethod
    def together(cls, models: Sequence[BTGPreorderer]) -> BTGPreorderer:
        """Return the mean of models that have learned from the same lines, as large and as fast as one."""
        return cls(Weights.mean([model._weights for model in models]), models[0].token_layers)
