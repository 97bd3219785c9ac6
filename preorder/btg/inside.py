"""Sums over all BTG trees of a sentence, or over those that an alignment allows, and the marginals of nodes.

A tree's probability is proportional to exp(score), by :mod:`parts <preorder.btg.scores>`. The inside
algorithm sums span length by span length, in log space; its gradient, the outside algorithm, gives each part
the sum of the marginal probabilities of the nodes that it belongs to. Both take O(n³) additions and
exponentials a sentence, O(n²) memory, and a number of kernel calls linear in n.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from preorder.btg.grammar import INVERTED, STRAIGHT
from preorder.btg.scores import FIRST, FORBIDDEN, SECOND, WHOLE
from preorder.data.errors import require

torch = require("torch", "neural")


def log_partition(parts: torch.Tensor, groups: torch.Tensor | None = None) -> torch.Tensor:
    """Return the log of the sum over trees of exp(score), ``[batch]``; differentiable once.

    Args:
        parts: float ``[batch, PARTS, LABELS, n + 1, n + 1]``; n is at least 2.
        groups: int ``[batch, n]``, where each token belongs, -1 for a token that is free: only valid trees
            count (:mod:`preorder.btg.constraint`), and there has to be one. None: all trees.
    """
    return _LogPartition.apply(parts, groups)


def marginals(parts: torch.Tensor) -> torch.Tensor:
    """Return the probability of each part, the sum over the nodes that it belongs to, as ``parts``.

    The gradient of :func:`log_partition`, at twice its cost.
    """
    return _outside(parts, _inside(parts, None), None, parts.new_ones(len(parts)))


class _LogPartition(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, parts: torch.Tensor, groups: torch.Tensor | None) -> torch.Tensor:
        ctx.bounds = None if groups is None else _bounds(groups)
        charts = _inside(parts, ctx.bounds)
        ctx.save_for_backward(parts, *charts)
        return charts[0][:, 0, -1].clone()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        parts, *charts = ctx.saved_tensors
        return _outside(parts, charts, ctx.bounds, gradient), None


def _inside(parts: torch.Tensor, bounds: tuple[torch.Tensor, ...] | None) -> tuple[torch.Tensor, ...]:
    """Return each span's sum over its trees, ``[batch, b, e]``, and two charts for :func:`_nodes`."""
    n = parts.shape[-1] - 1
    inside = parts.new_zeros((len(parts), n + 1, n + 1))
    firsts = parts[:, FIRST].clone(memory_format=torch.contiguous_format)
    seconds = parts[:, SECOND].mT.clone(memory_format=torch.contiguous_format)
    for width in range(2, n + 1):
        nodes = _nodes(parts, firsts, seconds, bounds, width)
        total = nodes.movedim(1, 2).flatten(2).logsumexp(2)
        inside.diagonal(width, 1, 2).copy_(total)
        firsts.diagonal(width, 2, 3).add_(total[:, None])
        seconds.diagonal(-width, 2, 3).add_(total[:, None])
    return inside, firsts, seconds


def _outside(
    parts: torch.Tensor,
    charts: Sequence[torch.Tensor],
    bounds: tuple[torch.Tensor, ...] | None,
    gradient: torch.Tensor,
) -> torch.Tensor:
    """Return the gradient of the parts, given that of the log-partitions."""
    inside, firsts, seconds = charts
    n = parts.shape[-1] - 1
    result = torch.zeros_like(parts)
    of_firsts, of_seconds = torch.zeros_like(firsts), torch.zeros_like(seconds)
    of_firsts[:, 0, 0, n] = gradient  # as if the whole were a first child
    for width in range(n, 1, -1):
        outside = of_firsts.diagonal(width, 2, 3).sum(1) + of_seconds.diagonal(-width, 2, 3).sum(1)
        nodes = _nodes(parts, firsts, seconds, bounds, width)
        nodes.sub_(inside.diagonal(width, 1, 2)[:, None, :, None]).exp_()
        nodes.mul_(outside[:, None, :, None])
        result[:, WHOLE].diagonal(width, 2, 3).copy_(nodes.sum(3))
        _first_children(of_firsts, width).add_(nodes)
        _second_children(of_seconds, width).add_(nodes)
    of_firsts[:, 0, 0, n] -= gradient
    result[:, FIRST], result[:, SECOND] = of_firsts, of_seconds.mT
    return result


def _nodes(
    parts: torch.Tensor,
    firsts: torch.Tensor,
    seconds: torch.Tensor,
    bounds: tuple[torch.Tensor, ...] | None,
    width: int,
) -> torch.Tensor:
    """Return what the trees below each node of a width sum to: ``[batch, label, b, m - b - 1]``.

    ``firsts``, ``[batch, label, b, m]``, and ``seconds``, ``[batch, label, e, m]``, hold the child's part
    with the sum over the trees of the child.
    """
    nodes = _first_children(firsts, width) + _second_children(seconds, width)
    nodes += parts[:, WHOLE].diagonal(width, 2, 3)[..., None]
    if bounds is not None:
        low, high, low_by_end, high_by_end = bounds
        wrong = _first_children(high, width) > _second_children(low_by_end, width)
        nodes[:, STRAIGHT].masked_fill_(wrong[:, 0], float(FORBIDDEN))
        wrong = _second_children(high_by_end, width) > _first_children(low, width)
        nodes[:, INVERTED].masked_fill_(wrong[:, 0], float(FORBIDDEN))
    return nodes


def _first_children(chart: torch.Tensor, width: int) -> torch.Tensor:
    """View ``chart[:, :, b, b + 1 … b + width - 1]`` for each b: ``[batch, label, b, m - b - 1]``."""
    return _bands(chart, width, first=1)


def _second_children(chart: torch.Tensor, width: int) -> torch.Tensor:
    """View ``chart[:, :, e, e - width + 1 … e - 1]`` for each e = b + width, in the same shape."""
    return _bands(chart, width, first=width * chart.shape[-1] + 1)


def _bands(chart: torch.Tensor, width: int, first: int) -> torch.Tensor:
    size = chart.shape[-1]
    shape = (*chart.shape[:2], size - width, width - 1)
    strides = (*chart.stride()[:2], size + 1, 1)
    return chart.as_strided(shape, strides, chart.storage_offset() + first)


def _bounds(groups: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Return least and greatest group in each span, ``[batch, 1, b, e]``, and by end, ``[batch, 1, e, b]``.

    A span without any has a least one greater, a greatest one less, than all.
    """
    batch, n = groups.shape
    inside = torch.ones((n, n), dtype=torch.bool, device=groups.device).triu() & (groups >= 0)[:, None]
    low, high = (groups.new_full((batch, 1, n + 1, n + 1), none) for none in (n + 1, -1))
    low[:, 0, :n, 1:] = torch.where(inside, groups[:, None], n + 1).cummin(2).values
    high[:, 0, :n, 1:] = torch.where(inside, groups[:, None], -1).cummax(2).values
    return low, high, low.mT.contiguous(), high.mT.contiguous()
