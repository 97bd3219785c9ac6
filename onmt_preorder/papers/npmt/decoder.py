"""The decoder of NPMT and its loss; :mod:`.search` translates with it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from onmt_preorder.papers.npmt.layers import SegmentNetwork
from onmt_preorder.papers.npmt.likelihood import log_likelihood
from onmt_preorder.papers.npmt.scorer import SegmentLayers, SentencePairs, WorkLimits


@dataclass(frozen=True)
class SwanConfig:
    """The network's sizes, and bounds of its work."""

    rnn_type: str  # GRU or LSTM
    source_size: int  # of the encoder's states
    size: int
    layers: int
    dropout: float
    limits: WorkLimits
    bfloat16: bool = False  # of the loss in training


class SegmentLoss(NamedTuple):
    """``-log p(y | x)``, summed over a batch's pairs, and the number of these and of their words."""

    loss: Tensor
    pairs: int
    words: int  # with the ends of the targets
    left_out: int  # pairs without a probability: their target has more words than the source can emit


class SwanDecoder(nn.Module):
    """Holds the network that scores segments; the loss and the search run it.

    ``embeddings`` map ids ``(batch, length, 1)`` to vectors of ``embedding_size``.
    """

    attentional = True  # it knows which source token a word comes from

    def __init__(self, config: SwanConfig, embeddings: Any) -> None:
        super().__init__()
        sizes = config.source_size, embeddings.embedding_size, config.size
        self.network = SegmentNetwork(config.rnn_type, *sizes, config.layers, config.dropout)
        self.limits, self.embeddings = config.limits, embeddings
        self.precision = torch.bfloat16 if config.bfloat16 else torch.float32
        self.state: dict[str, Any] = {}  # OpenNMT-py reads it

    def init_state(self, *_: Any) -> None:
        """Do nothing: every source element is a state of its own."""

    def forward(self, _: Tensor, enc_out: Tensor, **__: Any) -> tuple[Tensor, dict[str, Any]]:
        """Pass on the encoder's states; the loss reads them and the whole target."""
        return enc_out, {}

    @property
    def exact_limits(self) -> WorkLimits:
        """The limits under which every segment counts."""
        return replace(self.limits, unpromising=0.0, negligible=0.0)

    def loss(self, layers: SegmentLayers, pairs: SentencePairs) -> SegmentLoss:
        """Return the loss of a batch, whose perplexity is that of the targets' words and ends."""
        total = log_likelihood(layers, pairs, self.limits if self.training else self.exact_limits)
        possible = total.isfinite()
        left_out = 0 if possible.all() else int((~possible).sum())
        words = int((pairs.lengths + 1)[possible].sum())
        return SegmentLoss(-torch.where(possible, total, 0).sum(), len(total), words, left_out)

    def update_dropout(self, dropout: float, _: float | None = None) -> None:
        """Change the dropout rate."""
        self.network.dropout = dropout
        self.embeddings.update_dropout(dropout)
