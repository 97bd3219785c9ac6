"""From the position feature to each token's place among its sentence's tokens.

The feature reaches the encoder as vocabulary ids. Its vocabulary is fixed, so that a
position never seen in training is not an unknown word:
``<unk> <blank> <s> </s> _ 0 1 2 …``. Everything that is not a number, such as ``_``,
means "no position is known": the token keeps its original place.

What the encoder sees is never the number itself but its rank in the sentence. Of equal
numbers the earlier token comes first. So the pieces of a word, which all carry the word's
position, take consecutive places inside the word's; a sentence whose tokens all carry the
same default stays in its order; and gaps left by filtering or truncation close.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

NO_POSITION = "_"
POSITIONS = 5000  # OpenNMT-py's sinusoidal encodings end there too

_UNKNOWN = -1


def vocabulary() -> list[str]:
    """Return the tokens of the feature vocabulary that follow the special ones."""
    return [NO_POSITION, *map(str, range(POSITIONS))]


def numbers_of(tokens: Sequence[str]) -> Tensor:
    """Return the number that each token of a feature vocabulary stands for, -1 for none."""
    return torch.tensor([int(token) if token.isdecimal() else _UNKNOWN for token in tokens])


def places_of(numbers: Tensor, padding: Tensor) -> Tensor:
    """Rank each sentence's tokens by their positions.

    Args:
        numbers: ``(batch, length)`` integers from 0, negative where not known.
        padding: ``(batch, length)``, True after a sentence's end.

    Returns:
        ``(batch, length)``: a permutation of 0 … length-1, of 0 … n-1 on the n real tokens.

    Two stable sorts of ``length`` a sentence; no synchronisation with the host.
    """
    original = torch.arange(numbers.size(1), device=numbers.device).expand_as(numbers)
    keys = torch.where(numbers < 0, original, numbers)
    order = keys.masked_fill(padding, torch.iinfo(keys.dtype).max).argsort(dim=1, stable=True)
    return torch.empty_like(order).scatter_(1, order, original)
