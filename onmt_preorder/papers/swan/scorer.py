"""Runs the network over the segments of a batch, in chunks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from onmt_preorder.papers.swan.network import SegmentNetwork


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


class Rows(NamedTuple):
    """Starts to follow, those with the most words to read first.

    Attributes:
        element, start: ``(rows,)``: which element reads on from which place in the target.
        counts: how many rows read at least 1, 2, … words.
    """

    element: Tensor
    start: Tensor
    counts: list[int]


class Scorer:
    """Runs the network over the segments of a batch's real elements, packed one after another.

    Attributes:
        real: ``(elements of a sentence, batch)``, False for padding; True entries are the packed elements.
        sentence: ``(elements,)``: the sentence of each.
        remaining: ``(elements, target)``: words of the longest segment that may start there.
        elements: the network, started from them.
        gates: ``(batch · target, gates)`` of all target words.
    """

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

    def first_chunks(self) -> Iterator[slice]:
        """Yield the elements in chunks."""
        count = self.remaining.size(0)
        size = self._chunk_size(1)
        return (slice(begin, begin + size) for begin in range(0, count, size))

    def first_symbols(self, chunk: slice, output: Tensor) -> tuple[Tensor, Tensor]:
        """Score the empty segment, ``(elements,)``, and each word as a segment's first."""
        return self._symbols(output[chunk], self.words[self.sentence[chunk]])

    def rows(self, remaining: Tensor, graphs: int) -> Iterator[Rows]:
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
            yield Rows(element[chunk], start[chunk], counts)

    def follow(
        self, rows: Rows, state: Tensor, gates: Tensor, known: int = 0
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
        scores = self.model.vocabulary(output).log_softmax(1, dtype=wide(output))
        return scores[:, self.model.end], scores.gather(1, words)

    def _chunk_size(self, graphs: int) -> int:
        return max(1, self.limits.logits // (graphs * self.model.vocabulary.out_features))


def wide(tensor: Tensor) -> torch.dtype:
    """Return the type to sum probabilities in: float32 or wider."""
    return torch.promote_types(tensor.dtype, torch.float32)
