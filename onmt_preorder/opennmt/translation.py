"""Translation: one line of output for each line of the source, of files and of lists of lines.

Why: OpenNMT-py drops empty source lines at translation, its ``filtertoolong`` and ``-with_score`` fail there,
and ``-align_debug`` fails at a translation without words. A ``SwanDecoder`` needs a search of its own. The
server and the command ``onmt_preorder`` translate lists of lines, by :class:`LineTranslator`.

Can go when OpenNMT-py does so.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

import numpy as np

from onmt_preorder.input.pipeline import SOURCE_NAME
from onmt_preorder.input.positions import PositionCheck
from onmt_preorder.opennmt.options import npmt as phrases
from onmt_preorder.opennmt.wrapping import adapts
from onmt_preorder.papers.npmt.decoder import SwanDecoder
from preorder.errors import UsageError


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
    by_segments = any(isinstance(decoder, SwanDecoder) for decoder in decoders)
    if not by_segments:
        phrases.check_other_translation(opt)
    if not by_segments or issubclass(cls, SegmentTranslator):
        return original(cls, model, vocabs, opt, *args, **kwargs)
    if len(decoders) > 1:
        raise UsageError("no ensembles of such models: average their weights by onmt_average_models")
    return SegmentTranslator.from_opt(model, vocabs, opt, *args, **kwargs)


@adapts("onmt.transforms.misc:FilterTooLongTransform", "apply")
def _filter_too_long(original: Any, self: Any, example: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
    return example if example["tgt"] is None else original(self, example, *args, **kwargs)


@adapts("onmt.translate.translation:TranslationBuilder", "from_batch")
def _from_batch(original: Any, self: Any, translation_batch: dict[str, Any]) -> list[Any]:
    """Empty the translations of the tokens that :mod:`.transforms` put into empty lines."""
    from onmt_preorder.opennmt.transforms import EMPTY_LINE

    translations = original(self, translation_batch)
    empty = self.vocabs["src"][EMPTY_LINE]
    batch = translation_batch["batch"]
    is_empty = ((batch["srclen"] == 1) & (batch["src"][:, 0, 0] == empty)).tolist()
    for translation, line_is_empty in zip(translations, is_empty, strict=True):
        if line_is_empty:
            translation.pred_sents = [[""] for _ in translation.pred_sents]
        aligned = translation.word_aligns
        if aligned is not None:  # ``-align_debug`` shows a table without rows, but not None
            without_rows = batch["src"].new_empty(0, 1)
            translation.word_aligns = [
                without_rows if line_is_empty or rows is None else rows for rows in aligned
            ]
        # ``-with_score`` asks for their method ``item``
        translation.pred_scores = [np.float64(float(score)) for score in translation.pred_scores]
    return translations
