"""A batch of sentence pairs, and the network's run over all its segments, in chunks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from onmt_preorder.cpu.cross_entropy import linear_log_probabilities, weighted_sum
from onmt_preorder.cpu.softmax import is_compiled
from onmt_preorder.papers.npmt.layers import SegmentNetwork


@dataclass(frozen=True)
class SentencePairs:
    """A batch of encoded sources and their targets."""

    states: Tensor  # (batch, elements, size), the encoder's
    elements: Tensor  # (batch,) source elements in each sentence, from 1
    words: Tensor  # (batch, target) ids, without symbols for begin and end
    lengths: Tensor  # (batch,) words in each target, from 0

    @classmethod
    def of_batch(cls, batch: dict[str, Any], states: Tensor, padding: int) -> SentencePairs:
        """Return the pairs of a batch of OpenNMT-py, whose target is padded with the id ``padding``."""
        target = batch["tgt"][:, 1:, 0]
        indices = torch.arange(target.size(1), device=target.device)
        lengths = (target.ne(padding) * indices).amax(1)  # up to the end symbol: a word may be padding, too
        return cls(states, batch["srclen"], target[:, :-1], lengths)


@dataclass(frozen=True)
class WorkLimits:
    """Bounds of the work."""

    longest: int  # words of a segment
    logits: int = 2**22  # to hold at a time, or on a CPU numbers of the recurrent layers
    negligible: float = 0.0  # segments of a smaller probability, given the sentence, have no gradient
    unpromising: float = 0.0  # segments to which a coarser model gives a smaller one are not scored


_STATES = 8
"""Vectors of the recurrent layers for each word: gates and their parts, states, the output."""


@dataclass(frozen=True)
class SegmentLayers:
    """The layers that score segments."""

    network: SegmentNetwork
    vocabulary: nn.Linear  # from its output to logits, OpenNMT-py's generator
    embeddings: nn.Module  # of target words, (batch, length, 1) ids to (batch, length, size)
    begin: int  # id of the symbol that the network reads first
    end: int  # id of the symbol that ends a segment
    precision: torch.dtype = torch.float32  # of the products for logits, on a CPU

    def log_probabilities(self, output: Tensor, words: Tensor) -> Tensor:
        """Return those of words ``(t, k)`` after the network's output ``(t, size)``, without a graph."""
        if self._is_compiled(output):
            return linear_log_probabilities(output, self.vocabulary, words, self.precision)
        return self._of_torch(output, words).detach()

    def weighted_sum(self, output: Tensor, words: Tensor, weights: Tensor) -> Tensor:
        """Return the sum of the words' log probabilities, by their weights ``(t, k)``, with a graph."""
        if self._is_compiled(output):
            return weighted_sum(output, self.vocabulary, words, weights, self.precision)
        return (self._of_torch(output, words) * weights).sum()

    def numbers_a_segment(self, output: Tensor) -> int:
        """Return how many numbers each step of each segment holds in memory, about."""
        return _STATES * output.size(1) if self._is_compiled(output) else self.vocabulary.out_features

    def _is_compiled(self, output: Tensor) -> bool:
        return is_compiled(output) and type(self.vocabulary) is nn.Linear

    def _of_torch(self, output: Tensor, words: Tensor) -> Tensor:
        return self.vocabulary(output).log_softmax(1, dtype=wide(output)).gather(1, words)

    def first_gates(self, device: torch.device) -> Tensor:
        """Return what the input gates see of the first symbol."""
        first = torch.full((1, 1, 1), self.begin, device=device)
        return self.network.gates(self.embeddings(first)).view(-1)


class Starts(NamedTuple):
    """Where segments may start, those with the most words to read first."""

    element: Tensor  # (starts,): which element reads on
    begin: Tensor  # (starts,): from which boundary of the target
    counts: list[int]  # how many of them read at least 1, 2, … words


class Scorer:
    """Runs the network over the segments of a batch's real elements, packed one after another.

    ``real`` is ``(elements of a sentence, batch)``, False for padding; ``sentence`` that of each packed
    element; ``remaining (elements, target)`` the words of the longest segment that may start there;
    ``gates (batch · target, gates)`` those of all target words.
    """

    def __init__(self, model: SegmentLayers, batch: SentencePairs, limits: WorkLimits) -> None:
        self.model, self.limits, self.words, self.lengths = model, limits, batch.words, batch.lengths
        device = batch.words.device
        self.real = torch.arange(batch.states.size(1), device=device).unsqueeze(1) < batch.elements
        self.sentence = self.real.nonzero()[:, 1]
        begins = torch.arange(batch.words.size(1), device=device)
        self.remaining = (batch.lengths[self.sentence].unsqueeze(1) - begins).clamp(0, limits.longest)
        source = batch.states.transpose(0, 1)[self.real]
        self.elements = model.network.begin(source, model.first_gates(device))
        embedded = model.embeddings(batch.words.unsqueeze(-1))
        self.gates = model.network.gates(embedded).flatten(0, 1)

    def spread(self, packed: Tensor) -> Tensor:
        """Put the packed elements' scores where the elements stand; padding emits nothing, with score 0."""
        scores = packed.new_full((*self.real.shape, *packed.shape[1:]), float("-inf"))
        scores[..., 0] = 0
        scores[self.real] = packed
        return scores

    def first_chunks(self) -> Iterator[slice]:
        """Yield the elements in chunks."""
        size = self._chunk_size(1)
        return (slice(begin, begin + size) for begin in range(0, len(self.remaining), size))

    def first_symbols(self, chunk: slice, output: Tensor) -> tuple[Tensor, Tensor]:
        """Return outputs, and after each, ``(elements, 1 + target)``, the end and each word as the first."""
        words = self.words[self.sentence[chunk]]
        return output[chunk], self._after_end(words)

    def starts(self, remaining: Tensor, graphs: int) -> Iterator[Starts]:
        """Yield the starts from which there are words to read, in chunks.

        ``remaining`` is ``(elements, target)``, how many words to read from each start; ``graphs``, how many
        steps of a chunk are held in memory at a time.
        """
        element, begin = remaining.nonzero(as_tuple=True)
        words, order = remaining[element, begin].sort(descending=True, stable=True)
        at_least = words.bincount(minlength=self.limits.longest + 1).flip(0).cumsum(0).flip(0)[1:].tolist()
        element, begin = element[order], begin[order]
        size = self._chunk_size(graphs)
        for first in range(0, element.size(0), size):
            chunk = slice(first, first + size)
            counts = [min(reading - first, size) for reading in at_least if reading > first]
            yield Starts(element[chunk], begin[chunk], counts)

    def follow(
        self, starts: Starts, state: Tensor, gates: Tensor, known: int = 0
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Read word by word; yield after each the network's output, and the segment's end and the next word.

        They are ``(reading, size)`` and ``(reading, 2)``, of the segments that had a word to read. After the
        sentence's last word the next word means nothing. After the first ``known`` words nothing is yielded.
        ``state`` and ``gates`` are those of the elements and of all target words, or copies with a graph.
        """
        masks, words = self.elements.masks, self.words.flatten()
        index = self.sentence[starts.element] * self.words.size(1) + starts.begin
        state = state[starts.element]
        masks = None if masks is None else masks[starts.element]
        for length, count in enumerate(starts.counts):
            state, masks = state[:count], None if masks is None else masks[:count]
            output, state = self.model.network.step(gates[index[:count] + length], state, masks)
            if length < known:
                continue
            following = (index[:count] + length + 1).clamp(max=words.size(0) - 1)
            yield output, self._after_end(words[following].unsqueeze(1))

    def _after_end(self, words: Tensor) -> Tensor:
        return functional.pad(words, (1, 0), value=self.model.end)

    def _chunk_size(self, graphs: int) -> int:
        return max(1, self.limits.logits // (graphs * self.model.numbers_a_segment(self.elements.output)))


def wide(tensor: Tensor) -> torch.dtype:
    """Return the type to sum probabilities in: float32 or wider."""
    return torch.promote_types(tensor.dtype, torch.float32)
