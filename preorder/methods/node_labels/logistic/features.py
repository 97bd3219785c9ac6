"""Features of a node, after Hoshino et al. (2015): tokens at its boundaries, and categories."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from preorder.data.types import Sentence
from preorder.learning.encode import Encoder, Hashes
from preorder.learning.regression import hashed
from preorder.methods.node_labels.forest import ROOT, Forest, relations_of

CORNERS = ("before", "first_left", "last_left", "first_right", "last_right", "after")
"""The tokens that are looked at: before and after the node, and first and last of each child."""

CATEGORIES = ("own", "left", "right", "parent")
"""Categories: the node's, its children's (a token's is its tag), and its parent's with which child it is."""

CATEGORY_COMBINATIONS = (("own", "left", "right"), ("own", "parent"), ("own", "left", "right", "parent"))

MAX_WIDTH = 6  # of a child; wider ones count the same


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
        combined += CATEGORY_COMBINATIONS
        combined += [("widths", "own", "left", "right")]
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
