"""What attention needs to know of two tokens' places."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


class Places:
    """Where the tokens of a batch stand in one order, and what all layers derive from it.

    Attributes:
        places: ``(b, n)`` integers, or ``(1, n)`` where all sentences have the same.
    """

    def __init__(self, places: Tensor) -> None:
        self.places = places
        self._clipped: dict[int, Tensor] = {}
        self._indicators: dict[tuple[int, torch.dtype], Tensor] = {}

    def clipped(self, limit: int) -> Tensor:
        """Return ``clip(p_j - p_i, limit) + limit`` at ``[b, i, j]``: ``(b or 1, n, n)``, 0 … 2 limit."""
        if limit not in self._clipped:
            distances = self.places.unsqueeze(1) - self.places.unsqueeze(2)
            self._clipped[limit] = distances.clamp_(-limit, limit).add_(limit)
        return self._clipped[limit]

    def indicator(self, limit: int, dtype: torch.dtype) -> Tensor:
        """Return 1 at ``[b, i, j, clipped]``, 0 elsewhere: ``(b or 1, n, n, 2 limit + 1)``."""
        key = limit, dtype
        if key not in self._indicators:
            values = torch.arange(2 * limit + 1, device=self.places.device)
            self._indicators[key] = (self.clipped(limit).unsqueeze(-1) == values).to(dtype)
        return self._indicators[key]


@dataclass(frozen=True)
class RelativePart:
    """One order of the tokens with a layer's two tables for it, shared by the heads.

    Attributes:
        places: the tokens' places in this order.
        keys: ``(2k+1, d)``: row ``k + x`` is added to keys at clipped distance x.
        values: ``(2k'+1, d)``: the same for values; k' need not be k.
    """

    places: Places
    keys: Tensor
    values: Tensor

    @property
    def key_limit(self) -> int:
        """The clipping distance of the keys."""
        return self.keys.size(0) // 2

    @property
    def value_limit(self) -> int:
        """The clipping distance of the values."""
        return self.values.size(0) // 2
