"""The recursive network of Kawara et al. (2018, 2021), and its preorderer."""

from __future__ import annotations

from typing import ClassVar

from preorder.learning.backend import torch
from preorder.methods.node_labels.networks.batch import Minibatch
from preorder.methods.node_labels.networks.compose import compose
from preorder.methods.node_labels.networks.labeller import NetworkLabeller

nn = torch.nn


class Recursive(nn.Module):
    """The vector of a node is computed from those of its children.

    The vector of a leaf is computed from the embeddings of its word and tag, ``relu([word; tag] V + c)``;
    those of nodes are computed by :mod:`.compose`, where the category of a node may count too;
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
