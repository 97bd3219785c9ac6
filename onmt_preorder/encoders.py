"""``encoder_type: preorder_transformer`` (Kawara et al. 2021)."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from math import log, sqrt
from typing import Any

import torch
from onmt.encoders.encoder import EncoderBase
from torch import Tensor, nn

from onmt_preorder.attention import Places
from onmt_preorder.layers import EncoderLayer, LayerOptions, Source
from onmt_preorder.positions import numbers_of, places_of
from preorder.errors import UsageError


class PreorderTransformerEncoder(EncoderBase):
    """A Transformer encoder that is told where each token will stand in the target's order.

    Without any encoding of preordered places and ``source_max_relative: 0`` it computes
    what OpenNMT-py's ``transformer`` encoder computes.

    Args:
        options: of the layers.
        layers: how many of them.
        embeddings: OpenNMT-py's, of the words alone.
    """

    def __init__(self, options: LayerOptions, layers: int, embeddings: Any) -> None:
        super().__init__()
        self.encoding = options.encoding
        self.embeddings = embeddings
        self.transformer = nn.ModuleList(EncoderLayer(options) for _ in range(layers))
        self.layer_norm = options.make_norm()
        # Not a buffer: OpenNMT-py can neither average nor reload one of integers.
        self._numbers: Tensor | None = None

    @classmethod
    def from_opt(cls, opt: Namespace, embeddings: Any) -> PreorderTransformerEncoder:
        """Build from the options of a training or a checkpoint, as OpenNMT-py does."""
        return cls(LayerOptions.from_opt(opt), opt.enc_layers, embeddings)

    def read_positions_with(self, vocabulary: Sequence[str]) -> None:
        """Learn what the ids of the position feature mean: entry i is the token of id i."""
        self._numbers = numbers_of(vocabulary)

    def forward(self, src: Tensor, src_len: Tensor) -> tuple[Tensor, None, Tensor]:
        """Encode a batch.

        Args:
            src: ``(batch, length, 1 or 2)`` ids of words and of positions.
            src_len: ``(batch,)`` tokens a sentence.

        Returns:
            States ``(batch, length, size)``, None, and ``src_len``.

        Raises:
            UsageError: the encoder needs positions and gets none.
        """
        source = self._source(src, src_len)
        states = self._embed(src[:, :, :1], source)
        for layer in self.transformer:
            states = layer(states, source)
        return self.layer_norm(states), None, src_len

    def _source(self, src: Tensor, src_len: Tensor) -> Source:
        original = torch.arange(src.size(1), device=src.device).unsqueeze(0)
        padding = original >= src_len.unsqueeze(1)
        preordered = None
        if self.encoding.needs_positions:
            if self._numbers is None or src.size(2) < 2:
                raise UsageError("the model needs source positions: token￨position, n_src_feats: 1")
            self._numbers = self._numbers.to(src.device)
            preordered = Places(places_of(self._numbers[src[:, :, 1]], padding))
        return Source(padding, src_len, Places(original), preordered)

    def _embed(self, words: Tensor, source: Source) -> Tensor:
        if not self.encoding.absolute:
            return self.embeddings(words)
        # Before the dropout of the embeddings, which so drops from the whole sum.
        embedded = self.embeddings.make_embedding(words)
        size = embedded.size(-1)
        if not self.embeddings.position_encoding:
            embedded = embedded * sqrt(size)  # as OpenNMT-py does where it adds an encoding
        return self.embeddings.dropout(
            embedded + sinusoidal(source.preordered.places, size).type_as(embedded)
        )

    def update_dropout(self, dropout: float, attention_dropout: float) -> None:
        """Change the dropout rates, as OpenNMT-py's ``dropout_steps`` ask."""
        self.embeddings.update_dropout(dropout)
        for layer in self.transformer:
            layer.update_dropout(dropout, attention_dropout)


def sinusoidal(places: Tensor, size: int) -> Tensor:
    """Return ``PE(p, 2q) = sin(p / 10000^{2q/size})``, ``PE(p, 2q+1) = cos(p / 10000^{2q/size})``.

    Args:
        places: integers of any shape.
        size: even.

    Returns:
        The shape of ``places`` with ``size`` appended, float32.
    """
    even = torch.arange(0, size, 2, device=places.device, dtype=torch.float32)
    angles = places.unsqueeze(-1) * torch.exp(even * (-log(10000.0) / size))
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)
