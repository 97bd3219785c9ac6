"""``log p(y | x)`` over all segmentations, and its gradient, in bounded memory.

The scores of all segments come from one run of the network over (sentence, source element, start
in the target), ``longest + 1`` steps, without a graph and in chunks: no more than a given number
of logits exists at a time. The lattice gives the probability of every segment given the sentence,
and these are the gradient of ``log p(y | x)`` by the segments' scores. So the backward pass runs
the network once more, chunk by chunk, with a graph, and weighs each score by its segment's
probability. Segments that are all but impossible add all but nothing: they can be left out there,
which makes the second run a small part of the first once a model has learned what belongs together.

Cost: ``Σ source · target · longest`` steps of the network and softmaxes over the vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from onmt_preorder.swan import lattice
from onmt_preorder.swan.network import SegmentNetwork


@dataclass(frozen=True)
class Limits:
    """What bounds the work.

    Attributes:
        longest: words of a segment at most.
        logits: how many of them to hold at a time; any number gives the same result.
        negligible: segments of a smaller probability, given the sentence, have no gradient; 0: all have.
        unpromising: segments of a smaller probability, as a coarser model has it, are not even
            scored, which leaves a little less than ``p(y | x)``; 0: all are.
    """

    longest: int
    logits: int = 2**22
    negligible: float = 0.0
    unpromising: float = 0.0


@dataclass(frozen=True)
class Model:
    """The layers that score segments.

    Attributes:
        network: the recurrent layers.
        vocabulary: from their output to logits, OpenNMT-py's generator.
        embeddings: of target words, ``(batch, length, 1)`` ids to ``(batch, length, size)``.
        begin: the id of the symbol that the network reads first.
        end: the id of the symbol that ends a segment.
    """

    network: SegmentNetwork
    vocabulary: nn.Module
    embeddings: nn.Module
    begin: int
    end: int

    def first_gates(self, device: torch.device) -> Tensor:
        """Return what the input gates see of the first symbol."""
        first = torch.full((1, 1, 1), self.begin, device=device)
        return self.network.gates(self.embeddings(first)).view(-1)


@dataclass(frozen=True)
class Batch:
    """Sentence pairs.

    Attributes:
        states: ``(batch, elements, size)``: the encoder's.
        elements: ``(batch,)``: source elements of each sentence, from 1.
        words: ``(batch, target)`` ids, without any begin or end.
        lengths: ``(batch,)`` words of each target, from 0.
    """

    states: Tensor
    elements: Tensor
    words: Tensor
    lengths: Tensor


class _Rows(NamedTuple):
    """Starts to follow, those with the most words to read first.

    Attributes:
        element, start: ``(rows,)``: which element reads on from which place in the target.
        counts: how many rows read at least 1, 2, … words.
    """

    element: Tensor
    start: Tensor
    counts: list[int]


def log_likelihood(model: Model, batch: Batch, limits: Limits) -> Tensor:
    """Return ``(batch,)`` ``log p(y | x)``, to be differentiated once.

    ``-inf``, without a gradient, for a target of more words than its elements can emit.
    """
    work = _Work(model, batch, limits)
    with torch.no_grad():
        scores = work.spread(work.scores())
        total, alphas = lattice.forward(scores, batch.lengths)
        if not work.elements.output.requires_grad:
            return total
        weights = lattice.posteriors(scores, alphas, batch.lengths)[work.real]
    inputs = work.elements.output, work.elements.state, work.gates
    layers = (*model.network.parameters(), *model.vocabulary.parameters())
    return _Weighted.apply(total, work, weights, *inputs, *(layer for layer in layers if layer.requires_grad))


def segment_scores(model: Model, batch: Batch, limits: Limits) -> Tensor:
    """Return the scores of all segments as :mod:`.lattice` wants them, without a graph."""
    with torch.no_grad():
        work = _Work(model, batch, limits)
        return work.spread(work.scores())


class _Rows(NamedTuple):
    """Starts to follow, those with the most words to read first.

    Attributes:
        element, start: ``(rows,)``: which element reads on from which place in the target.
        counts: how many rows read at least 1, 2, … words.
    """

    element: Tensor
    start: Tensor
    counts: list[int]


class _Work:
    """A batch's real elements, one after another, and the network's run over their segments."""

    def __init__(self, model: Model, batch: Batch, limits: Limits) -> None:
        self.model, self.limits, self.words, self.lengths = model, limits, batch.words, batch.lengths
        device = batch.words.device
        self.real = torch.arange(batch.states.size(1), device=device).unsqueeze(1) < batch.elements
        self.sentence = self.real.nonzero()[:, 1]
        places = torch.arange(batch.words.size(1), device=device)
        self.remaining = (batch.lengths[self.sentence].unsqueeze(1) - places).clamp(0, limits.longest)
        source = batch.states.transpose(0, 1)[self.real]
        self.elements = model.network.begin(source, model.first_gates(device))
        embedded = model.embeddings(batch.words.unsqueeze(-1))
        self.gates = model.network.gates(embedded).flatten(0, 1)

    def spread(self, packed: Tensor) -> Tensor:
        """Put the elements' scores where the elements are; padding emits nothing, for nothing."""
        scores = packed.new_full((*self.real.shape, *packed.shape[1:]), float("-inf"))
        scores[..., 0] = 0
        scores[self.real] = packed
        return scores

    def scores(self) -> Tensor:
        """Return ``(elements, target + 1, longest + 1)``, ``-inf`` where there is no segment."""
        count, target = self.remaining.shape
        size = count, target + 1, self.limits.longest + 1
        scores = self.elements.output.new_full(size, float("-inf"), dtype=_wide(self.elements.output))
        prefixes = scores.new_zeros(count, target, size[2] + 1)
        for chunk in self.first_chunks():
            end, prefixes[chunk, :, 1] = self.first_symbols(chunk, self.elements.output)
            scores[chunk, :, 0] = end.unsqueeze(1)
        if not self.limits.unpromising:
            self._score(scores, prefixes, self.remaining, 0)
        else:
            self._score(scores, prefixes, self.remaining.clamp(max=1), 0)
            self._score(scores, prefixes, self._promising(scores, prefixes), 1)
        return scores

    def _score(self, scores: Tensor, prefixes: Tensor, reading: Tensor, known: int) -> None:
        """Fill in the scores of segments of more words than are known, up to those to read."""
        for rows in self.rows(reading.masked_fill(reading <= known, 0), 1):
            steps = self.follow(rows, self.elements.state, self.gates, known)
            for length, (end, word) in enumerate(steps, known + 1):
                element, start = rows.element[: end.size(0)], rows.start[: end.size(0)]
                prefix = prefixes[element, start, length]
                scores[element, start, length] = prefix + end
                prefixes[element, start, length + 1] = prefix + word

    def _promising(self, scores: Tensor, prefixes: Tensor) -> Tensor:
        """Return how many words, ``(elements, target)``, are worth reading from each start.

        Scores of one word after another known one, for all elements, make a Markov chain that
        stands in for the network; a segment is worth it if the chain's lattice finds it likely.
        """
        longest = self.limits.longest
        chain = (prefixes[:, :, 2] - prefixes[:, :, 1]).cumsum(1)
        before = functional.pad(chain, (1, 0))[:, :-1]
        ends = functional.pad(before + scores[:, :-1, 1] - prefixes[:, :, 1], (0, longest - 1)).unfold(
            1, longest, 1
        )
        lengths = torch.arange(1, longest + 1, device=ends.device)
        possible = lengths <= self.remaining.unsqueeze(2)
        coarse = scores.clone()
        coarse[:, :-1, 1:] = torch.where(
            possible, (prefixes[:, :, 1] - before).unsqueeze(2) + ends, float("-inf")
        )
        return self.reading(self.posteriors(coarse), self.limits.unpromising)

    def reading(self, weights: Tensor, bound: float) -> Tensor:
        """Return how many words to read from each start to meet all segments of at least a probability."""
        return (_at_least(weights)[:, :-1, 1:] > bound).sum(2)

    def posteriors(self, scores: Tensor) -> Tensor:
        """Return each segment's probability given the sentence, of packed scores."""
        spread = self.spread(scores)
        return lattice.posteriors(spread, lattice.forward(spread, self.lengths)[1], self.lengths)[self.real]

    def weighted(
        self, weights: Tensor, gradient: Tensor, output: Tensor, state: Tensor, gates: Tensor
    ) -> Iterator[Tensor]:
        """Yield, chunk by chunk, the sum of all scores by their weights, with a graph.

        Args:
            weights: ``(elements, target + 1, longest + 1)``: each segment's probability.
            gradient: ``(batch,)``: each sentence's weight.
            output, state, gates: where the graph begins.
        """
        scale = gradient[self.sentence].view(-1, 1, 1)
        ended, continued = weights * scale, functional.pad(_at_least(weights)[:, :-1, 1:] * scale, (0, 1))
        for chunk in self.first_chunks():
            end, words = self.first_symbols(chunk, output)
            yield (end * ended[chunk, :, 0].sum(1)).sum() + (words * continued[chunk, :, 0]).sum()
        for rows in self.rows(self.reading(weights, self.limits.negligible), self.limits.longest + 1):
            surrogate = output.new_zeros(())
            for length, (end, word) in enumerate(self.follow(rows, state, gates), 1):
                segment = rows.element[: end.size(0)], rows.start[: end.size(0)], length
                surrogate = surrogate + (end * ended[segment]).sum() + (word * continued[segment]).sum()
            yield surrogate

    def first_chunks(self) -> Iterator[slice]:
        """Yield the elements in chunks."""
        count = self.remaining.size(0)
        size = self._chunk_size(1)
        return (slice(begin, begin + size) for begin in range(0, count, size))

    def first_symbols(self, chunk: slice, output: Tensor) -> tuple[Tensor, Tensor]:
        """Score the empty segment, ``(elements,)``, and each word as a segment's first."""
        return self._symbols(output[chunk], self.words[self.sentence[chunk]])

    def rows(self, remaining: Tensor, graphs: int) -> Iterator[_Rows]:
        """Yield the starts from which there are words to read, in chunks.

        Args:
            remaining: ``(elements, target)``: how many words to read from there.
            graphs: steps of a chunk that exist at a time.
        """
        element, start = remaining.nonzero(as_tuple=True)
        words, order = remaining[element, start].sort(descending=True, stable=True)
        at_least = words.bincount(minlength=self.limits.longest + 1).flip(0).cumsum(0).flip(0)[1:].tolist()
        element, start = element[order], start[order]
        size = self._chunk_size(graphs)
        for begin in range(0, element.size(0), size):
            chunk = slice(begin, begin + size)
            counts = [min(reading - begin, size) for reading in at_least if reading > begin]
            yield _Rows(element[chunk], start[chunk], counts)

    def follow(
        self, rows: _Rows, state: Tensor, gates: Tensor, known: int = 0
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield for each word read: ``(reading,)`` scores of the segment's end, and of the next word.

        What is given for a next word after the sentence's last means nothing. Nothing is given
        for as many words as are known.
        """
        masks, words = self.elements.masks, self.words.flatten()
        place = self.sentence[rows.element] * self.words.size(1) + rows.start
        state = state[rows.element]
        masks = None if masks is None else masks[rows.element]
        for length, count in enumerate(rows.counts):
            state, masks = state[:count], None if masks is None else masks[:count]
            output, state = self.model.network.step(gates[place[:count] + length], state, masks)
            if length < known:
                continue
            following = (place[:count] + length + 1).clamp(max=words.size(0) - 1)
            end, word = self._symbols(output, words[following].unsqueeze(1))
            yield end, word.squeeze(1)

    def _symbols(self, output: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
        """Return the log probabilities of ``$``, ``(rows,)``, and of words, ``(rows, words)``."""
        scores = self.model.vocabulary(output).log_softmax(1, dtype=_wide(output))
        return scores[:, self.model.end], scores.gather(1, words)

    def _chunk_size(self, graphs: int) -> int:
        return max(1, self.limits.logits // (graphs * self.model.vocabulary.out_features))


class _Weighted(torch.autograd.Function):
    """``log p(y | x)``, whose gradient comes from a second run with the segments' weights."""

    @staticmethod
    def forward(ctx: Any, total: Tensor, work: _Work, weights: Tensor, *inputs: Tensor) -> Tensor:
        ctx.work = work
        ctx.save_for_backward(weights, *inputs[:3])
        ctx.layers = inputs[3:]
        return total.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        weights, *inputs = ctx.saved_tensors
        inputs = [tensor.detach().requires_grad_() for tensor in inputs]
        targets, totals = (*inputs, *ctx.layers), [None] * (len(inputs) + len(ctx.layers))
        with torch.enable_grad():
            for surrogate in ctx.work.weighted(weights, gradient, *inputs):
                found = torch.autograd.grad(surrogate, targets, allow_unused=True)
                totals = [_add(total, part) for total, part in zip(totals, found, strict=True)]
        return None, None, None, *totals


def _at_least(weights: Tensor) -> Tensor:
    """Sum the weights of segments of a length or any greater: ``(…, longest + 1)``."""
    return weights.flip(-1).cumsum(-1).flip(-1)


def _wide(tensor: Tensor) -> torch.dtype:
    return torch.promote_types(tensor.dtype, torch.float32)


def _add(total: Tensor | None, part: Tensor | None) -> Tensor | None:
    return part if total is None else total if part is None else total.add_(part)
