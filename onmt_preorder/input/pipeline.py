"""Which of OpenNMT-py's transforms the source of a model with positions goes through, in which order."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

from preorder.errors import UsageError

PREORDER_TRANSFORM = "preorder"
POSITIONS_TRANSFORM = "preorder_positions"
DETOKENIZE_TRANSFORM = "preorder_detokenize"
SOURCE_NAME = "<source>"  # what messages call a source that is not a file
NEEDS_POSITIONS = "preorder_model is for models that read positions: preorder_transformer, bidirectional_gru"

# Those that split words, at translation as they did in training.
SPLITTING_TRANSFORMS = ("sentencepiece", "bpe", "onmt_tokenize")
# Those that change words or put others beside them.
_REWRITING_TRANSFORMS = (*SPLITTING_TRANSFORMS, "normalize", "uppercase", "prefix", "suffix")
# Options that split words at random in training.
RANDOM_OPTIONS = tuple(f"{side}_subword_{name}" for side in ("src", "tgt") for name in ("nbest", "alpha"))


def arrange(transforms: Iterable[str], preorder_model: str) -> list[str]:
    """Put our transforms where they belong among others; they replace ``inferfeats``.

    Where there is a model for it, lines are preordered after the filters that come first and before they are
    split or rewritten. At the very end, pieces get the positions of their words.

    >>> arrange(["filtertoolong", "bpe"], "model")
    ['filtertoolong', 'preorder', 'bpe', 'preorder_positions']
    """
    names = [name for name in transforms if name not in ("inferfeats", POSITIONS_TRANSFORM)]
    if PREORDER_TRANSFORM in names and not preorder_model:
        raise UsageError("transforms: [preorder] needs preorder_model: DIR, a model of preorder train")
    later = (*_REWRITING_TRANSFORMS, PREORDER_TRANSFORM)
    first = list(takewhile(lambda name: name not in later, names))
    rest = [name for name in names[len(first) :] if name != PREORDER_TRANSFORM]
    return [*first, *[PREORDER_TRANSFORM] * bool(preorder_model), *rest, POSITIONS_TRANSFORM]
