"""The preorderer that labels given trees by logistic regression: training, use, and what is saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np

from preorder.data.errors import DataError, shown
from preorder.data.trees import Binarisation
from preorder.data.types import NO_LINES, Bitext, Sentence
from preorder.learning import regression
from preorder.learning.arrays import Arrays, checked
from preorder.learning.checkpoint import NO_CHECKPOINT, Checkpoint
from preorder.learning.held_out import HeldOutLines
from preorder.learning.layers import is_layers
from preorder.learning.regression import BITS
from preorder.learning.training_loop import TAU
from preorder.methods.node_labels.forest import Forest
from preorder.methods.node_labels.labeller import TreeLabeller, trees_of
from preorder.methods.node_labels.logistic.features import Features
from preorder.methods.node_labels.logistic.options import Options
from preorder.methods.node_labels.oracle import best_labels
from preorder.methods.node_labels.training_data import training_data

MAX_PASSES = 20  # of the coordinate descent

WEIGHTS = "weights"
"""Name of the array: float32 ``[2^BITS + 1]``, the bias last."""


class SwapLogisticPreorderer(TreeLabeller):
    """A trained logistic regression; see :class:`preorder.methods.base.Preorderer`."""

    method: ClassVar[str] = "swap-logistic"

    def __init__(
        self, kind: str, binarisation: Binarisation, token_layers: Sequence[str], weights: np.ndarray
    ) -> None:
        """Make a preorderer of weights: float32 ``[2^BITS + 1]``."""
        super().__init__(kind, binarisation, token_layers)
        self._features = Features(token_layers)
        self._weights = weights

    def log_odds(self, sentences: Sequence[Sentence], trees: Forest, threads: int) -> np.ndarray:  # noqa: ARG002
        """Return the log-odds that each of ``trees.rows`` is inverted: float32 ``[nodes]``."""
        return regression.log_odds(self._weights, self._features(sentences, trees))

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return what :meth:`from_state` needs: values for JSON, and arrays."""
        values = {
            "trees": self.kind,
            "binarisation": self.binarisation,
            "channels": list(self.token_layers),
        }
        return values, {WEIGHTS: self._weights}

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: Arrays) -> SwapLogisticPreorderer:
        """Rebuild a preorderer from its :meth:`state`.

        Raises:
            DataError: the state is not one of such a regression.
        """
        layers = values.get("channels")
        if not is_layers(layers) or not {"words", "tags"} <= set(layers):
            raise DataError(f"not the layers of a regression on nodes: {shown(layers)}")
        weights = checked(arrays, WEIGHTS, np.float32, ((1 << BITS) + 1,), "a regression on nodes")
        return cls(*trees_of(values), layers, weights)

    @classmethod
    def fit(
        cls,
        bitext: Bitext,
        options: Options,
        held_out: Bitext = NO_LINES,
        checkpoint: Checkpoint = NO_CHECKPOINT,  # noqa: ARG003  # done before one would be due
    ) -> tuple[SwapLogisticPreorderer, dict[str, Any]]:
        """Learn from sentences with trees and alignments; see :meth:`preorder.methods.base.Preorderer.fit`.

        Takes some 100 µs a node. The statistics include those of :class:`.training_data.TrainingData`, and
        the ``tau_nakagawa`` of the held-out lines; ``weights`` counts those that are not zero.
        """
        data = training_data(bitext, held_out, options.binarisation, options.unaligned)
        counted = data.counts.any(axis=1)
        features = Features(data.layers)(data.sentences, data.trees)[counted]
        labels = best_labels(data.counts)[counted]
        weights = regression.fit(features, labels, options.inverse_penalty, MAX_PASSES, options.seed)
        preorderer = cls(data.kind, options.binarisation, data.layers, weights)
        statistics = {
            "options": asdict(options),
            **data.statistics,
            "weights": int(np.count_nonzero(weights)),
        }
        lines = HeldOutLines(held_out)
        if len(lines):
            statistics |= {TAU: lines.tau(preorderer.order(lines.sentences))}
        return preorderer, statistics | {"held_out": len(lines)}
