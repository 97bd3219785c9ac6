"""The preorderer that labels given trees by logistic regression: training, use, and what is saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np

from preorder.data.errors import DataError
from preorder.data.trees import BINARISATIONS
from preorder.data.types import NO_LINES, Bitext, Sentence
from preorder.learning import regression
from preorder.learning.checkpoint import NO_CHECKPOINT, Checkpoint
from preorder.learning.regression import BITS
from preorder.learning.training_loop import TAU, HeldOut
from preorder.methods.node_labels.forest import Forest
from preorder.methods.node_labels.labelling import KINDS, LAYERS, TreeLabeller, lesson
from preorder.methods.node_labels.logistic.features import Features
from preorder.methods.node_labels.logistic.options import Options
from preorder.methods.node_labels.oracle import best_labels

PASSES = 20  # of the coordinate descent, at most

WEIGHTS = "weights"
"""Name of the array: float32 ``[2^BITS + 1]``, the bias last."""


class SwapLogisticPreorderer(TreeLabeller):
    """A trained logistic regression; see :class:`preorder.methods.base.Preorderer`."""

    method: ClassVar[str] = "swap-logistic"

    def __init__(self, kind: str, binarisation: str, channels: Sequence[str], weights: np.ndarray) -> None:
        """Make a preorderer of weights: float32 ``[2^BITS + 1]``."""
        super().__init__(kind, binarisation, channels)
        self._features = Features(channels)
        self._weights = weights

    def log_odds(self, sentences: Sequence[Sentence], trees: Forest, threads: int) -> np.ndarray:  # noqa: ARG002
        """Return for each of ``trees.rows`` how much rather it is inverted: float32 ``[nodes]``."""
        return regression.log_odds(self._weights, self._features(sentences, trees))

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return what :meth:`from_state` needs: values for JSON, and arrays."""
        values = {"trees": self.kind, "binarisation": self.binarisation, "channels": list(self.channels)}
        return values, {WEIGHTS: self._weights}

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> SwapLogisticPreorderer:
        """Rebuild a preorderer.

        Raises:
            DataError: the state is not one of such a regression.
        """
        kind, how, channels = (values.get(name) for name in ("trees", "binarisation", "channels"))
        known = isinstance(channels, list) and set(LAYERS[:2]) <= set(channels) <= set(LAYERS)
        if kind not in KINDS or how not in BINARISATIONS or not known:
            raise DataError(f"not the trees and layers of a regression: {kind!r}, {how!r}, {channels!r}")
        if WEIGHTS not in arrays or arrays[WEIGHTS].shape != ((1 << BITS) + 1,):
            raise DataError("not the weights of a regression on nodes")
        return cls(kind, how, channels, arrays[WEIGHTS])

    @classmethod
    def fit(
        cls,
        bitext: Bitext,
        options: Options,
        held_out: Bitext = NO_LINES,
        checkpoint: Checkpoint = NO_CHECKPOINT,  # noqa: ARG003  # done before one would be due
    ) -> tuple[SwapLogisticPreorderer, dict[str, Any]]:
        """Train on sentences with trees and alignments; some 100 µs a node.

        Returns:
            The preorderer, and figures: those of :func:`.labelling.lesson`; ``options``;
            ``weights`` that are not zero; the ``tau_nakagawa`` of the ``held_out`` lines, if there are any.

        Raises:
            DataError: a link is out of range.
            UsageError: trees or tags are missing, or there is nothing to learn.
        """
        learned = lesson(bitext, held_out, options.binarisation, options.unaligned)
        counted = learned.counts.any(axis=1)
        features = Features(learned.channels)(learned.sentences, learned.trees)[counted]
        labels = best_labels(learned.counts)[counted]
        weights = regression.fit(features, labels, options.inverse_penalty, PASSES, options.seed)
        preorderer = cls(learned.kind, options.binarisation, learned.channels, weights)
        figures = {"options": asdict(options), **learned.figures, "weights": int(np.count_nonzero(weights))}
        lines = HeldOut(held_out)
        if len(lines):
            figures |= {TAU: lines.tau(preorderer.order(lines.sentences))}
        return preorderer, figures | {"held_out": len(lines)}
