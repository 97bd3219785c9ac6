"""Texts: subword models, the random splitting of words, data workers, references of a validation.

Why:

- A model of subwords that is missing or damaged is not named.
- ``onmt_tokenize`` splits words at random (BPE dropout) in validation and translation, too.
- An error in the first line that a data worker reads is hidden by an ``UnboundLocalError``.
- For ``valid_metrics`` empty references are left out, but not their translations, so that after the first of
  them each translation is compared with the next reference; and so after one that a transform has left out.

Can go when OpenNMT-py names the model, splits so in training alone, lets errors through, and reads its
references from the batches.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from typing import Any

from onmt_preorder.opennmt.repairs.messages import check_file
from onmt_preorder.opennmt.wrapping import adapts
from preorder.errors import DataError, PreorderError, UsageError
from preorder.io.files import read_lines


@adapts("onmt.transforms.tokenize:SentencePieceTransform", "warm_up")
@adapts("onmt.transforms.tokenize:BPETransform", "warm_up")
@adapts("onmt.transforms.tokenize:ONMTTokenizerTransform", "warm_up")
def _load_subword_models(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
    try:
        original(self, *args, **kwargs)
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        for side in ("src", "tgt"):
            check_file(getattr(self, f"{side}_subword_model"), f"{side}_subword_model")
        raise UsageError(f"src_subword_model, tgt_subword_model: {error}") from None


@adapts("onmt.transforms.tokenize:ONMTTokenizerTransform", "tokenize_string")
def _split(original: Any, self: Any, sentence: str, side: str = "src", is_train: bool = False) -> Any:
    tokenizers = {name: partial(each, training=is_train) for name, each in self.load_models.items()}
    return original(Namespace(**{**vars(self), "load_models": tokenizers}), sentence, side, is_train)


@adapts("onmt.inputters.dynamic_iterator:WeightedMixer", "__iter__")
def _mix(original: Any, self: Any) -> Iterator[Any]:
    try:
        yield from original(self)
    except UnboundLocalError as error:
        if isinstance(error.__context__, PreorderError):
            raise error.__context__ from None
        raise


@adapts("onmt.utils.scoring_utils:ScoringPreparator", "translate")
def _translate(original: Any, self: Any, *args: Any, **kwargs: Any) -> tuple[list[str], list[str]]:
    translations, _ = original(self, *args, **kwargs)
    path = self.opt.data["valid"]["path_tgt"]
    references = list(read_lines(path))
    if len(translations) != len(references):
        reason = f"valid_metrics: of {len(references)} lines {len(translations)} are translated"
        raise DataError(f"{reason}: others have an empty source, or a transform leaves them out", path)
    return translations, references
