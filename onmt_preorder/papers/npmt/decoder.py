"""``decoder_type: swan``: the decoder, its loss and its search as OpenNMT-py wants them."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from typing import Any

import torch
from onmt.constants import DefaultTokens
from onmt.decoders import DecoderBase
from onmt.translate.translator import Translator
from onmt.utils import Statistics
from onmt.utils.logging import logger
from torch import Tensor, nn
from torch.nn.functional import one_hot

from onmt_preorder.papers.npmt.language_model import NgramFluency, load
from onmt_preorder.papers.npmt.layers import SegmentNetwork
from onmt_preorder.papers.npmt.likelihood import log_likelihood
from onmt_preorder.papers.npmt.options import check_translation
from onmt_preorder.papers.npmt.scorer import SegmentLayers, SentencePairs, WorkLimits
from onmt_preorder.papers.npmt.search import Translations, beam_search, best_segments, greedy_segments, spread
from onmt_preorder.transformer.options import first_rate


class SwanDecoder(DecoderBase):
    """Holds the network that scores segments; the loss and the search run it."""

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


class SegmentTranslator(Translator):
    """A ``Translator`` for models whose decoder is a ``SwanDecoder``.

    With ``beam_size: 1`` every source token emits its best segment by itself (greedy search); with any
    other, a beam search over the source tokens combines several segments of each.
    """

    @classmethod
    def from_opt(
        cls, model: Any, vocabs: dict[str, Any], opt: Namespace, *given: Any, **more: Any
    ) -> SegmentTranslator:
        """Build as OpenNMT-py does."""
        check_translation(opt)
        translator = super().from_opt(model, vocabs, opt, *given, **more)
        translator.reward, translator.weight = opt.swan_word_reward, opt.swan_lm_weight
        # So many that even a source of one token has n_best translations.
        translator.choices = max(opt.swan_choices or opt.beam_size, opt.n_best)
        translator.language_model = load(opt.swan_lm) if opt.swan_lm else None
        names = [DefaultTokens.PAD, DefaultTokens.BOS]
        names += [DefaultTokens.UNK] if opt.ban_unk_token else []
        translator.banned = [vocabs["tgt"][name] for name in names]
        translator.limits = model.decoder.exact_limits
        return translator

    @torch.no_grad()
    def translate_batch(self, batch: dict[str, Any], _: bool = False) -> dict[str, Any]:
        """Return OpenNMT-py's results."""
        _, _, states, lengths = self._run_encoder(batch)
        real = torch.arange(states.size(1), device=states.device) < lengths.unsqueeze(1)
        model = self.model.decoder.segment_layers(self.model.generator, self._tgt_vocab)
        found = self._search(model, states, real)
        gold: Any = [0.0] * len(lengths)
        if "tgt" in batch:
            pairs = SentencePairs.of_batch(batch, states, self._tgt_pad_idx)
            gold = log_likelihood(model, pairs, self.limits)
        return self._results(batch, found, gold)

    def _search(self, model: SegmentLayers, states: Tensor, real: Tensor) -> Translations:
        longest = self.limits.longest
        if self.beam_size == 1:
            segments = greedy_segments(model, states[real], longest, self.banned)
        else:
            segments = best_segments(model, states[real], longest, self.choices, self.banned, self.reward)
        fluency = None
        if self.language_model is not None:
            tokens = self._tgt_vocab.ids_to_tokens
            fluency = NgramFluency(self.language_model, self.weight, tokens, len(states))
        return beam_search(spread(segments, real), self.beam_size, self.reward, fluency)

    def _results(self, batch: dict[str, Any], found: Translations, gold: Any) -> dict[str, Any]:
        end = found.words.new_tensor([self._tgt_eos_idx])
        each = [[(b, n) for n in range(self.n_best)] for b in range(len(gold))]
        links = [[_links(found.lengths[index]) for index in best] for best in each]
        return {
            "predictions": [[torch.cat((found.flat(*index), end)) for index in best] for best in each],
            "scores": found.scores,
            "attention": [[None for _ in best] for best in each],
            "alignment": links if self.report_align or self.replace_unk else [[] for _ in each],
            "batch": batch,
            "gold_score": gold,
        }


def _links(emitted: Tensor) -> Tensor | None:
    """Return ``(words, source tokens)``, 1 where a word comes from, by how many words each emits; or None."""
    sources = torch.arange(len(emitted), device=emitted.device).repeat_interleave(emitted)
    return one_hot(sources, len(emitted)).float() if len(sources) else None
