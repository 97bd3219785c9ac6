"""``decoder_type: swan``: the decoder and its loss as OpenNMT-py wants them."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from typing import Any

import torch
from onmt.constants import DefaultTokens
from onmt.decoders import DecoderBase
from onmt.utils import Statistics
from onmt.utils.logging import logger
from torch import Tensor, nn

from onmt_preorder.papers.npmt.likelihood import log_likelihood
from onmt_preorder.papers.npmt.network import SegmentNetwork
from onmt_preorder.papers.npmt.scorer import SegmentLayers, SentencePairs, WorkLimits
from onmt_preorder.papers.npmt.translator import SegmentTranslator
from onmt_preorder.transformer.dropout import first_rate


class SwanDecoder(DecoderBase):
    """Holds the network that scores segments; the loss and the search run it.

    Args:
        opt: of a training or a checkpoint.
        embeddings: OpenNMT-py's, of target words.
    """

    def __init__(self, opt: Namespace, embeddings: nn.Module) -> None:
        super().__init__(attentional=True)  # it knows which source token a word comes from
        sizes = opt.enc_hid_size, embeddings.embedding_size, opt.dec_hid_size
        self.network = SegmentNetwork(opt.rnn_type, *sizes, opt.dec_layers, first_rate(opt.dropout))
        self.limits = WorkLimits(
            opt.swan_segment_length, opt.swan_logits, opt.swan_negligible, opt.swan_unpromising
        )
        self.embeddings = embeddings
        is_low = getattr(opt, "bfloat16", False)  # earlier checkpoints have no such option
        self.precision = torch.bfloat16 if is_low else torch.float32  # of the loss in training
        self.state: dict[str, Any] = {}  # OpenNMT-py reads it

    @classmethod
    def from_opt(cls, opt: Namespace, embeddings: nn.Module) -> SwanDecoder:
        """Build as OpenNMT-py does."""
        return cls(opt, embeddings)

    def init_state(self, *_: Any) -> None:
        """Do nothing: every source element is a state of its own."""

    def forward(self, _: Tensor, enc_out: Tensor, **__: Any) -> tuple[Tensor, dict[str, Any]]:
        """Pass on the encoder's states; the loss reads them and the whole target."""
        return enc_out, {}

    @property
    def exact_limits(self) -> WorkLimits:
        """The limits under which every segment counts."""
        return replace(self.limits, unpromising=0.0, negligible=0.0)

    @staticmethod
    def translator() -> type:
        """Return the class that translates instead of OpenNMT-py's."""
        return SegmentTranslator

    def translation_loss(
        self, vocabulary: nn.Module, target: Any, batch: dict[str, Any], states: Tensor
    ) -> tuple[Tensor, Statistics]:
        """Return ``-log p(y | x)``, summed over a batch's sentences, and the statistics to report.

        Perplexity is that of the target's words and its end, as with other models. Accuracy has no meaning
        here and is given as 0. A pair whose target has more words than its source can emit has no
        probability: it is left out, and the log says so.
        """
        pairs = SentencePairs.of_batch(batch, states, target[DefaultTokens.PAD])
        limits = self.limits if self.training else self.exact_limits
        total = log_likelihood(self.segment_layers(vocabulary, target), pairs, limits)
        possible = total.isfinite()
        if not possible.all():
            logger.warning(
                f"left out: {len(total) - possible.sum()} pairs of more target words "
                f"than {self.limits.longest} (swan_segment_length) a source word"
            )
        loss = -torch.where(possible, total, 0).sum()
        words = int((pairs.lengths + 1)[possible].sum())
        return loss, Statistics(loss.item(), 1, len(total), words, 0)

    def segment_layers(self, vocabulary: nn.Module, target: Any) -> SegmentLayers:
        """Return the layers that score segments, with OpenNMT-py's generator and the target's vocabulary."""
        begin, end = target[DefaultTokens.BOS], target[DefaultTokens.EOS]
        precision = self.precision if self.training else torch.float32
        return SegmentLayers(self.network, vocabulary, self.embeddings, begin, end, precision)

    def update_dropout(self, dropout: float, _: float | None = None) -> None:
        """Change the dropout rate, as OpenNMT-py's ``dropout_steps`` ask."""
        self.network.dropout = dropout
        self.embeddings.update_dropout(dropout)
