"""``decoder_type: swan``: its loss and its search, as OpenNMT-py's training and translation want them."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import torch
from onmt.constants import DefaultTokens
from onmt.translate.translator import Translator
from onmt.utils import Statistics
from onmt.utils.logging import logger
from torch import Tensor, nn
from torch.nn.functional import one_hot

from onmt_preorder.opennmt.options import npmt
from onmt_preorder.papers.npmt.decoder import SwanDecoder
from onmt_preorder.papers.npmt.likelihood import log_likelihood
from onmt_preorder.papers.npmt.scorer import SegmentLayers, SentencePairs
from onmt_preorder.papers.npmt.search import Translations, beam_search, best_segments, greedy_segments, spread


def translation_loss(
    decoder: SwanDecoder, generator: nn.Linear, target: Any, batch: dict[str, Any], states: Tensor
) -> tuple[Tensor, Statistics]:
    """Return the loss of a batch and its statistics. Accuracy has no meaning here and is given as 0.

    A pair whose target has more words than its source can emit is left out, and the log says so.
    """
    pairs = SentencePairs.of_batch(batch, states, target[DefaultTokens.PAD])
    found = decoder.loss(segment_layers(decoder, generator, target), pairs)
    if found.left_out:
        longest = f"{decoder.limits.longest} (swan_segment_length) a source word"
        logger.warning(f"left out: {found.left_out} pairs of more target words than {longest}")
    return found.loss, Statistics(found.loss.item(), 1, found.pairs, found.words, 0)


def segment_layers(decoder: SwanDecoder, generator: nn.Linear, target: Any) -> SegmentLayers:
    """Return the layers that score segments, with OpenNMT-py's generator and the target's vocabulary."""
    begin, end = target[DefaultTokens.BOS], target[DefaultTokens.EOS]
    precision = decoder.precision if decoder.training else torch.float32
    return SegmentLayers(decoder.network, generator, decoder.embeddings, begin, end, precision)


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
        npmt.check_translation(opt)
        translator = super().from_opt(model, vocabs, opt, *given, **more)
        translator.reward = opt.swan_word_reward
        # So many that even a source of one token has n_best translations.
        translator.choices = max(opt.swan_choices or opt.beam_size, opt.n_best)
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
        model = segment_layers(self.model.decoder, self.model.generator, self._tgt_vocab)
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
        return beam_search(spread(segments, real), self.beam_size, self.reward)

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
