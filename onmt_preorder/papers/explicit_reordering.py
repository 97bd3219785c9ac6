"""Explicit reordering (Chen et al. 2020): the encoder learns each token's position in the target's order.

ExGRE is :class:`ExplicitReordering` in every layer's slot ``after_layer``; ReFSR runs the same layers by
:class:`ReorderingFusion`. In training :func:`reordering_loss` compares the last layer's positions with
given ones; translation needs none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from onmt_preorder.transformer.layers import EncoderLayer
from onmt_preorder.transformer.self_attention import SourceBatch
from onmt_preorder.transformer.sinusoidal import encodings
from preorder.errors import UsageError

SAME = -1  # as reordering_distance
NONE, EXGRE, REFSR = "none", "exgre", "refsr"  # as explicit_reordering

HELP = {
    "reordering_loss_weight": "Weight of the reordering loss.",
    "reordering_distance": "D: the Gaussian around a learned position has σ = D/2.",
    "reordering_window": (
        "Encodings of the positions within this distance of a learned one are summed (default: "
        f"%(default)s; {SAME}: reordering_distance, at whose default the loss has no gradient)."
    ),
    "reordering_rank": "Rank of the matrix W of learned positions (0: full).",
}


@dataclass(frozen=True)
class ExplicitConfig:
    """What the layers learn, and how; names and defaults are those of the options."""

    reordering_loss_weight: float = 0.6
    reordering_distance: float = 0.5  # D: the Gaussian around a learned position has σ = D/2
    reordering_window: float = 2.0  # beyond it, for D = 0.5, the Gaussian is below 0.0004
    reordering_rank: int = 0  # of W; 0: full
    has_fusion: bool = False  # ReFSR

    def __post_init__(self) -> None:
        if self.window < 0.5:
            reason = f"reordering_window {self.window:g} is below 0.5: some positions would get no encoding"
            raise UsageError(reason)

    @property
    def window(self) -> float:
        """Half the width of the window around a learned position."""
        return self.reordering_distance if self.reordering_window == SAME else self.reordering_window


def named(kind: str, options: Any) -> ExplicitConfig | None:
    """Return what ``explicit_reordering`` names, with the options that a host's object has; None: nothing."""
    if kind == NONE:
        return None
    return ExplicitConfig(**{name: getattr(options, name) for name in HELP}, has_fusion=kind == REFSR)


class ExplicitReordering(nn.Module):
    """Encodes the position that each token should have, to be added to its state.

    ``b_j = J sigmoid(U tanh(W h_j))`` is a real-valued position in (0, J), J the sentence's length, and
    ``pr_j = Σ_s PE_s exp(-(s - b_j)² / 2σ)`` with ``σ = D/2`` over the integers s of
    ``[b_j - window, b_j + window]`` (equations 5 and 6). Positions count from 0; PE is defined
    for every integer, so the window is not cut at the sentence's ends.

    The paper types W and U as ``d × 1``. Here W is ``d × d``, or the product of a ``d × r`` and
    an ``r × d`` matrix, and U is ``1 × d``: one number a token.
    """

    def __init__(self, size: int, config: ExplicitConfig) -> None:
        super().__init__()
        hidden, rank = [nn.Linear(size, size, bias=False)], config.reordering_rank
        if rank:
            hidden = [nn.Linear(size, rank, bias=False), nn.Linear(rank, size, bias=False)]
        self.hidden = nn.Sequential(*hidden)
        self.place = nn.Linear(size, 1, bias=False)  # named so in checkpoints
        self.variance = config.reordering_distance  # 2σ
        self.window = config.window

    def forward(self, states: Tensor, source: SourceBatch) -> Tensor:
        """Return ``pr_j``, ``(b, n, d)``, of states of this shape.

        Cost besides W: ``2 window + 1`` rows of PE for each token.
        """
        return self.encode(self.positions(states, source.lengths), states)

    def positions(self, states: Tensor, lengths: Tensor) -> Tensor:
        """Return ``b_j``, ``(b, n)``, of float32 at least: half precision cannot tell positions apart."""
        logits = self.place(self.hidden(states).tanh()).squeeze(-1)
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        return lengths.unsqueeze(1) * logits.sigmoid()

    def encode(self, positions: Tensor, like: Tensor) -> Tensor:
        """Return ``pr_j``, ``(b, n, d)`` as ``like``, of real-valued positions ``(b, n)`` in [0, n]."""
        first = (positions.detach() - self.window).ceil()
        integers = first.unsqueeze(-1) + torch.arange(floor(2 * self.window) + 1, device=positions.device)
        distances = integers - positions.unsqueeze(-1)
        weights = torch.exp(-distances.square() / self.variance) * (distances <= self.window)
        margin = floor(2 * self.window) + 1
        table = encodings(-margin, positions.size(1) + margin, positions.new_empty(like.size(-1)))
        rows = integers.to(torch.long).flatten(0, 1) + margin
        summed = functional.embedding_bag(rows, table, per_sample_weights=weights.flatten(0, 1), mode="sum")
        return summed.view_as(like).to(like.dtype)


class ReorderingFusion(nn.Module):
    """Runs all layers without and with reordering, and weighs the two (equations 10 and 11).

    ``g = sigmoid(U_g H + W_g H̄)``, one number a token; ``g H̄ + (1 - g) H``. The first layer
    reads the same in both runs and is computed once; from then on both are one batch.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.plain = nn.Linear(size, 1, bias=False)
        self.reordered = nn.Linear(size, 1, bias=False)

    def forward(
        self, layers: Sequence[EncoderLayer], states: Tensor, source: SourceBatch
    ) -> tuple[Tensor, Tensor | None]:
        """Encode ``(b, n, d)`` to the same shape; also return pr of the last layer."""
        first, *others = layers
        plain = first.transform(states, source)
        reordered, learned = first.reorder(plain, source)
        for layer in others:
            both = layer.transform(torch.cat((plain, reordered)), source.twice)
            plain, reordered = both.chunk(2)
            reordered, learned = layer.reorder(reordered, source)
        gate = (self.plain(plain) + self.reordered(reordered)).sigmoid()
        return torch.lerp(plain, reordered, gate.to(plain.dtype)), learned


def reordering_loss(learned: Tensor, positions: Tensor, padding: Tensor, config: ExplicitConfig) -> Tensor:
    """Return ``-λ Σ_j cos(pr_j, re_j)`` over a batch (equation 9), a sum as OpenNMT-py's own loss.

    ``learned``, ``(b, n, d)``, is pr of the last layer; ``positions``, ``(b, n)``, where each token should
    stand: ``re_j = PE(positions_j)``. ``padding`` is True after a sentence's end.
    """
    learned = learned.to(torch.promote_types(learned.dtype, torch.float32))
    given = encodings(0, positions.size(1), learned)[positions]
    similarity = functional.cosine_similarity(learned, given, dim=-1).masked_fill(padding, 0)
    return -config.reordering_loss_weight * similarity.sum()
