"""Real positions, such as expected ones: relative encodings between two rows of a table.

``E[x]`` of a real distance x, clipped to ±k, lies on the line between the rows of the two whole numbers
around it: ``E[x] = Σ_r max(0, 1 - |x - r|) E[r]``. At whole numbers it is the row itself.

Several tokens may stand at one distance, or none, so that nothing can be read by index as
:class:`.Positions` allows. But the shares ``max(0, 1 - |x - r|)`` are the same in all heads and layers; with
them, what :mod:`.plain` calls *spread* and *collect* is one product of matrices each, and each is the
other's gradient.
"""

from __future__ import annotations

import torch
from torch import Tensor


class RealPositions:
    """The real positions of a batch's tokens in one order, and what all layers derive from them.

    Attributes:
        tensor: ``(b, n)`` real numbers from 0 to n-1, those of padding too.
    """

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self._shares: dict[tuple[int, torch.dtype], Tensor] = {}

    def shares(self, limit: int, dtype: torch.dtype) -> Tensor:
        """Return how much of each row is in the encoding from i to j: ``[b, n, n, 2 limit + 1]``.

        At ``[b, i, j]`` two neighbours are above 0, or one; their sum is 1. Kept for all layers:
        ``2 limit + 1`` times as much memory as one head's attention.
        """
        key = limit, dtype
        if key not in self._shares:
            distances = (self.tensor.unsqueeze(1) - self.tensor.unsqueeze(2)).clamp(-limit, limit)
            rows = torch.arange(-limit, limit + 1, device=self.tensor.device)
            away = (distances.unsqueeze(-1) - rows).abs()
            self._shares[key] = (1 - away).clamp(min=0).to(dtype)
        return self._shares[key]

    def spread(self, columns: Tensor, scores: Tensor, limit: int) -> None:
        """Add to ``[b, h, i, j]`` the mixture of the columns ``[b, h, i, 2 limit + 1]`` from i to j."""
        mixed = columns.transpose(1, 2) @ self.shares(limit, columns.dtype).mT
        scores.add_(mixed.transpose(1, 2))

    def collect(self, weights: Tensor, columns: Tensor, limit: int) -> None:
        """Set each column to the sum of its shares of ``[b, h, i, j]`` over all j."""
        sums = weights.transpose(1, 2) @ self.shares(limit, weights.dtype)
        columns.copy_(sums.transpose(1, 2))
