"""Translation: one line of output for each line of the source, of files and of lists of lines.

Why: OpenNMT-py drops empty source lines at translation, and its ``filtertoolong`` and ``-with_score`` fail
there. ``-replace_unk`` puts ``<unk>`` for each source word that the vocabulary lacks, and ``-phrase_table``
never matches one. A translation may be as long as the longest source of its batch allows, and its attention
is cut at the length of another one. A ``SwanDecoder`` needs a search of its own. The server and the command
``onmt_preorder`` translate lists of lines, by :class:`LineTranslator`.

Can go when OpenNMT-py does so.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

from onmt_preorder.input.pipeline import SOURCE_NAME
from onmt_preorder.input.positions import PositionCheck
from onmt_preorder.opennmt.options import npmt as phrases
from onmt_preorder.papers.distortion.rnnsearch import DistortionRNNDecoder
from onmt_preorder.papers.npmt.decoder import SwanDecoder
from onmt_preorder.wrapping import adapts
from preorder.errors import DataError, UsageError
from preorder.io.files import read_lines

TABLE_SEPARATOR = "|||"


def translation_options(given: Sequence[str], prog: str | None = None) -> Namespace:
    """Parse and check options as ``onmt_translate`` does; ``prog`` is named before complaints."""
    from onmt.opts import translate_opts
    from onmt.utils.parse import ArgumentParser

    parser = ArgumentParser(prog=prog)
    translate_opts(parser)
    opt = parser.parse_args(given)
    ArgumentParser.validate_translate_opts(opt)
    ArgumentParser._get_all_transform_translate(opt)
    ArgumentParser._validate_transforms_opts(opt)
    ArgumentParser.validate_translate_opts_dynamic(opt)
    return opt


class LineTranslator:
    """Does what ``onmt_translate`` does with a file, for one list of lines after another.

    Lines go through the model's transforms: they are plain, then preordered and split on the fly, or hold
    ``token￨position``. ``translator`` is OpenNMT-py's, of a model of ours, built from ``opt``; ``name`` is
    what warnings call the source.
    """

    def __init__(self, translator: Any, opt: Namespace, name: str = SOURCE_NAME) -> None:
        from onmt.transforms import get_transforms_cls, make_transforms

        self.translator = translator
        self.opt = opt
        self.check = PositionCheck(opt.lacks_positions, name)
        self._transforms = make_transforms(opt, get_transforms_cls(opt._all_transform), translator.vocabs)

    def translate(self, lines: Sequence[str]) -> tuple[list[Any], list[list[str]]]:
        """Translate lines, into the ``out_file`` too; return scores and the ``n_best`` of each line."""
        from onmt.constants import CorpusTask
        from onmt.inputters.dynamic_iterator import DynamicDatasetIter
        from onmt.inputters.text_corpus import get_corpora

        if not lines:
            return [], []
        opt, translator = self.opt, self.translator
        corpora = get_corpora(opt, CorpusTask.INFER, src=list(lines))
        for corpus in corpora.values():
            corpus.check, corpus.is_whole = self.check, False
        batches = DynamicDatasetIter.from_opt(
            corpora, self._transforms, translator.vocabs, opt, CorpusTask.INFER, False, translator._dev
        )
        batches.num_workers = 0
        batches._init_datasets(0)
        translated = translator._translate(batches, self._transforms, opt.attn_debug, opt.align_debug)
        self.check.lines_before += len(lines)
        return translated


@adapts("onmt.translate.translator:Inference", "from_opt")
def _translator(
    original: Any, cls: type, model: Any, vocabs: Any, opt: Namespace, *args: Any, **kwargs: Any
) -> Any:
    """Let models with ``decoder_type: swan`` search by segments."""
    from onmt_preorder.opennmt.segments import SegmentTranslator

    decoders = getattr(model.decoder, "model_decoders", [model.decoder])
    if len(decoders) > 1 and any(isinstance(each, SwanDecoder | DistortionRNNDecoder) for each in decoders):
        raise UsageError("no ensembles of such models: average their weights by onmt_average_models")
    by_segments = isinstance(model.decoder, SwanDecoder)
    if not by_segments:
        phrases.check_other_translation(opt)
    if not by_segments or issubclass(cls, SegmentTranslator):
        return original(cls, model, vocabs, opt, *args, **kwargs)
    return SegmentTranslator.from_opt(model, vocabs, opt, *args, **kwargs)


# --- each sentence by itself ---


@adapts("onmt.translate.translator:Translator", "_translate_batch_with_strategy")
def _bound_each(original: Any, self: Any, batch: dict[str, Any], strategy: Any) -> Any:
    """Bound each translation by the length of its own source, as if that were alone in its batch."""
    if self.max_length_ratio > 0:
        longest = (batch["srclen"] * self.max_length_ratio + 5).clamp(max=self.max_length).int()
        if self.tgt_file_prefix:  # whose words come on top; they have a begin, but no end
            longest += batch["tgt"][:, 1:, 0].ne(self._tgt_pad_idx).sum(1) - 1
        strategy.longest = longest.tolist()
    return original(self, batch, strategy)


@adapts("onmt.translate.decode_strategy:DecodeStrategy", "ensure_max_length")
def _end_each(original: Any, self: Any) -> None:
    original(self)
    from onmt.translate.greedy_search import GreedySearch

    if longest := getattr(self, "longest", None):
        lines = self.original_batch_idx if isinstance(self, GreedySearch) else self._batch_offset
        for row, line in enumerate(lines.tolist()):
            if len(self) == longest[line] + 1:  # one for the begin
                self.is_finished_list[row] = [True] * len(self.is_finished_list[row])


@adapts("onmt.translate.beam_search:BeamSearchBase", "beams_non_finished")
def _with_own_length(original: Any, self: Any, *args: Any) -> bool:
    """Let attention and ``-ratio`` of a line see its own length; OpenNMT-py counts beams as lines."""
    of_beams, self.src_len = self.src_len, self.src_len[:: self.beam_size]
    try:
        return original(self, *args)
    finally:
        self.src_len = of_beams


# --- unknown words ---

_WORDS = "src_words"


class _Texts(list[str]):
    """The sources of a batch, which OpenNMT-py moves to a device with the rest of it."""

    def to(self, _: Any) -> _Texts:
        """Stay where texts are."""
        return self


@adapts("onmt.inputters.text_utils", "tensorify")
def _keep_words(original: Any, vocabs: Any, examples: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
    texts = [example["src"]["src"] for example, _ in examples]
    batch = original(vocabs, examples, *args, **kwargs)
    return batch | {_WORDS: _Texts(text if isinstance(text, str) else text[0] for text in texts)}


@adapts("onmt.translate.translation:TranslationBuilder", "__init__")
def _make_builder(
    original: Any, self: Any, vocabs: Any, n_best: int = 1, replace_unk: bool = False, phrase_table: str = ""
) -> None:
    original(self, vocabs, n_best, replace_unk)
    self.phrase_table_dict = read_phrase_table(phrase_table) if phrase_table else {}


def read_phrase_table(path: str) -> dict[str, str]:
    """Return what is put for each unknown source word: of a file with lines ``source|||target``."""
    table = {}
    for number, line in enumerate(read_lines(path), 1):
        source, separator, target = map(str.strip, line.partition(TABLE_SEPARATOR))
        if not source or not separator or TABLE_SEPARATOR in target:
            raise DataError(f"not source{TABLE_SEPARATOR}target: {line[:80]!r}", path, number)
        table[source] = target
    return table


def _replace_unknown(
    translated: list[str], attention: Tensor | None, words: Sequence[str], table: dict[str, str]
) -> None:
    """Put the word of the source that has the most attention for each unknown one (Luong et al. 2015).

    ``attention``: ``[words of the translation, words of the source or more]``; None: of no word.
    """
    from onmt.constants import DefaultTokens

    for index, word in enumerate(translated):
        if word == DefaultTokens.UNK and attention is not None and len(attention):
            source = words[int(attention[index][: len(words)].argmax())]
            translated[index] = table.get(source, source)


# --- odd lines ---


@adapts("onmt.transforms.misc:FilterTooLongTransform", "apply")
def _filter_too_long(original: Any, self: Any, example: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
    return example if example["tgt"] is None else original(self, example, *args, **kwargs)


@adapts("onmt.translate.translation:TranslationBuilder", "from_batch")
def _from_batch(original: Any, self: Any, translation_batch: dict[str, Any]) -> list[Any]:
    """Empty the translations of the tokens that :mod:`.transforms` put into empty lines."""
    from onmt_preorder.opennmt.transforms import EMPTY_LINE

    replaces_unknown, self.replace_unk = self.replace_unk, False
    translations = original(self, translation_batch)
    self.replace_unk = replaces_unknown
    empty = self.vocabs["src"][EMPTY_LINE]
    batch = translation_batch["batch"]
    for translation, source in zip(translations, batch.get(_WORDS, ()), strict=False):
        if replaces_unknown:
            attention = translation.word_aligns or translation.attns
            words = source.split(" ")
            for translated, weights in zip(translation.pred_sents, attention, strict=True):
                _replace_unknown(translated, weights, words, self.phrase_table_dict)
    is_empty = ((batch["srclen"] == 1) & (batch["src"][:, 0, 0] == empty)).tolist()
    for translation, line_is_empty in zip(translations, is_empty, strict=True):
        if line_is_empty:
            translation.pred_sents = [[""] for _ in translation.pred_sents]
        aligned = translation.word_aligns
        if aligned is not None:  # what is empty has no links; ``-align_debug`` shows no None
            without_rows = batch["src"].new_empty(0, 1)
            translation.word_aligns = [
                without_rows if line_is_empty or rows is None else rows for rows in aligned
            ]
        # ``-with_score`` asks for their method ``item``
        translation.pred_scores = [np.float64(float(score)) for score in translation.pred_scores]
    return translations
