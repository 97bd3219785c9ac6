"""Sums and maxima over the segmentations of a sentence (Huang et al. 2018, eq. 1; Wang et al. 2017).

A table holds the score of every segment at every boundary of the target:
``scores[t, b, i, l]`` is ``log p(y_{i+1} … y_{i+l}, $ | x_t)`` of sentence ``b``, counting the
elements ``t`` from 0; ``-inf`` where there is no such segment. An element that is padding emits
the empty segment with score 0: 0 at ``l = 0``, ``-inf`` elsewhere.

All recursions run over the source elements; all sentences, boundaries and lengths are computed in
one operation. Cost: O(elements · batch · target · longest).
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor
from torch.nn import functional

_IMPOSSIBLE = float("-inf")


def forward(scores: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Sum over all segmentations.

    Args:
        scores: ``(elements, batch, target + 1, longest + 1)``.
        lengths: ``(batch,)`` words in each target.

    Returns:
        ``(batch,)`` ``log p(y | x)``, ``-inf`` for a target longer than its elements can emit;
        and ``(elements + 1, batch, target + 1)``: ``α_t(j)``, the log probability that the
        first t elements emit the first j words.
    """
    alpha = scores.new_full(scores.shape[1:3], _IMPOSSIBLE)
    alpha[:, 0] = 0
    alphas = [alpha]
    for arriving in _by_end(scores):
        alphas.append((_windows(alphas[-1], arriving.size(-1)) + arriving).logsumexp(-1))
    return _at(alphas[-1], lengths), torch.stack(alphas)


def posteriors(scores: Tensor, alphas: Tensor, lengths: Tensor) -> Tensor:
    """Return the probability of each segment given the sentence: the gradient of ``log p(y | x)``.

    All are 0 where ``log p(y | x)`` is ``-inf``. The arguments are :func:`forward`'s, and what it returned.
    """
    longest = scores.size(-1) - 1
    total = _at(alphas[-1], lengths)
    beta = torch.full_like(alphas[-1], _IMPOSSIBLE).scatter_(1, lengths.unsqueeze(1), 0)
    found = []
    for alpha, leaving in zip(alphas[:-1].flip(0), scores.flip(0), strict=True):
        onward = leaving + functional.pad(beta, (0, longest), value=_IMPOSSIBLE).unfold(1, longest + 1, 1)
        found.append((alpha - total.unsqueeze(1)).unsqueeze(-1) + onward)
        beta = onward.logsumexp(-1)
    return torch.stack(found[::-1]).exp().masked_fill(total.isinf().view(1, -1, 1, 1), 0)


def best_segmentation(scores: Tensor, lengths: Tensor) -> Tensor:
    """Return how many words each element emits in the most probable segmentation: ``(batch, elements)``.

    The arguments are :func:`forward`'s; each target must be possible.
    """
    longest = scores.size(-1) - 1
    alpha = scores.new_full(scores.shape[1:3], _IMPOSSIBLE)
    alpha[:, 0] = 0
    back = []
    for arriving in _by_end(scores):
        alpha, where = (_windows(alpha, arriving.size(-1)) + arriving).max(-1)
        back.append(longest - where)
    end, emitted = lengths, []
    for where in reversed(back):
        emitted.append(_at(where, end))
        end = end - emitted[-1]
    return torch.stack(emitted[::-1], dim=1)


def _by_end(scores: Tensor) -> Iterable[Tensor]:
    """Yield each element's ``(batch, target + 1, longest + 1)`` scores, by the segments' ends.

    Entry ``[b, j, k]`` belongs to the segment from ``j - longest + k`` to ``j``.
    """
    boundaries, sizes = scores.shape[2:]
    size = torch.arange(sizes - 1, -1, -1, device=scores.device)
    start = torch.arange(boundaries, device=scores.device).unsqueeze(1) - size
    skewed = scores[:, :, start.clamp(min=0), size.expand_as(start)]
    return skewed.masked_fill(start < 0, _IMPOSSIBLE)


def _windows(alpha: Tensor, sizes: int) -> Tensor:
    """Return ``(batch, boundaries, sizes)``: entry ``[b, j, k]`` is ``alpha[b, j - sizes + 1 + k]``."""
    return functional.pad(alpha, (sizes - 1, 0), value=_IMPOSSIBLE).unfold(1, sizes, 1)


def _at(table: Tensor, boundaries: Tensor) -> Tensor:
    return table.gather(1, boundaries.unsqueeze(1)).squeeze(1)
