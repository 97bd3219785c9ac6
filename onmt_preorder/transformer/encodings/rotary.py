"""Rotary encodings: queries and keys are turned by their positions (Su et al. 2021, RoFormer).

With preordered positions, the angle between a query and a key is their distance in the target's order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from onmt_preorder.transformer.attention import Positions
from onmt_preorder.transformer.encodings import Encoding
from onmt_preorder.transformer.sinusoidal import angles


@dataclass(frozen=True)
class Rotary(Encoding):
    """Turns the pair of numbers ``(2q, 2q+1)`` of a query or key at position p by ``p / 10000^{2q/d}``.

    Scores then depend on distances alone: ``(R_p q) · (R_s k) = q · R_{s-p} k``.
    """

    rotates: ClassVar[bool] = True

    def rotate(self, query: Tensor, key: Tensor, positions: Positions) -> tuple[Tensor, Tensor]:
        """Turn ``(b, h, n, d)`` queries and keys; computed in float32 at least."""
        turn = angles(positions.tensor, query.size(-1)).unsqueeze(1)
        cos, sin = turn.cos(), turn.sin()
        return _turned(query, cos, sin), _turned(key, cos, sin)


def _turned(states: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    even, odd = states[..., ::2], states[..., 1::2]
    turned = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
    return turned.flatten(-2).to(states.dtype)
