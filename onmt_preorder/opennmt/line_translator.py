"""The options of a translation; translation of line after line by a model that stays loaded."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from onmt.constants import CorpusTask
from onmt.inputters.dynamic_iterator import DynamicDatasetIter
from onmt.inputters.text_corpus import get_corpora
from onmt.opts import translate_opts
from onmt.transforms import get_transforms_cls, make_transforms
from onmt.utils.parse import ArgumentParser

from onmt_preorder.input.pipeline import SOURCE_NAME
from onmt_preorder.input.position_check import PositionCheck


def translation_options(given: Sequence[str], prog: str | None = None) -> Namespace:
    """Parse and check options as ``onmt_translate`` does; ``prog`` is named before complaints."""
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
    ``token￨position``.

    Args:
        translator: OpenNMT-py's translator of a model of ours.
        opt: the options that the translator was built from.
        name: what warnings call the source.
    """

    def __init__(self, translator: Any, opt: Namespace, name: str = SOURCE_NAME) -> None:
        self.translator = translator
        self.opt = opt
        self.check = PositionCheck(opt.lacks_positions, name)
        self._transforms = make_transforms(opt, get_transforms_cls(opt._all_transform), translator.vocabs)

    def translate(self, lines: Sequence[str]) -> tuple[list[Any], list[list[str]]]:
        """Translate lines; the translator also writes the translations to its ``out_file``.

        Returns the scores and the translations of each line: the ``n_best`` best, best first.

        Raises:
            DataError: a token's feature is not a position.
        """
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
