"""The recursive network of Kawara et al. (2018, 2021), and its preorderer.

p = relu([p_left; p_right] W + b)            (Kawara et al. 2021, equation 8)
"""

from __future__ import annotations

from typing import Any, ClassVar

from preorder.learning.backend import torch
from preorder.methods.node_labels.networks.batch import Minibatch
from preorder.methods.node_labels.networks.labeller import NetworkLabeller

nn = torch.nn


def compose(
    leaves: torch.Tensor, biases: torch.Tensor, weight: torch.Tensor, children: torch.Tensor, sizes: list[int]
) -> torch.Tensor:
    """Return the vectors of all nodes, ``[nodes, size]``, height by height; differentiable once.

    Every vector is used by at most one node, its parent, so that the gradient is as easily computed.
    O(nodes · size²): one matrix product for each height, and one more for the gradient; the gradient of the
    weight is a single product.

    Args:
        leaves: vectors of the tokens, ``[tokens, size]``.
        biases: b of each node, ``[nodes, size]``.
        weight: W, ``[2 · size, size]``.
        children: int64 ``[nodes, 2]``, as in :class:`.batch.Minibatch`.
        sizes: number of nodes of each height, as there.
    """
    return _Compose.apply(leaves, biases, weight, children, sizes)


class _Compose(torch.autograd.Function):
    """See :func:`compose`."""

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


class Recursive(nn.Module):
    """The vector of a node is computed from those of its children.

    The vector of a leaf is computed from the embeddings of its word and tag, ``relu([word; tag] V + c)``;
    those of nodes are computed by :func:`compose`, where the category of a node may count too;
    ``p U + d`` scores straight and inverted.
    """

    def __init__(
        self, rows: dict[str, int], categories: int, size: int, dropout: float = 0.0, category: bool = True
    ) -> None:
        """Make a network with random weights; see :attr:`.NetworkLabeller.network`.

        The size is that of embeddings and vectors, λ. Dropout is of both.
        """
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
        leaves = sum(map(self._leaves, self.embeddings, self.leaf, minibatch.tokens.flatten(1))).relu()
        biases = self.bias.expand(len(minibatch.children), -1)
        if self.category is not None:
            biases = biases + self.category(minibatch.categories)
        nodes = compose(leaves, biases, self.weight, minibatch.children, minibatch.sizes)
        straight, inverted = self.output(self._dropped(nodes)).unbind(1)
        return inverted - straight

    def _leaves(self, embedding: nn.Embedding, leaf: nn.Linear, tokens: torch.Tensor) -> torch.Tensor:
        """Return one layer's part of the vectors of all tokens; each string is computed once."""
        different, indices = tokens.unique(return_inverse=True)
        return leaf(self._dropped(embedding(different)))[indices]

    def _dropped(self, vectors: torch.Tensor) -> torch.Tensor:
        return nn.functional.dropout(vectors, self.dropout, self.training)


class RvNNPreorderer(NetworkLabeller):
    """A trained recursive network; see :class:`preorder.methods.base.Preorderer`."""

    method: ClassVar[str] = "rvnn"
    network: ClassVar[type[nn.Module]] = Recursive
