"""Explicit reordering (Chen et al. 2020): the encoder learns each token's position in the target's order.

ExGRE is :class:`ExplicitReordering` in every layer's slot ``after_layer``; ReFSR runs the same layers by
:class:`ReorderingFusion`. In training :func:`reordering_loss` compares the last layer's positions with
given ones; translation needs none.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from onmt_preorder.option_helpers import option_group
from onmt_preorder.transformer.options import ENCODER
from onmt_preorder.transformer.sinusoidal import encodings
from preorder.errors import UsageError

if TYPE_CHECKING:  # they import onmt, whose options this module is part of
    from onmt_preorder.transformer.layers import EncoderLayer
    from onmt_preorder.transformer.self_attention import SourceBatch

SIMILARITY = "similarity"
NONE, EXGRE, REFSR = "none", "exgre", "refsr"
SAME = -1  # as reordering_distance
WINDOW = 2.0  # for D up to 0.5 the rest of the Gaussian is below 0.0004; for D = 1 below 0.02

_OF_LEARNING = ("reordering_loss_weight", "reordering_distance", "reordering_window", "reordering_rank")
_EXPLICIT = f"explicit_reordering: {EXGRE} or {REFSR}", lambda opt: opt.explicit_reordering != NONE
NEEDS = dict.fromkeys(_OF_LEARNING, _EXPLICIT)


def add_options(parser: Any) -> None:
    """Add the options to a parser of OpenNMT-py."""
    add = option_group(parser, "Model- explicit reordering")
    what = "Learn from the positions of the training source where each token should stand."
    add("explicit_reordering", default=NONE, choices=[NONE, EXGRE, REFSR], help=what)
    add("reordering_loss_weight", type=float, default=0.6, help="Weight of the reordering loss.")
    gaussian = "D: the Gaussian around a learned position has σ = D/2."
    add("reordering_distance", type=float, default=0.5, help=gaussian)
    what = "Encodings of the positions within this distance of a learned one are summed (default: "
    what += f"%(default)s; {SAME}: reordering_distance, at whose default the loss has no gradient)."
    add("reordering_window", type=float, default=WINDOW, help=what)
    add("reordering_rank", type=int, default=0, help="Rank of the matrix W of learned positions (0: full).")


def check(opt: Namespace) -> None:
    """Check what concerns explicit reordering."""
    if opt.explicit_reordering == NONE:
        return
    if opt.encoder_type != ENCODER:
        raise UsageError(f"explicit_reordering needs encoder_type: {ENCODER}, not {opt.encoder_type}")
    if window(opt) < 0.5:
        raise UsageError(
            f"reordering_window {window(opt):g} is below 0.5: some positions would get no encoding"
        )
    if opt.reordering_loss_weight and getattr(opt, "n_src_feats", 0) != 1:
        raise UsageError("the reordering loss needs the positions as source feature: n_src_feats: 1")


def window(opt: Namespace) -> float:
    """Return half the width of the window around a learned position."""
    return opt.reordering_distance if opt.reordering_window == SAME else opt.reordering_window


@dataclass(frozen=True)
class AdditionalLoss:
    """What a module's method ``additional_loss()`` adds to the training loss.

    ``loss`` is a scalar, summed over the batch and divided by ``normalization`` as OpenNMT-py's own loss is.
    ``statistics`` maps a name to (total, count); reports show Σ total / Σ count since the last report.
    """

    loss: Tensor
    statistics: Mapping[str, tuple[float, float]]


class ExplicitReordering(nn.Module):
    """Encodes the position that each token should have, to be added to its state.

    ``b_j = J sigmoid(U tanh(W h_j))`` is a real-valued position in (0, J), J the sentence's length, and
    ``pr_j = Σ_s PE_s exp(-(s - b_j)² / 2σ)`` with ``σ = D/2`` over the integers s of
    ``[b_j - window, b_j + window]`` (equations 5 and 6). Positions count from 0; PE is defined
    for every integer, so the window is not cut at the sentence's ends.

    The paper types W and U as ``d × 1``. Here W is ``d × d``, or the product of a ``d × r`` and
    an ``r × d`` matrix, and U is ``1 × d``: one number a token.
    """

    def __init__(self, size: int, opt: Namespace) -> None:
        super().__init__()
        hidden, rank = [nn.Linear(size, size, bias=False)], opt.reordering_rank
        if rank:
            hidden = [nn.Linear(size, rank, bias=False), nn.Linear(rank, size, bias=False)]
        self.hidden = nn.Sequential(*hidden)
        self.place = nn.Linear(size, 1, bias=False)  # named so in checkpoints
        self.variance = opt.reordering_distance  # 2σ
        self.window = window(opt)

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
    ) -> tuple[Tensor, Tensor]:
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


def reordering_loss(learned: Tensor, positions: Tensor, padding: Tensor, opt: Namespace) -> AdditionalLoss:
    """Return ``-λ Σ_j cos(pr_j, re_j)`` over a batch (equation 9) and the mean cosine (equation 12).

    ``learned``, ``(b, n, d)``, is pr of the last layer; ``positions``, ``(b, n)``, where each token should
    stand: ``re_j = PE(positions_j)``. ``padding`` is True after a sentence's end.
    """
    learned = learned.to(torch.promote_types(learned.dtype, torch.float32))
    given = encodings(0, positions.size(1), learned)[positions]
    similarity = functional.cosine_similarity(learned, given, dim=-1).masked_fill(padding, 0)
    total, tokens = similarity.sum(), int((~padding).sum())
    return AdditionalLoss(-opt.reordering_loss_weight * total, {SIMILARITY: (total.item(), tokens)})
