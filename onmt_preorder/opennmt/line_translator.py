"""Translation of one list of source lines after another by a model that stays loaded."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from onmt.constants import CorpusTask
from onmt.inputters.dynamic_iterator import DynamicDatasetIter
from onmt.inputters.text_corpus import get_corpora
from onmt.transforms import get_transforms_cls, make_transforms


class LineTranslator:
    """Does what ``onmt_translate`` does with a file, for one list of lines after another.

    Lines go through the model's transforms: they may be plain, then they are preordered and
    split on the fly, or hold ``token￨position``.

    Args:
        translator: OpenNMT-py's translator of a model of ours.
        opt: the options that the translator was built from.
    """

    def __init__(self, translator: Any, opt: Namespace) -> None:
        self.translator = translator
        self.opt = opt
        self._transforms = make_transforms(opt, get_transforms_cls(opt._all_transform), translator.vocabs)

    def translate(self, lines: Sequence[str]) -> tuple[list[Any], list[list[str]]]:
        """Translate lines; the translator also writes the translations to its ``out_file``.

        Returns:
            The scores and the translations of each line: the ``n_best`` best, best first.

        Raises:
            DataError: a token's feature is not a position.
        """
        if not lines:
            return [], []
        opt, translator = self.opt, self.translator
        corpora = get_corpora(opt, CorpusTask.INFER, src=list(lines))
        batches = DynamicDatasetIter.from_opt(
            corpora, self._transforms, translator.vocabs, opt, CorpusTask.INFER, False, translator._dev
        )
        batches.num_workers = 0
        batches._init_datasets(0)
        return translator._translate(batches, self._transforms, opt.attn_debug, opt.align_debug)
