"""Logistic regression on hashed features that labels the nodes of given trees (Hoshino et al. 2015).

The features are of the tokens at a node's boundaries, and of categories.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from preorder.data.errors import DataError, shown
from preorder.data.trees import Binarisation
from preorder.data.types import NO_LINES, Bitext, Sentence
from preorder.learning import regression
from preorder.learning.checkpoint import NO_CHECKPOINT, Arrays, Checkpoint, checked
from preorder.learning.encode import Encoder, Hashes
from preorder.learning.held_out import HeldOutLines
from preorder.learning.options import without_threads
from preorder.learning.regression import BITS, hashed
from preorder.learning.training_loop import TAU
from preorder.learning.vocabulary import is_layers
from preorder.methods.node_labels.forest import ROOT, Forest, relations_of
from preorder.methods.node_labels.labeller import TreeLabeller, trees_of
from preorder.methods.node_labels.options import LogisticOptions
from preorder.methods.node_labels.oracle import best_labels
from preorder.methods.node_labels.training_data import training_data

CORNERS = ("before", "first_left", "last_left", "first_right", "last_right", "after")
"""The tokens that are looked at: before and after the node, and first and last of each child."""

CATEGORIES = ("own", "left", "right", "parent")
"""Categories: the node's, its children's (a token's is its tag), and its parent's with which child it is."""

CATEGORY_COMBINATIONS = (("own", "left", "right"), ("own", "parent"), ("own", "left", "right", "parent"))

MAX_WIDTH = 6  # of a child; wider ones count the same

MAX_PASSES = 20  # of the coordinate descent

WEIGHTS = "weights"
"""Name of the array: float32 ``[2^BITS + 1]``, the bias last."""


class Features:
    """Compute the hashed features of nodes."""

    def __init__(self, layers: Sequence[str]) -> None:
        """Make features of the given layers of tokens, the words and the tags among them."""
        self._encoder = Encoder(layers)
        self._layers = tuple(layers)
        self._hashes = Hashes("category")

    def __call__(self, sentences: Sequence[Sentence], trees: Forest) -> np.ndarray:
        """Return the features of each of ``trees.rows``: int32 ``[nodes, features]``, below ``2^BITS``.

        Some 0.1 µs a node and feature.
        """
        atoms = self._tokens(sentences, trees) | self._categories_and_widths(sentences, trees)
        combined = [(name,) for name in atoms]
        for layer in self._layers:
            inside = [f"{layer} {corner}" for corner in CORNERS[1:-1]]
            combined += [*combinations(inside, 2), tuple(inside)]
            combined += [("own", name) for name in inside]
        combined += [*CATEGORY_COMBINATIONS, ("widths", "own", "left", "right")]
        combined += [(f"words {one}", f"tags {other}") for one in CORNERS[1:-1] for other in CORNERS[1:-1]]
        rows = trees.rows
        features = np.empty((rows.size, len(combined)), np.int32)
        for number, names in enumerate(combined):
            features[:, number] = hashed(number, [atoms[name] for name in names])
        return features

    def _tokens(self, sentences: Sequence[Sentence], trees: Forest) -> dict[str, np.ndarray]:
        """Return the hashes of the tokens at each node's corners, or of the sentence border beside it."""
        batch = self._encoder(sentences)
        rows = trees.rows
        first = np.repeat(batch.starts, np.maximum(trees.lengths - 1, 0))
        begin, split, end = trees.nodes[rows, :3].T + first
        indices = (begin - 1, begin, split - 1, split, end - 1, end)
        return {
            f"{layer} {name}": tokens[index]
            for layer, tokens in zip(self._layers, batch.tokens, strict=True)
            for name, index in zip(CORNERS, indices, strict=True)
        }

    def _categories_and_widths(self, sentences: Sequence[Sentence], trees: Forest) -> dict[str, np.ndarray]:
        """Return the hashes of the ``CATEGORIES``, and the children's widths."""
        rows, relations = trees.rows, relations_of(trees)
        own = np.fromiter(map(self._hashes.__getitem__, trees.categories), np.uint64, len(trees.nodes))
        tags = (tag for sentence in sentences for tag in sentence.tags)
        leaves = np.fromiter(map(self._hashes.__getitem__, tags), np.uint64, len(trees.nodes))
        starts, lengths = (np.repeat(a, trees.lengths)[rows] for a in (trees.starts, trees.lengths))
        sides = []
        for child in relations.children[rows].T:
            node = np.where(child < lengths, 0, starts + child - lengths)
            leaf = np.where(child < lengths, starts + child, 0)
            sides.append(np.where(child < lengths, leaves[leaf], own[node]))
        parents = relations.parents[rows]
        above = np.where(parents == ROOT, np.uint64(0), own[parents // 2] + (parents % 2).astype(np.uint64))
        begin, split, end = trees.nodes[rows, :3].T
        widths = np.minimum(split - begin, MAX_WIDTH) * (MAX_WIDTH + 1) + np.minimum(end - split, MAX_WIDTH)
        values = (own[rows], *sides, above)
        return dict(zip(CATEGORIES, values, strict=True)) | {"widths": widths.astype(np.uint64)}


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
        values = {"trees": self.kind, "binarisation": self.binarisation, "channels": list(self.token_layers)}
        return values, {WEIGHTS: self._weights}

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: Arrays) -> SwapLogisticPreorderer:
        """Rebuild a preorderer from its :meth:`state`; a DataError says that it is none of a regression."""
        layers = values.get("channels")
        if not is_layers(layers) or not {"words", "tags"} <= set(layers):
            raise DataError(f"not the layers of a regression on nodes: {shown(layers)}")
        weights = checked(arrays, WEIGHTS, np.float32, ((1 << BITS) + 1,), "a regression on nodes")
        return cls(*trees_of(values), layers, weights)

    @classmethod
    def fit(
        cls,
        bitext: Bitext,
        options: LogisticOptions,
        held_out: Bitext = NO_LINES,
        checkpoint: Checkpoint = NO_CHECKPOINT,  # noqa: ARG003  # done before one would be due
    ) -> tuple[SwapLogisticPreorderer, dict[str, Any]]:
        """Learn from sentences with trees and alignments; see :meth:`preorder.methods.base.Preorderer.fit`.

        Takes some 100 µs a node. The statistics include those of :class:`.training_data.TrainingData`, and
        the ``tau_nakagawa`` of the held-out lines; ``weights`` counts those that are not zero.
        """
        data = training_data(bitext, held_out, options.binarisation)
        counted = data.counts.any(axis=1)
        features = Features(data.layers)(data.sentences, data.trees)[counted]
        labels = best_labels(data.counts)[counted]
        weights = regression.fit(features, labels, options.inverse_penalty, MAX_PASSES, options.seed)
        preorderer = cls(data.kind, options.binarisation, data.layers, weights)
        nonzero = int(np.count_nonzero(weights))
        statistics = {"options": without_threads(options), **data.statistics, "weights": nonzero}
        lines = HeldOutLines(held_out)
        if len(lines):
            statistics |= {TAU: lines.tau(preorderer.order(lines.sentences))}
        return preorderer, statistics | {"held_out": len(lines)}
