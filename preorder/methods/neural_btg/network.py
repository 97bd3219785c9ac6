"""The network: from rows of a vocabulary to the scores of the parts of nodes.

Bidirectional LSTMs read the sentence. The boundary before token i is represented by the state of the forward
LSTM after token i - 1 and that of the backward one after token i, with zeros at either end. A part scores
a pair of boundaries (p, q), for each label, by one hidden layer: ``weight · relu(begin(p) + end(q))``. So the
large products are over O(n) boundaries, and O(n²) pairs take additions and a small product.
"""

from __future__ import annotations

from preorder.btg.grammar import LABELS
from preorder.btg.scores import PARTS
from preorder.learning.encode import WIDTHS
from preorder.learning.network import drop, torch

nn = torch.nn

PAIR = 32  # size of a part's hidden layer


class Scorer(nn.Module):
    """Score the parts of the nodes of a minibatch of equally long sentences."""

    def __init__(self, rows: dict[str, int], hidden: int, depth: int, dropout: float = 0.0) -> None:
        """Take the rows of each layer's vocabulary; half of the ``dropout`` drops embeddings."""
        super().__init__()
        embeddings = [nn.Embedding(size, WIDTHS[name]) for name, size in rows.items()]
        for embedding in embeddings:
            nn.init.normal_(embedding.weight, std=0.3)
        self.embeddings = nn.ModuleList(embeddings)
        width = sum(WIDTHS[name] for name in rows)
        between = dropout if depth > 1 else 0.0
        self.encoder = nn.LSTM(width, hidden, depth, bidirectional=True, dropout=between)
        self.begin = nn.Linear(2 * hidden, PARTS * PAIR)
        self.end = nn.Linear(2 * hidden, PARTS * PAIR, bias=False)
        self.weight = nn.Parameter(torch.randn(PARTS, PAIR, LABELS) * 0.5 * PAIR**-0.5)
        self.dropout = dropout

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the parts, ``[batch, PARTS, LABELS, n + 1, n + 1]``: see :mod:`preorder.btg.scores`.

        Tokens are int ``[layers, batch, n]``, rows of the layers' vocabularies. What does not count is 0.
        """
        dropout = self.dropout if self.training else 0.0
        embedded = torch.cat([e(rows.T) for e, rows in zip(self.embeddings, tokens, strict=True)], 2)
        states, _ = self.encoder(drop(embedded, 1, dropout / 2))  # Gal and Ghahramani 2016
        forward, backward = states.chunk(2, 2)
        forward = nn.functional.pad(forward, (0, 0, 0, 0, 1, 0))
        backward = nn.functional.pad(backward, (0, 0, 0, 0, 0, 1))
        boundaries = drop(torch.cat((forward, backward), 2), len(forward), dropout)
        begins, ends = self.begin(boundaries), self.end(boundaries)  # [boundary, batch, PARTS * PAIR]
        size, batch, _ = begins.shape
        p, q = torch.triu_indices(size, size, 1, device=begins.device)
        pairs = begins.index_select(0, p) + ends.index_select(0, q)
        scores = pairs.relu_() @ torch.block_diag(*self.weight)
        parts = scores.new_zeros((size, size, batch, PARTS * LABELS)).index_put((p, q), scores)
        return parts.unflatten(3, (PARTS, LABELS)).permute(2, 3, 4, 0, 1)
