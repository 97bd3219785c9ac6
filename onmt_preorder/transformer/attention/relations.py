"""What attention needs to know of two tokens' places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


class Places:
    """Where the tokens of a batch stand in one order, and what all layers derive from it.

    In each row the places are a permutation of 0 … n-1, padding after the real tokens. So a
    query at place p has at most one key at distance x, the one at place ``p + x``: only the
    two outermost clipped distances are shared by several keys, and everything between them
    is read or written by index rather than searched for.

    Attributes:
        places: ``(b, n)`` integers, or ``(1, n)`` where all sentences have the same.

    Raises:
        ValueError: a row is no permutation; seen on the CPU only, a GPU is not waited for.
    """

    def __init__(self, places: Tensor) -> None:
        self.places = places
        self._near: dict[int, tuple[Tensor, Tensor]] = {}
        self._beyond: dict[tuple[int, torch.dtype], Tensor] = {}
        self._stacks: dict[tuple[int, ...], tuple[tuple[Places, ...], Tensor]] = {}
        if places.device.type == "cpu" and not places.sort(1)[0].eq(torch.arange(places.size(1))).all():
            raise ValueError("places are no permutation of 0 … n-1")

    def near(self, limit: int) -> tuple[Tensor, Tensor]:
        """Return where the keys at distances ``1-limit … limit-1`` stand.

        Returns:
            Their indices ``[b or 1, n, 2 limit - 1]``, 0 where there is none, and whether there is one.
        """
        if limit not in self._near:
            n = self.places.size(1)
            reach = torch.arange(1 - limit, limit, device=self.places.device)
            sought = self.places.unsqueeze(2) + reach
            exists = (sought >= 0) & (sought < n)
            found = self.places.argsort(1).gather(1, sought.where(exists, 0).flatten(1))
            self._near[limit] = found.view_as(sought), exists
        return self._near[limit]

    def beyond(self, limit: int, dtype: torch.dtype) -> Tensor:
        """Return 1 where ``p_j - p_i >= limit``, else 0: ``[b or 1, n, n]`` at ``[b, i, j]``."""
        key = limit, dtype
        if key not in self._beyond:
            distances = self.places.unsqueeze(1) - self.places.unsqueeze(2)
            self._beyond[key] = (distances >= limit).to(dtype)
        return self._beyond[key]

    def stacked_with(self, others: Sequence[Places], b: int) -> Tensor:
        """Return these and other places of the batch as one ``(parts, b, n)`` int32 tensor."""
        key = tuple(map(id, others))
        if key not in self._stacks:
            every = [places.places.expand(b, -1) for places in (self, *others)]
            self._stacks[key] = tuple(others), torch.stack(every).int()
        return self._stacks[key][1]


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
