"""The networks: from a minibatch to the log-odds of its nodes."""

from __future__ import annotations

from preorder.learning.backend import torch
from preorder.methods.node_labels.recursive.batch import Minibatch
from preorder.methods.node_labels.recursive.compose import compose

nn = torch.nn

WIDTHS = {"words": 128, "tags": 32, "classes": 64}
"""Size of what the contextual network knows of a token, by channel."""


class Recursive(nn.Module):
    """The recursive network of Kawara et al. (2018, 2021): a node's vector is made of its children's.

    A leaf's vector is made of the embeddings of its word and tag, ``relu([word; tag] V + c)``; the
    vectors of nodes are those of :mod:`.compose`, where the category of a node may be
    joined to its children; ``p U + d`` scores straight and inverted.
    """

    def __init__(
        self, rows: dict[str, int], categories: int, size: int, dropout: float = 0.0, category: bool = True
    ) -> None:
        """Make a network with random weights.

        Args:
            rows: size of each channel's vocabulary.
            categories: how many there are.
            size: of embeddings and vectors, λ.
            dropout: share left out of the embeddings and of what scores, in training.
            category: whether a node's category counts.
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
        """Return the log-odds of inversion, ``[nodes]``; O(nodes · size²), in as many products as heights."""
        leaves = sum(map(self._leaves, self.embeddings, self.leaf, minibatch.tokens.flatten(1))).relu()
        biases = self.bias.expand(len(minibatch.children), -1)
        if self.category is not None:
            biases = biases + self.category(minibatch.categories)
        nodes = compose(leaves, biases, self.weight, minibatch.children, minibatch.sizes)
        straight, inverted = self.output(self._dropped(nodes)).unbind(1)
        return inverted - straight

    def _leaves(self, embedding: nn.Embedding, leaf: nn.Linear, tokens: torch.Tensor) -> torch.Tensor:
        """Return a channel's part of the vectors of all tokens: one product for each that is there."""
        different, places = tokens.unique(return_inverse=True)
        return leaf(self._dropped(embedding(different)))[places]

    def _dropped(self, vectors: torch.Tensor) -> torch.Tensor:
        return nn.functional.dropout(vectors, self.dropout, self.training)


class Contextual(nn.Module):
    """A network that reads the whole sentence before it looks at a node.

    Bidirectional LSTMs read the sentence between its borders; the place before token i is what the
    forward one knows after token i - 1 and the backward one after token i. A node is scored by
    its begin, its split and its end, its category, and its parent's category and which child of it it is,
    through one hidden layer: ``relu(begin + split + end + category + parent) U + d``.
    """

    def __init__(
        self, rows: dict[str, int], categories: int, size: int, dropout: float = 0.0, category: bool = True
    ) -> None:
        """Make a network with random weights, as :class:`Recursive`; ``size`` is that of LSTMs and layer."""
        super().__init__()
        self.embeddings = nn.ModuleList(nn.Embedding(count, WIDTHS[name]) for name, count in rows.items())
        width = sum(WIDTHS[name] for name in rows)
        self.border = nn.Parameter(torch.randn(width) * 0.3)
        self.encoder = nn.LSTM(width, size, bidirectional=True)
        self.places = nn.Linear(2 * size, 3 * size)
        self.category = nn.Embedding(categories, size) if category else None
        self.parent = nn.Embedding(2 * categories + 1, size) if category else None
        self.output = nn.Linear(size, 2)
        self.dropout = dropout
        for embedding in (*self.embeddings, *([self.category, self.parent] if category else [])):
            nn.init.normal_(embedding.weight, std=0.3)

    def forward(self, minibatch: Minibatch) -> torch.Tensor:
        """Return the log-odds of inversion, ``[nodes]``; the LSTMs take a step for each place."""
        parts = [e(rows.T) for e, rows in zip(self.embeddings, minibatch.tokens, strict=True)]
        embedded = torch.cat(parts, 2)  # [n, sentences, width]
        border = self.border.expand(1, embedded.shape[1], -1)
        states, _ = self.encoder(torch.cat((border, self._dropped(embedded), border)))
        forward, backward = states.chunk(2, 2)
        places = self._dropped(torch.cat((forward[:-1], backward[1:]), 2))
        begins, splits, ends = self.places(places).chunk(3, 2)
        at, sentences = minibatch.spans.unbind(1), minibatch.sentences
        hidden = begins[at[0], sentences] + splits[at[1], sentences] + ends[at[2], sentences]
        if self.category is not None:
            hidden = hidden + self.category(minibatch.categories) + self.parent(minibatch.sides + 1)
        hidden = nn.functional.dropout(hidden.relu(), self.dropout, self.training)
        straight, inverted = self.output(hidden).unbind(1)
        return inverted - straight

    def _dropped(self, vectors: torch.Tensor) -> torch.Tensor:
        """Leave out the same units at all places of a sentence (Gal and Ghahramani 2016)."""
        if not self.training or not self.dropout:
            return vectors
        kept = torch.rand_like(vectors[:1]) >= self.dropout
        return vectors * kept / (1 - self.dropout)


Network = Recursive | Contextual
