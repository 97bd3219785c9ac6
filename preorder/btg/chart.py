"""Sums over all BTG trees of a sentence, or over those that an alignment allows, and the marginals of nodes.

A tree's probability is proportional to exp(score), by :mod:`parts <preorder.btg.scores>`. The inside
algorithm sums span length by span length, in log space; its gradient, the outside algorithm, gives each part
its marginal probability. Both take O(n³) additions and exponentials a sentence, and O(n²) memory.

By the marginals, :func:`expected_agreement` finds the order with minimum Bayes risk under Kendall's tau: that
of the best tree where each pair of tokens gains 1/2 - P(i, j are inverted) by its order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from preorder.btg.grammar import INVERTED, STRAIGHT
from preorder.btg.scores import FIRST, FORBIDDEN, SECOND, WHOLE
from preorder.errors import require

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "neural")
Tensor: TypeAlias = torch.Tensor

LEAST = -80.0  # log of a node's share of its span; below what float32 holds, exp takes ten times as long

PREFERENCE = 1e-3  # weight of a part's probability beside a pair's: it decides between trees of one order
PARTNER_WEIGHT = 0.3  # of an ensemble partner's order; the probabilities count the rest


def log_partition(parts: Tensor, groups: Tensor | None = None) -> Tensor:
    """Return the log of the sum over trees of exp(score), ``[batch]``; differentiable once.

    The parts are ``[batch, PARTS, LABELS, n + 1, n + 1]``, n at least 2. With groups, int ``[batch, n]``, -1
    for a token that is free, only valid trees count (:mod:`preorder.btg.constraint`); there has to be one.
    """
    return _LogPartition.apply(parts, groups)


def marginals(parts: Tensor) -> Tensor:
    """Return the probability of each part, as ``parts``: the gradient of :func:`log_partition`."""
    last = parts.movedim(0, -1).contiguous()
    return _outside(last, _inside(last, None), None, parts.new_ones(len(parts))).movedim(-1, 0)


def inversions(probabilities: Tensor) -> Tensor:
    """Return by the marginals how probably a tree inverts tokens i < j: ``[batch, i, j]``, 0 elsewhere."""
    inverted = probabilities[:, :, INVERTED]
    # An inverted node inverts a rectangle of pairs, which sums along i and j find from its corners.
    corners = inverted[:, FIRST] + inverted[:, SECOND] - inverted[:, WHOLE]
    corners.diagonal(0, 1, 2).sub_(inverted[:, FIRST].sum(1))
    return corners.cumsum(1).cumsum(2)[:, :-1, :-1].triu(1)


def expected_inversions(parts: Tensor, partner: np.ndarray | None = None) -> np.ndarray:
    """Return :func:`inversions`, float32, with an ensemble partner's positions, int32 ``[batch, n]``."""
    return _joint_inversions(marginals(parts), partner).triu(1).clamp(0, 1).float().cpu().numpy()


def expected_agreement(parts: Tensor, partner: np.ndarray | None = None) -> np.ndarray:
    """Return parts, float32 as ``parts``, by which a tree scores the expected agreement of its order.

    That is the expected number of pairs in the right order, less half their number; ``PREFERENCE`` times the
    probabilities of its parts, and the positions of an ensemble partner, int32 ``[batch, n]``, count too.
    """
    probabilities = marginals(parts)
    gains = (0.5 - _joint_inversions(probabilities, partner)).triu(1)
    sums = torch.nn.functional.pad(gains.cumsum(1).cumsum(2), (1, 0, 1, 0))
    straight = torch.stack((sums - sums.diagonal(0, 1, 2)[:, None], sums, -sums), 1)  # FIRST, SECOND, WHOLE
    result = PREFERENCE * probabilities + torch.stack((straight, -straight), 2)
    return result.float().contiguous().cpu().numpy()


def _joint_inversions(probabilities: Tensor, partner: np.ndarray | None) -> Tensor:
    inverted = inversions(probabilities)
    if partner is None:
        return inverted
    given = torch.from_numpy(partner).to(probabilities.device)
    return inverted.lerp((given[:, :, None] > given[:, None]).to(inverted), PARTNER_WEIGHT)


class _LogPartition(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, parts: Tensor, groups: Tensor | None) -> Tensor:
        last = parts.movedim(0, -1).contiguous()
        ctx.bounds = None if groups is None else _bounds(groups)
        charts = _inside(last, ctx.bounds)
        ctx.save_for_backward(last, *charts)
        return charts[0][0, -1].clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        parts, *charts = ctx.saved_tensors
        return _outside(parts, charts, ctx.bounds, gradient).movedim(-1, 0), None


# In what follows all tensors have the batch last, and contiguous, which takes half of the time.


def _inside(parts: Tensor, bounds: tuple[Tensor, ...] | None) -> tuple[Tensor, ...]:
    """Return each span's sum over its trees, ``[b, e, batch]``, and two charts for :func:`_nodes`."""
    _, _, size, _, batch = parts.shape
    inside = parts.new_zeros((size, size, batch))
    firsts, seconds = parts[FIRST].clone(), parts[SECOND].transpose(1, 2).contiguous()
    for width in range(2, size):
        nodes = _nodes(parts, firsts, seconds, bounds, width)
        highest = nodes.amax(2).amax(0)
        total = _exp_of_difference(nodes, highest).sum(2).sum(0).log_() + highest
        _spans(inside, width).copy_(total)
        _spans(firsts, width).add_(total)
        _spans(seconds, -width).add_(total)
    return inside, firsts, seconds


def _outside(
    parts: Tensor, charts: Sequence[Tensor], bounds: tuple[Tensor, ...] | None, gradient: Tensor
) -> Tensor:
    inside, firsts, seconds = charts
    n = parts.shape[2] - 1
    result = torch.zeros_like(parts)
    of_firsts, of_seconds = torch.zeros_like(firsts), torch.zeros_like(seconds)
    of_firsts[0, 0, n] = gradient  # as if the whole were a first child
    for width in range(n, 1, -1):
        outside = _spans(of_firsts, width).sum(0) + _spans(of_seconds, -width).sum(0)
        nodes = _nodes(parts, firsts, seconds, bounds, width)
        nodes = _exp_of_difference(nodes, _spans(inside, width)).mul_(outside[:, None])
        _spans(result[WHOLE], width).copy_(nodes.sum(2))
        _first_children(of_firsts, width).add_(nodes)
        _second_children(of_seconds, width).add_(nodes)
    of_firsts[0, 0, n] -= gradient
    result[FIRST], result[SECOND] = of_firsts, of_seconds.transpose(1, 2)
    return result


def _nodes(
    parts: Tensor, firsts: Tensor, seconds: Tensor, bounds: tuple[Tensor, ...] | None, width: int
) -> Tensor:
    """Return what the trees below each node of a width sum to: ``[label, b, m - b - 1, batch]``.

    ``firsts``, ``[label, b, m, batch]``, and ``seconds``, ``[label, e, m, batch]``, are those of a child.
    """
    nodes = _first_children(firsts, width) + _second_children(seconds, width)
    nodes += _spans(parts[WHOLE], width)[:, :, None]
    if bounds is not None:
        low, high, low_by_end, high_by_end = bounds
        wrong = _first_children(high, width) > _second_children(low_by_end, width)
        nodes[STRAIGHT].masked_fill_(wrong, float(FORBIDDEN))
        wrong = _second_children(high_by_end, width) > _first_children(low, width)
        nodes[INVERTED].masked_fill_(wrong, float(FORBIDDEN))
    return nodes


def _exp_of_difference(nodes: Tensor, spans: Tensor) -> Tensor:
    return nodes.sub_(spans[:, None]).clamp_(min=LEAST).exp_()


def _spans(chart: Tensor, width: int) -> Tensor:
    """View ``chart[…, b, b + width, :]`` for each b, or of a negative width for each e: ``[…, b, batch]``."""
    return chart.diagonal(width, -3, -2).movedim(-1, -2)


def _first_children(chart: Tensor, width: int) -> Tensor:
    """View ``chart[…, b, b + 1 … b + width - 1, :]`` for each b: ``[…, b, m - b - 1, batch]``."""
    *labels, _, size, batch = chart.shape
    shape = (*labels, size - width, width - 1, batch)
    strides = (*chart.stride()[: len(labels)], (size + 1) * batch, batch, 1)
    return chart.as_strided(shape, strides, chart.storage_offset() + batch)


def _second_children(chart: Tensor, width: int) -> Tensor:
    """View ``chart[…, e, e - width + 1 … e - 1, :]`` for each e = b + width, in the same shape."""
    return _first_children(chart[..., width:, :, :], width)


def _bounds(groups: Tensor) -> tuple[Tensor, ...]:
    """Return least (n + 1: none) and greatest (-1) group in each span, ``[b, e, batch]``, and by end."""
    batch, n = groups.shape
    groups = groups.T.int()
    starts = torch.ones((n, n), dtype=torch.bool, device=groups.device).triu()[:, :, None] & (groups >= 0)
    low, high = (groups.new_full((n + 1, n + 1, batch), none) for none in (n + 1, -1))
    low[:n, 1:] = torch.where(starts, groups, n + 1).cummin(1).values
    high[:n, 1:] = torch.where(starts, groups, -1).cummax(1).values
    return low, high, low.transpose(0, 1).contiguous(), high.transpose(0, 1).contiguous()
