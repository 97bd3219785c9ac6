"""``encoder_type: bidirectional_gru`` (Bahdanau et al. 2015)."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from onmt.encoders.rnn_encoder import RNNEncoder
from torch import Tensor


class BidirectionalGRUEncoder(RNNEncoder):
    """OpenNMT-py's bidirectional GRU, of ``hidden_size`` in each direction.

    OpenNMT-py's ``brnn`` gives each direction half of that, unlike the paper.
    """

    @classmethod
    def from_opt(cls, opt: Namespace, embeddings: Any) -> BidirectionalGRUEncoder:
        """Build from the options of a training or a checkpoint, as OpenNMT-py does."""
        embeddings.dropout_p = 0  # the paper drops from the output layer alone
        return cls("GRU", True, opt.enc_layers, 2 * opt.enc_hid_size, embeddings=embeddings)

    def forward(self, src: Tensor, src_len: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Encode a batch.

        Args:
            src: ``(batch, length, 1)`` ids of words.
            src_len: ``(batch,)`` tokens in each sentence.

        Returns:
            h, ``(batch, length, 2 size)``, forward and backward states of each token, zero
            after a sentence's end; the backward state of the first, ``(batch, size)``; and
            ``src_len``.
        """
        states, final, src_len = super().forward(src, src_len)
        return states, final[-1], src_len

    def update_dropout(self, dropout: float, *_: Any) -> None:
        """Nothing is dropped here."""
