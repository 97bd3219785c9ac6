"""A network that reads the whole sentence before it looks at a node, and its preorderer."""

from __future__ import annotations

from typing import ClassVar

from preorder.learning.backend import torch
from preorder.learning.vocabulary import WIDTHS
from preorder.methods.node_labels.networks.batch import Minibatch
from preorder.methods.node_labels.networks.labeller import NetworkLabeller

nn = torch.nn


class Contextual(nn.Module):
    """Score each node by the states of LSTMs at its boundaries, and by its category and its parent's.

    Bidirectional LSTMs read the sentence, with a vector of its own before and after it. The boundary before
    token i is represented by the state of the forward LSTM after token i - 1 and that of the backward one
    after token i. One hidden layer takes the begin, split and end of a node, its category, and its parent's
    category with which child of it the node is:
    ``relu(begin + split + end + category + parent) U + d``.
    """

    def __init__(
        self, rows: dict[str, int], categories: int, size: int, dropout: float = 0.0, category: bool = True
    ) -> None:
        """Make a network with random weights; see :attr:`.NetworkLabeller.network`.

        The size is that of the states of each LSTM and of the hidden layer.
        """
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
        states, _ = self.encoder(torch.cat((border, self._dropped(embedded), border)))
        forward, backward = states.chunk(2, 2)
        boundaries = self._dropped(torch.cat((forward[:-1], backward[1:]), 2))
        begins, splits, ends = self.places(boundaries).chunk(3, 2)
        (begin, split, end), sentences = minibatch.spans.unbind(1), minibatch.sentences
        hidden = begins[begin, sentences] + splits[split, sentences] + ends[end, sentences]
        if self.category is not None:
            hidden = hidden + self.category(minibatch.categories) + self.parent(minibatch.sides + 1)
        hidden = nn.functional.dropout(hidden.relu(), self.dropout, self.training)
        straight, inverted = self.output(hidden).unbind(1)
        return inverted - straight

    def _dropped(self, vectors: torch.Tensor) -> torch.Tensor:
        """Drop the same units at all tokens or boundaries of a sentence (Gal and Ghahramani 2016)."""
        if not self.training or not self.dropout:
            return vectors
        kept = torch.rand_like(vectors[:1]) >= self.dropout
        return vectors * kept / (1 - self.dropout)


class ContextualPreorderer(NetworkLabeller):
    """A trained contextual network; see :class:`preorder.methods.base.Preorderer`."""

    method: ClassVar[str] = "swap-lstm"
    network: ClassVar[type[nn.Module]] = Contextual
