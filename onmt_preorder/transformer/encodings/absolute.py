"""Absolute encodings: the sinusoids of a position (Vaswani et al. 2017) are added to the word's embedding."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from onmt_preorder.transformer.attention import Positions
from onmt_preorder.transformer.encodings import Encoding
from onmt_preorder.transformer.sinusoidal import encodings


@dataclass(frozen=True)
class Absolute(Encoding):
    """Sinusoids in the embeddings."""

    def embed(self, embedded: Tensor, positions: Positions) -> Tensor:
        """Add ``PE(p)`` to the embedding of each token."""
        return embedded + encodings(0, embedded.size(1), embedded)[positions.tensor]
