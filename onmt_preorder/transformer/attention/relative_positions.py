"""What attention needs to know of two tokens' positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


class Positions:
    """The positions of a batch's tokens in one order, and what all layers derive from them.

    In each row of ``tensor``, ``(b or 1, n)``, the positions are a permutation of 0 … n-1, padding after the
    real tokens. So a query at position p has at most one key at distance x, and only the two outermost
    clipped distances are shared by several keys. Positions are checked on the CPU alone: a GPU would have to
    wait."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self._near: dict[int, tuple[Tensor, Tensor]] = {}
        self._beyond: dict[tuple[int, torch.dtype], Tensor] = {}
        self._stacks: dict[tuple[int, ...], tuple[tuple[Positions, ...], Tensor]] = {}
        is_checked = tensor.device.type == "cpu" and not torch.compiler.is_compiling()
        if is_checked and not tensor.sort(1)[0].eq(torch.arange(tensor.size(1))).all():
            raise ValueError("positions are no permutation of 0 … n-1")

    def near(self, limit: int) -> tuple[Tensor, Tensor]:
        """Return which keys are at the distances ``1-limit … limit-1`` from each query.

        Their indices are ``[b or 1, n, 2 limit - 1]``, 0 where there is none; also return where there is one.
        """
        if limit not in self._near:
            n = self.tensor.size(1)
            reach = torch.arange(1 - limit, limit, device=self.tensor.device)
            sought = self.tensor.unsqueeze(2) + reach
            exists = (sought >= 0) & (sought < n)
            found = self.tensor.argsort(1).gather(1, sought.where(exists, 0).flatten(1))
            self._near[limit] = found.view_as(sought), exists
        return self._near[limit]

    def beyond(self, limit: int, dtype: torch.dtype) -> Tensor:
        """Return 1 where ``p_j - p_i >= limit``, else 0: ``[b or 1, n, n]`` at ``[b, i, j]``."""
        key = limit, dtype
        if key not in self._beyond:
            distances = self.tensor.unsqueeze(1) - self.tensor.unsqueeze(2)
            self._beyond[key] = (distances >= limit).to(dtype)
        return self._beyond[key]

    def stacked_with(self, others: Sequence[Positions], b: int) -> Tensor:
        """Return these and other positions of the batch as one ``(parts, b, n)`` int32 tensor."""
        key = b, *map(id, others)
        if key not in self._stacks:
            every = [positions.tensor.expand(b, -1) for positions in (self, *others)]
            self._stacks[key] = tuple(others), torch.stack(every).int()
        return self._stacks[key][1]


@dataclass(frozen=True)
class RelativePart:
    """The tokens' positions in one order with a layer's two tables for it, shared by the heads."""

    positions: Positions
    keys: Tensor  # (2k+1, d): row k + x is added to keys at clipped distance x
    values: Tensor  # (2k'+1, d): the same for values; k' need not be k
