"""``log p(y | x)`` over all segmentations, and its gradient, in bounded memory (Huang et al. 2018, eq. 1).

One run of the network, without a graph and in chunks, scores all segments. The recursions of Wang et al. 2017
give the probability of every segment given the sentence: the gradient of ``log p(y | x)`` by its score. So
the backward pass runs the network once more, with a graph, and weighs each score by its segment's
probability. Segments of very small probability can be left out there.

``scores[t, b, i, l]`` is ``log p(y_{i+1} … y_{i+l}, $ | x_t)`` of sentence ``b``, counting the elements ``t``
from 0; ``-inf`` where there is no such segment. An element that is padding emits the empty segment with score
0. All recursions run over the elements, and compute all sentences, boundaries and lengths in one operation.

Cost: ``Σ source · target · longest`` steps of the network and softmaxes over the vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from onmt_preorder.papers.npmt.scorer import Scorer, SegmentLayers, SentencePairs, WorkLimits, wide

_IMPOSSIBLE = float("-inf")


def log_likelihood(model: SegmentLayers, batch: SentencePairs, limits: WorkLimits) -> Tensor:
    """Return ``log p(y | x)``, ``(batch,)``; it can be differentiated once.

    It is ``-inf`` and has no gradient where a target has more words than its elements can emit.
    """
    scorer = Scorer(model, batch, limits)
    with torch.no_grad():
        scores = scorer.spread(_scores(scorer))
        total, alphas = sum_segmentations(scores, batch.lengths)
        if not scorer.elements.output.requires_grad:
            return total
        weights = posteriors(scores, alphas, batch.lengths)[scorer.real]
    inputs = scorer.elements.output, scorer.elements.state, scorer.gates
    layers = (*model.network.parameters(), *model.vocabulary.parameters())
    return _Weighted.apply(
        total, scorer, weights, *inputs, *(layer for layer in layers if layer.requires_grad)
    )


def _scores(scorer: Scorer) -> Tensor:
    """Return ``(elements, target + 1, longest + 1)``, ``-inf`` where there is no segment."""
    count, target = scorer.remaining.shape
    longest, output = scorer.limits.longest, scorer.elements.output
    scores = output.new_full((count, target + 1, longest + 1), _IMPOSSIBLE, dtype=wide(output))
    prefixes = scores.new_zeros(count, target, longest + 2)
    for chunk in scorer.first_chunks():
        found = scorer.model.log_probabilities(*scorer.first_symbols(chunk, output))
        scores[chunk, :, 0], prefixes[chunk, :, 1] = found[:, :1], found[:, 1:]
    if not (scorer.limits.unpromising and target):
        _fill(scorer, scores, prefixes, scorer.remaining, known=0)
    else:
        _fill(scorer, scores, prefixes, scorer.remaining.clamp(max=1), known=0)
        _fill(scorer, scores, prefixes, _promising(scorer, scores, prefixes), known=1)
    return scores


def _fill(scorer: Scorer, scores: Tensor, prefixes: Tensor, reading: Tensor, known: int) -> None:
    """Fill in the scores of segments of more words than are known, up to those to read.

    ``prefixes[e, i, l]``: the log probability that element e begins a segment with the l words from i.
    """
    for starts in scorer.starts(reading.masked_fill(reading <= known, 0), 1):
        steps = scorer.follow(starts, scorer.elements.state, scorer.gates, known)
        for length, (output, words) in enumerate(steps, known + 1):
            element, begin = starts.element[: len(output)], starts.begin[: len(output)]
            end, word = scorer.model.log_probabilities(output, words).unbind(1)
            prefix = prefixes[element, begin, length]
            scores[element, begin, length] = prefix + end
            prefixes[element, begin, length + 1] = prefix + word


def _promising(scorer: Scorer, scores: Tensor, prefixes: Tensor) -> Tensor:
    """Return how many words, ``(elements, target)``, are worth reading from each start.

    A Markov chain of words for each element stands in for the network.
    """
    longest, first = scorer.limits.longest, prefixes[:, :, 1]
    chain = (prefixes[:, :, 2] - first).cumsum(1)  # of a word after the one before it
    before = functional.pad(chain, (1, 0))[:, :-1]
    ends = functional.pad(before + scores[:, :-1, 1] - first, (0, longest - 1)).unfold(1, longest, 1)
    lengths = torch.arange(1, longest + 1, device=ends.device)
    possible = lengths <= scorer.remaining.unsqueeze(2)
    coarse = scores.clone()
    coarse[:, :-1, 1:] = torch.where(possible, (first - before).unsqueeze(2) + ends, _IMPOSSIBLE)
    spread, lengths = scorer.spread(coarse), scorer.lengths
    weights = posteriors(spread, sum_segmentations(spread, lengths)[1], lengths)
    return _reading(weights[scorer.real], scorer.limits.unpromising)


def _reading(weights: Tensor, bound: float) -> Tensor:
    """Return how many words to read from each start to meet all segments above a probability."""
    return (_at_least(weights) > bound).sum(2)


def _at_least(weights: Tensor) -> Tensor:
    """Sum the weights of segments of a length from 1 on or any greater: ``(elements, target, longest)``."""
    return weights.flip(-1).cumsum(-1).flip(-1)[:, :-1, 1:]


def _weighted(
    scorer: Scorer, weights: Tensor, gradient: Tensor, output: Tensor, state: Tensor, gates: Tensor
) -> Iterator[Tensor]:
    """Yield, chunk by chunk, the sum of all scores by their weights, with a graph from the last three on.

    ``weights`` are the segments' probabilities, ``(elements, target + 1, longest + 1)``; ``gradient`` is
    each sentence's weight, ``(batch,)``.
    """
    scale = gradient[scorer.sentence].view(-1, 1, 1)
    ended, continued = weights * scale, functional.pad(_at_least(weights) * scale, (0, 1))
    for chunk in scorer.first_chunks():
        of_symbols = torch.cat((ended[chunk, :, 0].sum(1, keepdim=True), continued[chunk, :, 0]), 1)
        yield scorer.model.weighted_sum(*scorer.first_symbols(chunk, output), of_symbols)
    for starts in scorer.starts(_reading(weights, scorer.limits.negligible), scorer.limits.longest + 1):
        parts = []
        for length, (read, words) in enumerate(scorer.follow(starts, state, gates), 1):
            segment = starts.element[: len(read)], starts.begin[: len(read)], length
            parts.append((read, words, torch.stack((ended[segment], continued[segment]), 1)))
        yield scorer.model.weighted_sum(*(torch.cat(part) for part in zip(*parts, strict=True)))


class _Weighted(torch.autograd.Function):
    """``log p(y | x)``, whose gradient comes from a second run with the segments' weights."""

    @staticmethod
    def forward(ctx: Any, total: Tensor, scorer: Scorer, weights: Tensor, *inputs: Tensor) -> Tensor:
        ctx.scorer = scorer
        ctx.save_for_backward(weights, *inputs[:3])
        ctx.layers = inputs[3:]
        return total.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        weights, *inputs = ctx.saved_tensors
        inputs = [tensor.detach().requires_grad_() for tensor in inputs]
        targets = (*inputs, *ctx.layers)
        totals: list[Tensor | None] = [None] * len(targets)
        with torch.enable_grad():
            for surrogate in _weighted(ctx.scorer, weights, gradient, *inputs):
                found = torch.autograd.grad(surrogate, targets, allow_unused=True)
                totals = [_add(total, part) for total, part in zip(totals, found, strict=True)]
        return None, None, None, *totals


def _add(total: Tensor | None, part: Tensor | None) -> Tensor | None:
    return part if total is None else total if part is None else total.add_(part)


def sum_segmentations(scores: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Sum over all segmentations of targets of so many words, ``lengths (batch,)``.

    Return ``log p(y | x)``, ``(batch,)``, ``-inf`` for a target longer than its elements can emit; and
    ``α_t(j)``, ``(elements + 1, batch, target + 1)``: the log probability that the first t elements emit the
    first j words.
    """
    alpha = scores.new_full(scores.shape[1:3], _IMPOSSIBLE)
    alpha[:, 0] = 0
    alphas = [alpha]
    for arriving in _by_end(scores):
        sizes = arriving.size(-1)  # α of the boundaries j - sizes + 1 … j beside the segments that end at j
        before = functional.pad(alphas[-1], (sizes - 1, 0), value=_IMPOSSIBLE).unfold(1, sizes, 1)
        alphas.append((before + arriving).logsumexp(-1))
    return _at(alphas[-1], lengths), torch.stack(alphas)


def posteriors(scores: Tensor, alphas: Tensor, lengths: Tensor) -> Tensor:
    """Return the probability of each segment given the sentence: the gradient of ``log p(y | x)``.

    All are 0 where ``log p(y | x)`` is ``-inf``. ``alphas`` are :func:`sum_segmentations`'s.
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


def _by_end(scores: Tensor) -> Iterable[Tensor]:
    """Yield each element's ``(batch, target + 1, longest + 1)`` scores, by the segments' ends.

    Entry ``[b, j, k]`` belongs to the segment from ``j - longest + k`` to ``j``. It means nothing where that
    is before 0: there ``α`` is ``-inf``.
    """
    boundaries, sizes = scores.shape[2:]
    size = torch.arange(sizes - 1, -1, -1, device=scores.device)
    start = torch.arange(boundaries, device=scores.device).unsqueeze(1) - size
    return scores[:, :, start.clamp(min=0), size.expand_as(start)]


def _at(table: Tensor, boundaries: Tensor) -> Tensor:
    return table.gather(1, boundaries.unsqueeze(1)).squeeze(1)
