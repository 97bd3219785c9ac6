"""The networks that label the nodes of trees, and sentences and trees as the numbers that they read.

:class:`Recursive` is that of Kawara et al. (2018, 2021); :class:`Contextual` reads the whole sentence before
it looks at a node. A minibatch has equally long sentences. Its nodes are sorted by height, where a leaf has
height 0 and a node one more than the higher of its children: all nodes of a height are computed together.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from preorder.data import Sentence
from preorder.errors import NotFiniteError
from preorder.learning.encode import UNKNOWN_ROW, WIDTHS, Vocabulary
from preorder.learning.network import device, drop, equally_long, one_torch_thread, torch
from preorder.methods.tree_swap.trees import NO_PARENT, Forest, Relations, find_relations

nn = torch.nn

MAX_TOKENS = 8192  # that are labelled at a time, unless one sentence has more


class TreeBatch(NamedTuple):
    """Sentences, one after another; each token shares a row with a node, as in a :class:`Forest`."""

    trees: Forest
    tokens: np.ndarray  # int64 [layers, tokens], rows of a vocabulary
    categories: np.ndarray  # int64 [tokens], of the node of each row
    relations: Relations


class Minibatch(NamedTuple):
    """Nodes of some equally long sentences, by height. All tensors are int64."""

    tokens: torch.Tensor  # [layers, sentences, n], rows of a vocabulary
    sentences: torch.Tensor  # [nodes], index of the sentence in the minibatch
    spans: torch.Tensor  # [nodes, 3], begin, split and end
    categories: torch.Tensor  # [nodes]
    sides: torch.Tensor  # [nodes], twice the category of the parent, plus one for a right child; or NO_PARENT
    children: torch.Tensor  # [nodes, 2], indices of vectors: first all tokens, then the nodes
    sizes: list[int]  # how many nodes have height 1, 2, …


class Numbering:
    """Rows of the embeddings of tokens and of categories; 0 stands for all that are unknown."""

    def __init__(self, vocabulary: Vocabulary, categories: Sequence[str]) -> None:
        self.vocabulary = vocabulary
        self.categories = tuple(categories)
        self._row_of = {category: row for row, category in enumerate(categories, 1)}

    @property
    def rows(self) -> int:
        """How many categories have an embedding, with the unknown one."""
        return 1 + len(self.categories)

    def __call__(self, sentences: Sequence[Sentence], trees: Forest) -> TreeBatch:
        """Return the sentences and trees as numbers."""
        found = (self._row_of.get(category, UNKNOWN_ROW) for category in trees.categories)
        categories = np.fromiter(found, np.int64, len(trees.categories))
        relations = find_relations(trees.nodes, trees.starts, trees.lengths)
        return TreeBatch(trees, self.vocabulary(sentences), categories, relations)


def minibatch(batch: TreeBatch, sentences: np.ndarray, device: torch.device) -> tuple[Minibatch, np.ndarray]:
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
    sides = np.where(parents == NO_PARENT, NO_PARENT, 2 * batch.categories[parents // 2] + parents % 2)
    spans = trees.nodes[rows, :3].astype(np.int64)
    arrays = (batch.tokens[:, indices], owners, spans, batch.categories[rows], sides, children)
    tensors = (torch.from_numpy(array).to(device) for array in arrays)
    return Minibatch._make((*tensors, np.bincount(heights)[1:].tolist())), rows


def log_odds(network: nn.Module, batch: TreeBatch, threads: int) -> np.ndarray:
    """Return the log-odds of inversion for each of ``batch.trees.rows``: float32 ``[nodes]``."""
    odds = np.zeros(len(batch.trees.nodes), np.float32)

    def run(sentences: np.ndarray) -> None:
        with torch.inference_mode():
            nodes, rows = minibatch(batch, sentences, device())
            odds[rows] = network(nodes).cpu().numpy()

    with one_torch_thread(), ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, equally_long(batch.trees.lengths, lambda n: max(1, MAX_TOKENS // n))))
    if not np.isfinite(odds).all():
        raise NotFiniteError("the scores")
    return odds[batch.trees.rows]


class Recursive(nn.Module):
    """The recursive network: the vector of a node is computed from those of its children.

    That of a leaf is ``relu([word; tag] V + c)``, of the embeddings of its word and tag; that of a node is
    p = relu([p_left; p_right] W + b) (Kawara et al. 2021, equation 8), where b may depend on the category of
    the node; ``p U + d`` scores straight and inverted.
    """

    def __init__(
        self, rows: dict[str, int], categories: int, size: int, dropout: float = 0.0, category: bool = True
    ) -> None:
        super().__init__()
        self.embeddings = nn.ModuleList(nn.Embedding(count, size) for count in rows.values())
        self.leaf = nn.ModuleList(nn.Linear(size, size, bias=not i) for i in range(len(rows)))
        self.weight = nn.Parameter(torch.empty(2 * size, size))
        self.bias = nn.Parameter(torch.zeros(size))
        self.category = nn.Embedding(categories, size) if category else None
        self.output = nn.Linear(size, 2)
        self.dropout = dropout
        nn.init.xavier_uniform_(self.weight)
        for embedding in (*self.embeddings, *([self.category] if category else [])):
            nn.init.normal_(embedding.weight, std=0.1)

    def forward(self, minibatch: Minibatch) -> torch.Tensor:
        """Return the log-odds of inversion, ``[nodes]``; O(nodes · size²), one product for each height."""
        parts = map(self._leaves, self.embeddings, self.leaf, minibatch.tokens.flatten(1))
        leaves = reduce(torch.add, parts).relu()
        biases = self.bias.expand(len(minibatch.children), -1)
        if self.category is not None:
            biases = biases + self.category(minibatch.categories)
        nodes = _Compose.apply(leaves, biases, self.weight, minibatch.children, minibatch.sizes)
        straight, inverted = self.output(self._dropped(nodes)).unbind(1)
        return inverted - straight

    def _leaves(self, embedding: nn.Module, leaf: nn.Module, tokens: torch.Tensor) -> torch.Tensor:
        """Return one layer's part of the vectors of all tokens; each string is computed once."""
        different, indices = tokens.unique(return_inverse=True)
        return leaf(self._dropped(embedding(different)))[indices]

    def _dropped(self, vectors: torch.Tensor) -> torch.Tensor:
        return nn.functional.dropout(vectors, self.dropout, self.training)


class _Compose(torch.autograd.Function):
    """The vectors of all nodes, ``[nodes, size]``, height by height; differentiable once.

    Given vectors of tokens and biases of nodes, a weight, and the children and sizes of a :class:`Minibatch`.
    """

    @staticmethod
    def forward(ctx, leaves, biases, weight, children, sizes):
        vectors = leaves.new_empty((len(leaves) + len(biases), leaves.shape[1]))
        vectors[: len(leaves)] = leaves
        first = 0
        for size in sizes:
            nodes = slice(first, first + size)
            below = vectors[children[nodes].flatten()].view(size, -1)
            vectors[len(leaves) + first :][:size] = torch.addmm(biases[nodes], below, weight).relu_()
            first += size
        ctx.save_for_backward(vectors, weight, children)
        ctx.sizes = sizes
        return vectors[len(leaves) :]

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        vectors, weight, children = ctx.saved_tensors
        tokens = len(vectors) - len(children)
        below = vectors.new_zeros(vectors.shape)
        below[tokens:] = gradient
        last = len(vectors)
        for size in reversed(ctx.sizes):
            nodes = slice(last - size, last)
            below[nodes].masked_fill_(vectors[nodes] <= 0, 0)
            parts = (below[nodes] @ weight.T).view(2 * size, -1)
            below.index_add_(0, children[last - size - tokens : last - tokens].flatten(), parts)
            last -= size
        of_weight = vectors[children.flatten()].view(len(children), -1).T @ below[tokens:]
        return below[:tokens], below[tokens:], of_weight, None, None


class Contextual(nn.Module):
    """Score each node by the states of LSTMs at its boundaries, and by its category and its parent's.

    A boundary has the state of the forward LSTM before and that of the backward one behind it. One hidden
    layer, ``relu(begin + split + end + category + parent) U + d``, also sees a node's side below its parent.
    """

    def __init__(
        self, rows: dict[str, int], categories: int, size: int, dropout: float = 0.0, category: bool = True
    ) -> None:
        super().__init__()
        self.embeddings = nn.ModuleList(nn.Embedding(count, WIDTHS[name]) for name, count in rows.items())
        width = sum(WIDTHS[name] for name in rows)
        self.border = nn.Parameter(torch.randn(width) * 0.3)
        self.encoder = nn.LSTM(width, size, bidirectional=True)
        self.places = nn.Linear(2 * size, 3 * size)  # of boundaries; the name is kept for saved models
        self.category = nn.Embedding(categories, size) if category else None
        self.parent = nn.Embedding(2 * categories + 1, size) if category else None
        self.output = nn.Linear(size, 2)
        self.dropout = dropout
        for embedding in (*self.embeddings, *([self.category, self.parent] if category else [])):
            nn.init.normal_(embedding.weight, std=0.3)

    def forward(self, minibatch: Minibatch) -> torch.Tensor:
        """Return the log-odds of inversion, ``[nodes]``; the LSTMs take n + 2 steps."""
        parts = [e(rows.T) for e, rows in zip(self.embeddings, minibatch.tokens, strict=True)]
        embedded = torch.cat(parts, 2)  # [n, sentences, width]
        border = self.border.expand(1, embedded.shape[1], -1)
        dropout = self.dropout if self.training else 0.0
        states, _ = self.encoder(torch.cat((border, drop(embedded, 1, dropout), border)))
        forward, backward = states.chunk(2, 2)
        boundaries = drop(torch.cat((forward[:-1], backward[1:]), 2), 1, dropout)
        begins, splits, ends = self.places(boundaries).chunk(3, 2)
        (begin, split, end), sentences = minibatch.spans.unbind(1), minibatch.sentences
        hidden = begins[begin, sentences] + splits[split, sentences] + ends[end, sentences]
        if self.category is not None and self.parent is not None:
            hidden = hidden + self.category(minibatch.categories) + self.parent(minibatch.sides + 1)
        hidden = nn.functional.dropout(hidden.relu(), self.dropout, self.training)
        straight, inverted = self.output(hidden).unbind(1)
        return inverted - straight
