"""Sentence pairs for the sum over segmentations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor


@dataclass(frozen=True)
class SentencePairs:
    """A batch of encoded sources and their targets.

    Attributes:
        states: ``(batch, elements, size)``: the encoder's.
        elements: ``(batch,)``: source elements in each sentence, from 1.
        words: ``(batch, target)`` ids, without symbols for begin and end.
        lengths: ``(batch,)`` words in each target, from 0.
    """

    states: Tensor
    elements: Tensor
    words: Tensor
    lengths: Tensor

    @classmethod
    def of_batch(cls, batch: dict[str, Any], states: Tensor, padding: int) -> SentencePairs:
        """Return the pairs of a batch of OpenNMT-py, without the target's begin, end and features.

        Args:
            batch: OpenNMT-py's.
            states: ``(batch, elements, size)``.
            padding: its id in the target.
        """
        target = batch["tgt"][:, 1:, 0]
        lengths = target.ne(padding).sum(1) - 1
        return cls(states, batch["srclen"], target[:, :-1], lengths)
