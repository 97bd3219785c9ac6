"""From the position feature to the position of each token in its sentence.

The feature reaches the encoder as vocabulary ids. Its vocabulary is fixed, so that a position never seen in
training is not an unknown word: ``<unk> <blank> <s> </s> _ 0 1 2 …``. A feature that is not a number, such as
``_``, means "no position is known": the token keeps its original position.

The encoder sees the rank of a feature in its sentence, not the number itself. Of equal numbers the earlier
token comes first. So the pieces of a word, which all carry the word's number, get consecutive positions; a
sentence whose tokens all carry the same number keeps its order; and gaps that filtering or truncation leaves
are closed.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from preorder.data.formats import NUMBER

NO_POSITION = "_"
MAX_POSITIONS = 5000  # OpenNMT-py's sinusoidal encodings end there too


def feature_vocabulary() -> list[str]:
    """Return the tokens of the feature's vocabulary that follow the special ones."""
    return [NO_POSITION, *map(str, range(MAX_POSITIONS))]


def feature_numbers(tokens: Sequence[str]) -> Tensor:
    """Return the number that each token of a feature's vocabulary stands for, -1 for none."""
    return torch.tensor([int(token) if NUMBER.fullmatch(token) else -1 for token in tokens])


def rank_positions(numbers: Tensor, padding: Tensor) -> Tensor:
    """Rank the tokens of each sentence by their features.

    Args:
        numbers: ``(batch, length)`` integers from 0, negative where not known.
        padding: ``(batch, length)``, True after a sentence's end.

    Returns:
        ``(batch, length)`` positions: a permutation of 0 … length-1, and of 0 … n-1 on the n tokens that
        are not padding. A GPU need not wait for the CPU.
    """
    original = torch.arange(numbers.size(1), device=numbers.device).expand_as(numbers)
    keys = torch.where(numbers < 0, original, numbers)
    order = keys.masked_fill(padding, torch.iinfo(keys.dtype).max).argsort(dim=1, stable=True)
    return torch.empty_like(order).scatter_(1, order, original)
