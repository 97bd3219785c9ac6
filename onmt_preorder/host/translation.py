"""Each line of the source gives one line of output, with its score if asked for.

Why: OpenNMT-py drops empty source lines at translation; its ``filtertoolong`` fails there,
where there is no target to measure; ``-with_score`` fails since scores are numbers where
tensors are expected.

Can go when OpenNMT-py keeps empty lines, filters in training only, and writes scores.
"""

from __future__ import annotations

from typing import Any

from onmt_preorder.host.wrapping import wrap


class Score(float):
    """A number that answers as a tensor does."""

    def item(self) -> float:
        """Return the number."""
        return float(self)


def adapt() -> None:
    """Keep empty and long lines."""
    from onmt.transforms.misc import FilterTooLongTransform
    from onmt.translate.translation import TranslationBuilder

    wrap(FilterTooLongTransform, "apply", _filter_too_long)
    wrap(TranslationBuilder, "from_batch", _from_batch)


def _filter_too_long(original: Any, self: Any, example: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
    return example if example["tgt"] is None else original(self, example, *args, **kwargs)


def _from_batch(original: Any, self: Any, translation_batch: dict[str, Any]) -> list[Any]:
    """Empty the translation of what :mod:`onmt_preorder.transforms` put for an empty line."""
    from onmt_preorder.transforms import EMPTY_LINE

    translations = original(self, translation_batch)
    empty = self.vocabs["src"][EMPTY_LINE]
    batch = translation_batch["batch"]
    is_empty = ((batch["srclen"] == 1) & (batch["src"][:, 0, 0] == empty)).tolist()
    for translation, nothing in zip(translations, is_empty, strict=True):
        if nothing:
            translation.pred_sents = [[""] for _ in translation.pred_sents]
            translation.word_aligns = [None for _ in translation.pred_sents]
        translation.pred_scores = [Score(score) for score in translation.pred_scores]
    return translations
