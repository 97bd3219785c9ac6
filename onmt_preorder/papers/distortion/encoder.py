"""The bidirectional GRU of RNNsearch* (Bahdanau et al. 2015), which may read preordered positions."""

from __future__ import annotations

from math import sqrt
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import pad
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from onmt_preorder.input.positions import ReadsPositions
from onmt_preorder.transformer.sinusoidal import encodings


class BidirectionalGRUEncoder(ReadsPositions, nn.Module):
    """A bidirectional GRU of ``hidden_size`` in each direction; OpenNMT-py's ``brnn`` has half of that.

    With ``recurrent`` a second GRU reads the words in preordered order. Its states are
    carried back to their words, and a linear layer joins both. With ``absolute`` the sinusoidal encoding of
    the preordered position, divided by √size to be as large as the words, is added to them.
    """

    def __init__(
        self, size: int, layers: int, embeddings: Any, absolute: bool = False, recurrent: bool = False
    ) -> None:
        super().__init__()
        self.embeddings, self.absolute, self.recurrent = embeddings, absolute, recurrent
        self.end_symbol: int | None = None  # id of what is put after the last word of every sentence
        sizes = {"input_size": embeddings.embedding_size, "hidden_size": size}
        sizes |= {"num_layers": layers, "batch_first": True, "bidirectional": True}
        self.rnn = nn.GRU(**sizes)
        if recurrent:
            self.preordered_rnn = nn.GRU(**sizes)
            self.join = nn.Linear(4 * size, 2 * size)

    @property
    def needs_positions(self) -> bool:
        """Whether the source needs its position feature."""
        return self.absolute or self.recurrent

    def forward(self, src: Tensor, src_len: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Encode ``(batch, length, 1 or 2)`` ids of words and of positions, ``src_len`` of each sentence.

        Return h, ``(batch, length, 2 size)``, zero after a sentence's end; the backward state of the first
        token, ``(batch, size)``; and ``src_len``. An end symbol adds one to lengths.
        """
        if self.end_symbol is not None:
            src = pad(src, (0, 0, 0, 1), value=self.embeddings.word_padding_idx)
        positions = original = torch.arange(src.size(1), device=src.device)
        if self.needs_positions:
            positions = self.positions(src, original >= src_len.unsqueeze(1))  # the end symbol's is the last
        words = src[:, :, :1]
        if self.end_symbol is not None:
            words[torch.arange(len(src), device=src.device), src_len] = self.end_symbol
            src_len = src_len + 1
        embedded = self.embeddings(words)
        if self.absolute:
            size = embedded.size(-1)
            embedded = embedded + encodings(0, src.size(1), embedded)[positions] / sqrt(size)
        states, final = _run(self.rnn, embedded, src_len)
        if self.recurrent:
            preordered, _ = _run(self.preordered_rnn, _reorder(embedded, positions.argsort(1)), src_len)
            joined = self.join(torch.cat((states, _reorder(preordered, positions)), -1))
            is_word = torch.arange(src.size(1), device=src.device) < src_len.unsqueeze(1)
            states = joined * is_word.unsqueeze(2)
        return states, final[-1], src_len

    def update_dropout(self, dropout: float, *_: Any) -> None:
        """Nothing is dropped here."""


def _run(rnn: nn.GRU, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    packed = pack_padded_sequence(embedded, lengths.tolist(), batch_first=True, enforce_sorted=False)
    states, final = rnn(packed)
    return pad_packed_sequence(states, batch_first=True, total_length=embedded.size(1))[0], final


def _reorder(tensor: Tensor, order: Tensor) -> Tensor:
    """Return ``tensor[b, order[b, i]]`` of ``(batch, length, size)`` at ``[b, i]``."""
    return tensor.gather(1, order.unsqueeze(2).expand(-1, -1, tensor.size(2)))
