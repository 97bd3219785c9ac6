"""Sentences and their trees as numbers, and the minibatches that networks take.

A minibatch is of equally long sentences. Its nodes are sorted by height, where a leaf has height 0 and
a node one more than the higher of its children, so that all of one height can be computed together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from preorder.data.types import Sentence
from preorder.learning.backend import torch
from preorder.learning.vocabulary import UNKNOWN, Vocabulary
from preorder.methods.node_labels.forest import ROOT, Forest, Links, link


class Batch(NamedTuple):
    """Sentences, one after another; a row of a token is that of its node, too, as in a forest.

    Attributes:
        trees: their trees.
        tokens: int64 ``[channels, tokens]``, rows of a vocabulary.
        categories: int64 ``[tokens]``, of the node of each row.
        links: how the nodes hang together.
    """

    trees: Forest
    tokens: np.ndarray
    categories: np.ndarray
    links: Links


class Minibatch(NamedTuple):
    """Nodes of some equally long sentences, by height. All tensors are int64.

    Attributes:
        tokens: ``[channels, sentences, n]``, rows of a vocabulary.
        sentences: ``[nodes]``, from 0.
        spans: ``[nodes, 3]``, begin, split and end.
        categories: ``[nodes]``.
        sides: ``[nodes]``, twice the category of the parent, and one more for a right child, or
            ``ROOT``.
        children: ``[nodes, 2]``, numbers of vectors: first the tokens, sentence by sentence, then the nodes.
        sizes: how many nodes are of height 1, 2, …
    """

    tokens: torch.Tensor
    sentences: torch.Tensor
    spans: torch.Tensor
    categories: torch.Tensor
    sides: torch.Tensor
    children: torch.Tensor
    sizes: list[int]


class Numbering:
    """Numbers of tokens and of categories; 0 is whatever is unknown."""

    def __init__(self, vocabulary: Vocabulary, categories: Sequence[str]) -> None:
        """Number the categories in the order given, from 1."""
        self.vocabulary = vocabulary
        self.categories = tuple(categories)
        self._rows = {category: row for row, category in enumerate(categories, 1)}

    @property
    def rows(self) -> int:
        """How many numbers of categories there are."""
        return 1 + len(self.categories)

    def __call__(self, sentences: Sequence[Sentence], trees: Forest) -> Batch:
        """Number sentences and their trees; linear."""
        found = (self._rows.get(category, UNKNOWN) for category in trees.categories)
        categories = np.fromiter(found, np.int64, len(trees.categories))
        return Batch(trees, self.vocabulary(sentences), categories, link(trees))


def equally_long(
    lengths: np.ndarray, size: Callable[[int], int], generator: np.random.Generator | None = None
) -> Iterator[np.ndarray]:
    """Yield the sentences of two tokens or more in groups of one length, the longest first.

    Args:
        lengths: of the sentences.
        size: how many sentences of a length make a group.
        generator: shuffles the sentences of one length; None: as they are.
    """
    for length in np.unique(lengths[lengths > 1])[::-1].tolist():
        sentences = np.flatnonzero(lengths == length)
        if generator is not None:
            generator.shuffle(sentences)
        yield from np.split(sentences, range(size(length), sentences.size, size(length)))


def minibatch(batch: Batch, sentences: np.ndarray, device: torch.device) -> tuple[Minibatch, np.ndarray]:
    """Return equally long sentences of a batch as a minibatch, and the rows of its nodes."""
    trees = batch.trees
    n = int(trees.lengths[sentences[0]])
    places = trees.starts[sentences, None] + np.arange(n)  # [sentences, n]
    rows = places[:, :-1].ravel()
    heights = batch.links.heights[rows]
    order = np.argsort(heights, kind="stable")
    owners = order // (n - 1)
    numbers = np.empty(rows.size, np.int64)
    numbers[order] = places.size + np.arange(rows.size)
    rows = rows[order]
    within = batch.links.children[rows]
    number_of_node = numbers[np.maximum(within - n, 0) + owners[:, None] * (n - 1)]
    children = np.where(within < n, within + owners[:, None] * n, number_of_node)
    parents = batch.links.parents[rows]
    sides = np.where(parents == ROOT, ROOT, 2 * batch.categories[parents // 2] + parents % 2)
    arrays = (
        batch.tokens[:, places],
        owners,
        trees.nodes[rows, :3].astype(np.int64),
        batch.categories[rows],
        sides,
        children,
    )
    tensors = (torch.from_numpy(array).to(device) for array in arrays)
    return Minibatch(*tensors, np.bincount(heights)[1:].tolist()), rows
