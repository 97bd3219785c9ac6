"""One line of output for each line of the source, with scores and segments where they are asked for.

Why: OpenNMT-py drops empty source lines at translation; its ``filtertoolong`` fails there, since there is no
target to measure; ``-with_score`` fails since it expects tensors, but scores are numbers; ``-align_debug``
fails at a translation without words. And its search adds one word of the vocabulary after another, but a
``SwanDecoder`` translates by segments.

It reads and writes tokens alone: options for raw text are added here, and heeded in :mod:`.corpora` and
:mod:`.transforms`.

Can go when OpenNMT-py keeps empty lines, filters in training only, and writes scores; and when a decoder can
have a search of its own.
"""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from onmt_preorder.input.raw_text import MODES
from onmt_preorder.opennmt.wrapping import adapts
from onmt_preorder.option_helpers import option_group
from onmt_preorder.papers.npmt import options as phrases
from preorder.errors import UsageError


class Score(float):
    """A number with the one method of a tensor that ``-with_score`` calls."""

    def item(self) -> float:
        """Return the number."""
        return float(self)


@adapts("onmt.opts", "translate_opts")
def _add_options(original: Any, parser: Any) -> None:
    original(parser)
    phrases.add_translation_options(parser)
    add = option_group(parser, "Raw text")
    modes = ", ".join(MODES)
    add(
        "tokenize", default="", metavar="xx", help=f"Split the source by the rules of a language; or {modes}."
    )
    add("detokenize", default="", metavar="xx", help="Join translations by the rules of a language.")


@adapts("onmt.translate.translator:Inference", "from_opt")
def _translator(
    original: Any, cls: type, model: Any, vocabs: Any, opt: Namespace, *args: Any, **kwargs: Any
) -> Any:
    """Build the translator whose class the decoder's method ``translator`` returns, where it has one."""
    decoders = getattr(model.decoder, "model_decoders", [model.decoder])
    own = [decoder.translator() for decoder in decoders if hasattr(decoder, "translator")]
    if not own:
        phrases.check_other_translation(opt)
    if not own or issubclass(cls, own[0]):
        return original(cls, model, vocabs, opt, *args, **kwargs)
    if len(decoders) > 1:
        raise UsageError("no ensembles of such models: average their weights by onmt_average_models")
    return own[0].from_opt(model, vocabs, opt, *args, **kwargs)


@adapts("onmt.transforms.misc:FilterTooLongTransform", "apply")
def _filter_too_long(original: Any, self: Any, example: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
    return example if example["tgt"] is None else original(self, example, *args, **kwargs)


@adapts("onmt.translate.translation:TranslationBuilder", "from_batch")
def _from_batch(original: Any, self: Any, translation_batch: dict[str, Any]) -> list[Any]:
    """Empty the translations of the tokens that :mod:`.transforms` put into empty lines."""
    from onmt_preorder.opennmt.transforms import EMPTY_LINE

    translations = original(self, translation_batch)
    if translation_batch.get("segments"):
        from onmt_preorder.papers.npmt.translator import show

        for translation, lengths in zip(translations, translation_batch["segments"], strict=True):
            pairs = zip(translation.pred_sents, lengths, strict=True)
            translation.pred_sents = [show(words, each) for words, each in pairs]
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
        translation.pred_scores = [Score(score) for score in translation.pred_scores]
    return translations
