"""Which of OpenNMT-py's transforms a model with positions goes through, and in which order."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

from preorder.data.errors import UsageError

PREORDER = "preorder"
POSITIONS = "preorder_positions"
LINES = "<source>"  # what messages call a source that is no file
NEEDS_POSITIONS = "preorder_model is for models that read positions: encoder_type: preorder_transformer"

# What rewrites a source at translation as it did in training, and drops no line.
REWRITING = ("normalize", "sentencepiece", "bpe", "onmt_tokenize", "uppercase", "prefix", "suffix")


def arranged(transforms: Iterable[str], preorder_model: str) -> list[str]:
    """Return a pipeline with ours, which replace ``inferfeats``, where they belong.

    Lines are preordered, where there is a model for it, before they are split or rewritten but after
    filters that come first. Last, pieces get their words' positions.

        >>> arranged(["filtertoolong", "bpe"], "model")
        ['filtertoolong', 'preorder', 'bpe', 'preorder_positions']

    Raises:
        UsageError: ``preorder`` is among them, and there is no model.
    """
    names = [name for name in transforms if name not in ("inferfeats", POSITIONS)]
    if PREORDER in names and not preorder_model:
        raise UsageError(f"transforms: [{PREORDER}] needs preorder_model: DIR, a model of preorder train")
    first = list(takewhile(lambda name: name not in (*REWRITING, PREORDER), names))
    rest = [name for name in names[len(first) :] if name != PREORDER]
    return [*first, *[PREORDER] * bool(preorder_model), *rest, POSITIONS]
