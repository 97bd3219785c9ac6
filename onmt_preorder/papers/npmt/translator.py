"""Translation with segments, instead of OpenNMT-py's own beam search."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import torch
from onmt.constants import DefaultTokens
from onmt.translate.translator import Translator
from torch import Tensor
from torch.nn.functional import one_hot

from onmt_preorder.papers.npmt.language_model import NgramFluency, load
from onmt_preorder.papers.npmt.lattice import best_segmentation
from onmt_preorder.papers.npmt.likelihood import log_likelihood, segment_scores
from onmt_preorder.papers.npmt.options import check_translation
from onmt_preorder.papers.npmt.scorer import SegmentLayers, SentencePairs
from onmt_preorder.papers.npmt.search import Translations, beam_search, concatenate, spread
from onmt_preorder.papers.npmt.segments import best_segments, greedy_segments
from preorder.errors import UsageError


class SegmentTranslator(Translator):
    """A ``Translator`` for models whose decoder is a ``SwanDecoder``.

    With ``beam_size: 1`` every source token emits its best segment by itself (greedy search); with any
    other, a beam search over the source tokens combines several segments of each.
    """

    @classmethod
    def from_opt(
        cls, model: Any, vocabs: dict[str, Any], opt: Namespace, *given: Any, **more: Any
    ) -> SegmentTranslator:
        """Build as OpenNMT-py does.

        Raises:
            UsageError: an option asks for what this search or this vocabulary cannot do.
            DataError: the language model cannot be read.
        """
        check_translation(opt)
        translator = super().from_opt(model, vocabs, opt, *given, **more)
        translator.reward, translator.weight = opt.swan_word_reward, opt.swan_lm_weight
        # So many that even a source of one token has n_best translations.
        translator.choices = max(opt.swan_choices or opt.beam_size, opt.n_best)
        translator.language_model = load(opt.swan_lm) if opt.swan_lm else None
        translator.shows_segments = opt.swan_segments
        names = [DefaultTokens.PAD, DefaultTokens.BOS]
        names += [DefaultTokens.UNK] if opt.ban_unk_token else []
        translator.banned = [vocabs["tgt"][name] for name in names]
        translator.limits = model.decoder.exact_limits
        _check_n_best(opt.n_best, len(vocabs["tgt"]) - len(names) - 1, translator.limits.longest)
        translator.emitted = translator.awake = translator.asleep = 0
        return translator

    def _translate(self, *given: Any, **more: Any) -> Any:
        self.emitted = self.awake = self.asleep = 0
        result = super()._translate(*given, **more)
        if self.report_score and self.awake:
            self._log(
                f"SEGMENTS: {self.emitted / self.awake:.3f} words on average, "
                f"from {self.awake} of {self.awake + self.asleep} source tokens"
            )
        return result

    @torch.no_grad()
    def translate_batch(self, batch: dict[str, Any], _: bool = False) -> dict[str, Any]:
        """Return OpenNMT-py's results of a batch, and ``segments``.

        That is how many words each source token emits in each translation, None where they are not shown.
        """
        _, _, states, lengths = self._run_encoder(batch)
        real = torch.arange(states.size(1), device=states.device) < lengths.unsqueeze(1)
        model = self.model.decoder.segment_layers(self.model.generator, self._tgt_vocab)
        found = self._search(model, states, real)
        self._count(found.lengths[:, 0], real)
        gold: Any = [0.0] * len(lengths)
        emitted = found.lengths[:, : self.n_best]
        if "tgt" in batch and not self.tgt_file_prefix:
            pairs = SentencePairs.of_batch(batch, states, self._tgt_pad_idx)
            gold = log_likelihood(model, pairs, self.limits)
            if self.gold_align:
                scores = segment_scores(model, pairs, self.limits)
                best = best_segmentation(scores, pairs.lengths) * gold.isfinite().unsqueeze(1)
                emitted = best.unsqueeze(1).expand_as(emitted)
        return self._results(batch, found, gold, emitted)

    def _search(self, model: SegmentLayers, states: Tensor, real: Tensor) -> Translations:
        longest = self.limits.longest
        if self.beam_size == 1:
            segments = greedy_segments(model, states[real], longest, self.banned)
            return concatenate(spread(segments, real))
        segments = best_segments(model, states[real], longest, self.choices, self.banned, self.reward)
        fluency = None
        if self.language_model is not None:
            tokens = self._tgt_vocab.ids_to_tokens
            fluency = NgramFluency(self.language_model, self.weight, tokens, len(states))
        return beam_search(spread(segments, real), self.beam_size, self.reward, fluency)

    def _count(self, lengths: Tensor, real: Tensor) -> None:
        awake = int(lengths.count_nonzero())
        self.emitted += int(lengths.sum())
        self.awake += awake
        self.asleep += int(real.sum()) - awake

    def _results(
        self, batch: dict[str, Any], found: Translations, gold: Any, emitted: Tensor
    ) -> dict[str, Any]:
        end = found.words.new_tensor([self._tgt_eos_idx])
        each = [[(b, n) for n in range(self.n_best)] for b in range(len(gold))]
        links = [[_links(emitted[index]) for index in best] for best in each]
        return {
            "predictions": [[torch.cat((found.flat(*index), end)) for index in best] for best in each],
            "scores": found.scores,
            "attention": [[None for _ in best] for best in each],
            "alignment": links if self.report_align or self.replace_unk else [[] for _ in each],
            "batch": batch,
            "gold_score": gold,
            "segments": found.lengths[:, : self.n_best].tolist() if self.shows_segments else None,
        }


def _check_n_best(count: int, words: int, longest: int) -> None:
    """Check that a source token can emit as many segments of so many words, the end not among them."""
    segments = sum(words**length for length in range(longest + 1))
    if count > segments:
        raise UsageError(f"n_best {count} is more than the {segments} segments that a source token can emit")


def _links(emitted: Tensor) -> Tensor | None:
    """Return ``(words, source tokens)``, 1 where a word comes from, by how many words each emits; or None."""
    sources = torch.arange(len(emitted), device=emitted.device).repeat_interleave(emitted)
    return one_hot(sources, len(emitted)).float() if len(sources) else None


def show(words: list[str], lengths: list[int]) -> list[str]:
    """Show which source token emits what: ``0 thank you • 1 , • 4 the best thing``, indices from 0.

    ``lengths``: how many of a translation's words each source token emits.
    """
    shown: list[str] = []
    begin = 0
    for index, length in enumerate(lengths):
        if length:
            shown += [*(["•"] if shown else []), str(index), *words[begin : begin + length]]
        begin += length
    return shown
