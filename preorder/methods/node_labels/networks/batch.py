"""Sentences and their trees as numbers, the minibatches that networks take, and what these say of all nodes.

A minibatch has equally long sentences. Its nodes are sorted by height, where a leaf has height 0 and a node
one more than the higher of its children, so that all nodes of a height can be computed together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from preorder.data import Sentence
from preorder.learning import backend
from preorder.learning.backend import device, torch
from preorder.learning.vocabulary import UNKNOWN, Vocabulary, frequent
from preorder.methods.node_labels.forest import ROOT, Forest, Relations, relations_of

MAX_TOKENS = 8192
"""Greatest number of tokens that are labelled at a time, unless one sentence has more."""


class Batch(NamedTuple):
    """Sentences, one after another; each token shares a row with a node, as in a :class:`Forest`.

    Attributes:
        trees: their trees.
        tokens: int64 ``[layers, tokens]``, rows of a vocabulary.
        categories: int64 ``[tokens]``, of the node of each row.
        relations: children, parents and heights of the nodes.
    """

    trees: Forest
    tokens: np.ndarray
    categories: np.ndarray
    relations: Relations


class Minibatch(NamedTuple):
    """Nodes of some equally long sentences, by height. All tensors are int64.

    Attributes:
        tokens: ``[layers, sentences, n]``, rows of a vocabulary.
        sentences: ``[nodes]``, the index of each node's sentence in the minibatch.
        spans: ``[nodes, 3]``, begin, split and end.
        categories: ``[nodes]``.
        sides: ``[nodes]``, twice the category of the parent, plus one for a right child; or ``ROOT``.
        children: ``[nodes, 2]``, indices of vectors: first the tokens, sentence by sentence, then the nodes.
        sizes: how many nodes have height 1, 2, …
    """

    tokens: torch.Tensor
    sentences: torch.Tensor
    spans: torch.Tensor
    categories: torch.Tensor
    sides: torch.Tensor
    children: torch.Tensor
    sizes: list[int]


class Numbering:
    """Rows of the embeddings of tokens and of categories; 0 stands for all that are unknown."""

    def __init__(self, vocabulary: Vocabulary, categories: Sequence[str]) -> None:
        """Number the categories in the order given, from 1."""
        self.vocabulary = vocabulary
        self.categories = tuple(categories)
        self._row_of = {category: row for row, category in enumerate(categories, 1)}

    @classmethod
    def of(
        cls, sentences: Sequence[Sentence], trees: Forest, layers: Sequence[str], max_strings: int
    ) -> tuple[Numbering, np.ndarray]:
        """Number the frequent tokens and categories of training sentences; see :meth:`Vocabulary.of`."""
        vocabulary, frequencies = Vocabulary.of(sentences, layers, max_strings)
        return cls(vocabulary, tuple(frequent(filter(None, trees.categories)))), frequencies

    @property
    def rows(self) -> int:
        """Number of rows of categories."""
        return 1 + len(self.categories)

    def __call__(self, sentences: Sequence[Sentence], trees: Forest) -> Batch:
        """Number sentences and their trees; linear."""
        found = (self._row_of.get(category, UNKNOWN) for category in trees.categories)
        categories = np.fromiter(found, np.int64, len(trees.categories))
        return Batch(trees, self.vocabulary(sentences), categories, relations_of(trees))


def equally_long(
    lengths: np.ndarray, size: Callable[[int], int], generator: np.random.Generator | None = None
) -> Iterator[np.ndarray]:
    """Yield the sentences of two tokens or more in groups of one length, the longest first.

    Args:
        lengths: of the sentences.
        size: gives for a length the number of sentences of a group.
        generator: shuffles the sentences of each length; None: they stay as they are.
    """
    for length in np.unique(lengths[lengths > 1])[::-1].tolist():
        sentences = np.flatnonzero(lengths == length)
        if generator is not None:
            generator.shuffle(sentences)
        yield from np.split(sentences, range(size(length), sentences.size, size(length)))


def minibatch(batch: Batch, sentences: np.ndarray, device: torch.device) -> tuple[Minibatch, np.ndarray]:
    """Return the sentences of some indices, equally long, as a minibatch, and the rows of its nodes."""
    trees = batch.trees
    n = int(trees.lengths[sentences[0]])
    indices = trees.starts[sentences, None] + np.arange(n)  # [sentences, n]
    rows = indices[:, :-1].ravel()
    heights = batch.relations.heights[rows]
    order = np.argsort(heights, kind="stable")
    owners = order // (n - 1)
    numbers = np.empty(rows.size, np.int64)
    numbers[order] = indices.size + np.arange(rows.size)
    rows = rows[order]
    within = batch.relations.children[rows]
    number_of_node = numbers[np.maximum(within - n, 0) + owners[:, None] * (n - 1)]
    children = np.where(within < n, within + owners[:, None] * n, number_of_node)
    parents = batch.relations.parents[rows]
    sides = np.where(parents == ROOT, ROOT, 2 * batch.categories[parents // 2] + parents % 2)
    spans = trees.nodes[rows, :3].astype(np.int64)
    arrays = (batch.tokens[:, indices], owners, spans, batch.categories[rows], sides, children)
    tensors = (torch.from_numpy(array).to(device) for array in arrays)
    return Minibatch(*tensors, np.bincount(heights)[1:].tolist()), rows


def log_odds(network: torch.nn.Module, batch: Batch, threads: int) -> np.ndarray:
    """Return the log-odds of inversion for each of ``batch.trees.rows``: float32 ``[nodes]``.

    Minibatches of equally long sentences are computed side by side, each by one thread, so that the result
    does not depend on how many threads there are.
    """
    odds = np.zeros(len(batch.trees.nodes), np.float32)

    def run(sentences: np.ndarray) -> None:
        with torch.inference_mode():
            nodes, rows = minibatch(batch, sentences, device())
            odds[rows] = network(nodes).cpu().numpy()

    with backend.threads(1), ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, equally_long(batch.trees.lengths, lambda n: max(1, MAX_TOKENS // n))))
    return odds[batch.trees.rows]
