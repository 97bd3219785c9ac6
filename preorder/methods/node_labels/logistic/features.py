"""Features of a node, after Hoshino et al. (2015): tokens at its borders, its category and those near it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from preorder.data.types import Sentence
from preorder.learning.encode import Encoder, Hashes
from preorder.learning.regression import hashed
from preorder.methods.node_labels.forest import ROOT, Forest, link

BORDERS = ("before", "first_left", "last_left", "first_right", "last_right", "after")
"""Tokens by their place: on either side of the node, and first and last of its children."""

NODES = ("own", "left", "right", "parent")
"""Categories; of a child that is a token its tag, of the parent with which child of it the node is."""

NODE_JOINS = (("own", "left", "right"), ("own", "parent"), ("own", "left", "right", "parent"))

WIDEST = 6  # of a child's width; more is as much


class Features:
    """Hash what the nodes of trees look like."""

    def __init__(self, channels: Sequence[str]) -> None:
        """Say which layers of a sentence are looked at; the words and the tags are two of them."""
        self._encoder = Encoder(channels)
        self._channels = tuple(channels)
        self._categories = Hashes("category")

    def __call__(self, sentences: Sequence[Sentence], trees: Forest) -> np.ndarray:
        """Return the features of each of ``trees.rows``: int32 ``[nodes, features]``, below ``2^BITS``.

        Some 0.1 µs a node and feature.
        """
        atoms = self._tokens(sentences, trees) | self._nodes(sentences, trees)
        joined = [(name,) for name in atoms]
        for channel in self._channels:
            inside = [f"{channel} {place}" for place in BORDERS[1:-1]]
            joined += [*combinations(inside, 2), tuple(inside)]
            joined += [("own", name) for name in inside]
        joined += NODE_JOINS
        joined += [("widths", "own", "left", "right")]
        joined += [(f"words {one}", f"tags {other}") for one in BORDERS[1:-1] for other in BORDERS[1:-1]]
        rows = trees.rows
        features = np.empty((rows.size, len(joined)), np.int32)
        for number, names in enumerate(joined):
            features[:, number] = hashed(number, [atoms[name] for name in names])
        return features

    def _tokens(self, sentences: Sequence[Sentence], trees: Forest) -> dict[str, np.ndarray]:
        """Return the hashes of each node's tokens, channel by channel; sentences stand between borders."""
        batch = self._encoder(sentences)
        rows = trees.rows
        first = np.repeat(batch.starts, np.maximum(trees.lengths - 1, 0))
        begin, split, end = trees.nodes[rows, :3].T + first
        places = (begin - 1, begin, split - 1, split, end - 1, end)
        return {
            f"{channel} {name}": tokens[place]
            for channel, tokens in zip(self._channels, batch.tokens, strict=True)
            for name, place in zip(BORDERS, places, strict=True)
        }

    def _nodes(self, sentences: Sequence[Sentence], trees: Forest) -> dict[str, np.ndarray]:
        """Return the hashes of categories, and of the children's widths."""
        rows, links = trees.rows, link(trees)
        own = np.fromiter(map(self._categories.__getitem__, trees.categories), np.uint64, len(trees.nodes))
        tags = (tag for sentence in sentences for tag in sentence.tags)
        leaves = np.fromiter(map(self._categories.__getitem__, tags), np.uint64, len(trees.nodes))
        starts, lengths = (np.repeat(a, trees.lengths)[rows] for a in (trees.starts, trees.lengths))
        sides = []
        for child in links.children[rows].T:
            node = np.where(child < lengths, 0, starts + child - lengths)
            leaf = np.where(child < lengths, starts + child, 0)
            sides.append(np.where(child < lengths, leaves[leaf], own[node]))
        parents = links.parents[rows]
        above = np.where(parents == ROOT, np.uint64(0), own[parents // 2] + (parents % 2).astype(np.uint64))
        begin, split, end = trees.nodes[rows, :3].T
        widths = np.minimum(split - begin, WIDEST) * (WIDEST + 1) + np.minimum(end - split, WIDEST)
        values = (own[rows], *sides, above)
        return dict(zip(NODES, values, strict=True)) | {"widths": widths.astype(np.uint64)}
