"""Half of the heads know the original positions, the other half the preordered ones.

Ding, Wang and Tao 2020, who give heads of their own to the positions of a BTG preorderer; their positions are
absolute, these are relative.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from onmt_preorder.transformer.attention import RelativePart, relative_attention


def attend_by_halves(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    lengths: Tensor,
    parts: Sequence[RelativePart],
    dropout: float = 0.0,
) -> Tensor:
    """Attend with the first of two parts in the first half of the heads, and the second in the second.

    Arguments and result are those of :func:`.relative_attention`; the number of heads is even.
    """
    halves = zip(*(states.chunk(2, dim=1) for states in (query, key, value)), parts, strict=True)
    return torch.cat(
        [relative_attention(*states, lengths, [part], dropout) for *states, part in halves], dim=1
    )
